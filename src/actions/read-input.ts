/** Defines an action, and reads what a model wrote as its input. */
import * as z from "zod/mini";
import { type FieldNames, nameFields, readAs } from "../core/json.ts";
import { isFields, type Json } from "../core/model.ts";
import type { AnyAction, Complaint, Proposal, Stage } from "../core/ports.ts";
import { type ActionName, actionRow } from "../core/vocabulary.ts";

/** What an action does; everything else about it is in its row of the vocabulary. */
export interface Action<Input = never> {
  /** Schema of the input, made when it is first needed: a run uses few of the actions. */
  readonly input: () => z.ZodMiniType<Input>;
  /** How the tool-loop writes the input, if differently; `toInput` turns it into the action's own. */
  readonly tool?: { readonly input: () => z.ZodMiniType; readonly toInput: (written: Json) => Json };
  /** Must not change anything. Throws PaiError when the policy denies a path. */
  propose(input: Input, stage: Stage, signal: AbortSignal): Promise<Proposal | Complaint>;
}

export const answer = (text: string): Proposal => ({ kind: "answer", text });
export const complain = (code: Complaint["code"], text: string): Complaint => ({ kind: "complaint", code, text });
export const unusableFile = (text: string): Complaint => complain("file_unusable", text);

/** Names of arguments that models know from other agents' tools. */
const toolNames: FieldNames = {
  path: ["file_path", "filepath", "file", "filename"],
  pattern: ["query", "regex"],
  content: ["file_text", "text"],
  old_str: ["old_string"],
  new_str: ["new_string"],
  command: ["cmd"],
  from: ["source"],
  to: ["destination"],
};

const numbers: ReadonlySet<string> = new Set(["start_line", "end_line", "timeout"]);
const truths: ReadonlySet<string> = new Set(["all", "ignore_case", "literal"]);

/** Drops arguments that are null, and reads numbers and booleans that were written as texts. */
function plainValues(written: Json): Json {
  if (!isFields(written)) return written;
  const plain = (name: string, value: Json): Json => {
    if (numbers.has(name) && typeof value === "string" && /^\d+$/.test(value)) return Number(value);
    const isTruth = truths.has(name) && typeof value === "string" && /^(?:true|false)$/i.test(value);
    return isTruth ? /^t/i.test(value) : value;
  };
  const given = Object.entries(written).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, plain(name, value)]));
}

/** The action with its row. Input that does not fit its schema becomes a complaint to the model. */
export function defineAction<Input>(name: ActionName, action: Action<Input>): AnyAction {
  const { tool, kind, offered, about } = actionRow(name);
  return {
    name,
    tool,
    kind,
    offered,
    about,
    toolSchema: () => z.toJSONSchema((action.tool?.input ?? action.input)(), { io: "input", reused: "inline" }) as Json,
    fromTool(written) {
      const named = plainValues(nameFields(toolNames, written));
      const isWhole = action.tool !== undefined && readAs(action.tool.input(), named, "input").ok;
      return isWhole ? (action.tool?.toInput(named) ?? named) : named;
    },
    async propose(input, stage, signal) {
      const reading = readAs(action.input(), input, "input");
      if (reading.ok) return action.propose(reading.value, stage, signal);
      const asTool = action.tool === undefined ? reading : readAs(action.tool.input(), input, "input");
      const { why } = asTool.ok ? reading : asTool;
      return complain("nothing_done", `unusable arguments (${why})`);
    },
  };
}
