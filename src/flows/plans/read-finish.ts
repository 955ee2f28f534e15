/** Reads a planning reply that ends its looks with FINISH, like a script, instead of JSON. */
import type { Json } from "../../core/model.ts";
import { completeFinish } from "../../core/script/finish.ts";
import { parseScript } from "../../core/script/parser.ts";
import type { Run } from "../run.ts";

/** The answer that the reply means; null: it is not FINISH alone. Records its next steps. */
export function readFinish({ record }: Run, text: string): Json | null {
  const { actions } = completeFinish(parseScript(text, { stop: "end", read: () => null, tag: "EOT" }), text, "EOT");
  const [finish] = actions;
  if (actions.length !== 1 || finish?.cmd !== "FINISH" || !finish.arg) return null;
  record.next = finish.next ?? [];
  return { intent: "conversation", reply: finish.arg };
}
