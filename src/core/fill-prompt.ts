/** Fills the lists of actions into a prompt, so that prompts name what the vocabulary holds. */
import { type Row, vocabulary } from "./vocabulary.ts";

/** Fills the lists of actions in for `{looks}`, `{changes}`, `{commands}` and `{one-line actions}`. */
export function listActions(prompt: string): string {
  const planned = (kind: Row["kind"]) =>
    vocabulary.flatMap((row) => (row.kind === kind && row.plan ? [row.plan] : [])).join(", ");
  const oneLine = (kind: Row["kind"]) => vocabulary.flatMap((row) => (row.kind === kind ? (row.script ?? []) : []));
  return prompt
    .replace("{looks}", planned("look"))
    .replace("{changes}", planned("change"))
    .replace("{commands}", planned("command"))
    .replace("{one-line actions}", [...oneLine("change"), ...oneLine("look"), ...oneLine("command")].join("\n"));
}
