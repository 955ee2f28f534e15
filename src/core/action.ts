/** What an action is: one declaration that the script parser, the native tool list and the terminal all read. */
import * as z from "zod/mini";
import type { Change } from "./change.ts";
import { type FieldNames, nameFields } from "./field-names.ts";
import type { Json } from "./model.ts";
import type { Stage } from "./ports.ts";
import { readAs } from "./reading.ts";

export type ActionKind = "look" | "change" | "command" | "plan" | "finish";

export type Proposal =
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "change"; readonly changes: readonly Change[]; readonly text: string }
  | { readonly kind: "command"; readonly command: string };

/** The model's own mistake, worded for the model: a result, not an error. */
export interface Complaint {
  readonly kind: "complaint";
  readonly code: "edit_failed" | "file_unusable" | "nothing_done";
  readonly text: string;
}

export interface Action<Input = never> {
  /** Name in plans and scripts: READ, WRITE … */
  readonly name: string;
  /** Name the tool-loop shows the model: read, write … */
  readonly alias: string;
  readonly kind: ActionKind;
  readonly description: string;
  /** Made when it is first needed: few of the actions are used in a run. */
  readonly input: () => z.ZodMiniType<Input>;
  /** How the tool-loop writes the input, where that differs; `toInput` turns it into the action's own. */
  readonly tool?: { readonly input: () => z.ZodMiniType; readonly toInput: (written: Json) => Json };
  /** Must not change anything. Throws PaiError for what the policy denies. */
  propose(input: Input, stage: Stage, signal: AbortSignal): Promise<Proposal | Complaint>;
}

/** An action whose input type is known only to itself. */
export interface AnyAction {
  readonly name: string;
  readonly alias: string;
  readonly kind: ActionKind;
  readonly description: string;
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

/** Wraps a declaration so that its input is parsed where it enters; bad input is a complaint to the model. */
export function defineAction<Input>(action: Action<Input>): AnyAction {
  return {
    name: action.name,
    alias: action.alias,
    kind: action.kind,
    description: action.description,
    toolSchema: () => z.toJSONSchema((action.tool?.input ?? action.input)(), { io: "input", reused: "inline" }) as Json,
    fromTool(written) {
      const named = nameFields(toolNames, written);
      return action.tool?.toInput(named) ?? named;
    },
    async propose(input, stage, signal) {
      const reading = readAs(action.input(), input, "input");
      if (reading.ok) return action.propose(reading.value, stage, signal);
      return { kind: "complaint", code: "nothing_done", text: `unusable arguments (${reading.why})` };
    },
  };
}
