/** Reads the AMEND lines of a script: requests for rights beyond the plan, each with its reason. Pure. */
import { ownName, rowOf } from "../vocabulary.ts";
import { splitPath } from "./header.ts";
import type { Note, ScriptAction } from "./script.ts";

export interface AmendRequest {
  readonly action: string;
  /** As the model wrote it; for a RUN, the command. */
  readonly path: string;
  /** Only for MV, COPY, LINK and MODE; null for other actions. */
  readonly destination: string | null;
  readonly why: string;
  /** The reply asks by doing it. */
  readonly implicit?: true;
}

const form = "AMEND::ACTION::path::why (MV and COPY: AMEND::MV::from::to::why)";

/** Whether AMEND can ask for the action: it changes something, or runs a command. */
const isAmendable = (action: string): boolean => {
  const row = rowOf(action);
  return row !== null && (row.kind === "change" || row.form === "command");
};

export const spellPath = (path: string): string => (path.includes("::") ? JSON.stringify(path) : path);

/** Splits `command::why` by the longest of `commands` that fits; null: none fits. */
function readCommand(text: string, commands: readonly string[]): Pick<AmendRequest, "path" | "why"> | null {
  const found = commands.filter((command) => text === command || text.startsWith(`${command}::`));
  const path = found.sort((a, b) => b.length - a.length)[0];
  return path === undefined ? null : { path, why: text.slice(path.length + 2).trim() };
}

function readOne(rest: string, later: readonly ScriptAction[]): AmendRequest | string {
  const split = rest.indexOf("::");
  const action = ownName((split < 0 ? rest : rest.slice(0, split)).trim().toUpperCase());
  if (!isAmendable(action)) return `${action} needs no AMEND, or is not an action. Send: ${form}`;
  const text = split < 0 ? "" : rest.slice(split + 2).trim();
  if (rowOf(action)?.form === "command") {
    const commands = later.flatMap(({ cmd, arg }) => (cmd === action && arg !== undefined ? [arg.trim()] : []));
    const command = readCommand(text, commands);
    if (command === null) return `AMEND::${action} names no command that a later ${action} of the reply runs: ${text}`;
    return { action, ...command, destination: null };
  }
  const { path, after } = splitPath(text);
  if (path === "") return `AMEND needs a path. Send: ${form}`;
  const { form: takes = "path" } = rowOf(action) ?? {};
  if (takes !== "pair" && takes !== "setting") return { action, path, destination: null, why: after ?? "" };
  // A reason alone, as other actions have it: the action that needs the right says where it leads.
  const leads = later.find((each) => each.cmd === action && each.path === path)?.to;
  const two = readTwo(after ?? "", leads);
  return two === null ? `AMEND::${action} needs a second part. Send: ${form}` : { action, path, ...two };
}

/** `second::why`, or `why` alone where a later action says the second part (`leads`); null: neither. */
function readTwo(text: string, leads: string | undefined): Pick<AmendRequest, "destination" | "why"> | null {
  const { path, after } = splitPath(text);
  if (after === null && leads !== undefined && path !== leads) return { destination: leads, why: text };
  return path === "" ? null : { destination: path, why: after ?? "" };
}

/** The requests of a script's actions, in order; an unreadable one becomes a note for the model. */
export function readAmendments(actions: readonly ScriptAction[]): {
  readonly requests: readonly AmendRequest[];
  readonly faults: readonly Note[];
} {
  const requests: AmendRequest[] = [];
  const faults: Note[] = [];
  for (const [at, { cmd, arg = "", line }] of actions.entries()) {
    if (rowOf(cmd)?.kind !== "amend") continue;
    const read = readOne(arg, actions.slice(at + 1));
    if (typeof read === "string") faults.push({ line, text: read });
    else requests.push(read);
  }
  return { requests, faults };
}
