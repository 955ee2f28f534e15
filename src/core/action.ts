/** What an action is: one declaration that the script parser, the native tool list and the terminal all read. */
import * as z from "zod/mini";
import type { Change } from "./change.ts";
import { isFields, type Json } from "./model.ts";
import { type FieldNames, nameFields } from "./plan/field-names.ts";
import { readAs } from "./plan/reading.ts";
import type { Stage } from "./ports.ts";
import { type ActionName, actionRow } from "./vocabulary.ts";

export type Proposal =
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "change"; readonly changes: readonly Change[]; readonly text: string }
  /** `timeoutMs`: as long as the caller wants to wait; the run's own limit holds all the same. */
  | { readonly kind: "command"; readonly command: string; readonly timeoutMs?: number };

/** The model's own mistake, worded for the model: a result, not an error. */
export interface Complaint {
  readonly kind: "complaint";
  readonly code: "edit_failed" | "file_unusable" | "nothing_done";
  readonly text: string;
}

/** What an action does; everything else about it is its row in the vocabulary. */
export interface Action<Input = never> {
  /** Made when it is first needed: few of the actions are used in a run. */
  readonly input: () => z.ZodMiniType<Input>;
  /** How the tool-loop writes the input, where that differs; `toInput` turns it into the action's own. */
  readonly tool?: { readonly input: () => z.ZodMiniType; readonly toInput: (written: Json) => Json };
  /** Must not change anything. Throws PaiError for what the policy denies. */
  propose(input: Input, stage: Stage, signal: AbortSignal): Promise<Proposal | Complaint>;
}

/** An action with its row, whose input type is known only to itself. */
export interface AnyAction {
  readonly name: ActionName;
  /** Its name in the tool-loop. */
  readonly tool: string;
  readonly kind: "look" | "change" | "command";
  readonly offered: boolean;
  readonly about: string;
  /** JSON Schema of the input as the tool-loop writes it. */
  toolSchema(): Json;
  /** The action's input from what the tool-loop wrote. */
  fromTool(written: Json): Json;
  propose(input: Json, stage: Stage, signal: AbortSignal): Promise<Proposal | Complaint>;
}

/** Names that models bring along from the tools of others. */
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

/** Arguments by their one plain meaning: null for nothing, numbers and truths as texts. */
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

/** Wraps a declaration so that its input is parsed where it enters; bad input is a complaint to the model. */
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
      return { kind: "complaint", code: "nothing_done", text: `unusable arguments (${why})` };
    },
  };
}
