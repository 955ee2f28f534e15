/** Output for programs: one JSON document, or one event a line. */
import type { StampedEvent } from "../core/event.ts";
import type { Outcome } from "../core/outcome.ts";
import { outcomeSchema } from "../core/schemas.ts";
import { type NoticeTexts, noticesOf, spellJson } from "./command-document.ts";

/** The outcome in the order of its schema, since the order of its keys is part of the contract, and without more. */
function documentOf(outcome: Outcome): Outcome {
  const read = outcomeSchema.safeParse(outcome);
  return read.success ? (read.data as Outcome) : outcome;
}

export function renderDocument(outcome: Outcome, notices: NoticeTexts): string {
  const { error, ...rest } = documentOf(outcome);
  return `${spellJson({ ...rest, notices: noticesOf(notices), error })}\n`;
}

function renderEvent({ type, run, seq, at, ...rest }: StampedEvent): string {
  const fields = "outcome" in rest ? { ...rest, outcome: documentOf(rest.outcome) } : rest;
  return `${spellJson({ type, run, seq, at, ...fields })}\n`;
}

/** Events with file contents, or only for receipts; `--jsonl` never shows them. */
const inner: ReadonlySet<StampedEvent["type"]> = new Set([
  ...(["look.shown", "message.added", "conversation.replaced", "files.known"] as const),
  ...(["context.sent", "model.progress", "command.output"] as const),
]);

const isInner = (event: StampedEvent): boolean =>
  inner.has(event.type) || (event.type === "model.delta" && event.channel === "text");

export function createJsonl(write: (line: string) => void): (event: StampedEvent) => void {
  let lines = 0;
  return (event) => {
    if (isInner(event)) return;
    lines += 1;
    write(renderEvent({ ...event, seq: lines }));
  };
}
