/** Output for programs: one JSON document, or one event a line. */
import type { Failure } from "../core/error.ts";
import type { StampedEvent } from "../core/event.ts";
import { spellInJson } from "../core/invisible.ts";
import type { Outcome } from "../core/outcome.ts";
import type { Notice } from "../core/question.ts";
import { outcomeSchema } from "../core/schemas.ts";
import { maskAll } from "../core/secrets/key-shapes.ts";

const stringify = (value: unknown): string => spellInJson(JSON.stringify(value));

/** The outcome in the order of its schema, since the order of its keys is part of the contract, and without more. */
function documentOf(outcome: Outcome): Outcome {
  const read = outcomeSchema.safeParse(outcome);
  return read.success ? (read.data as Outcome) : outcome;
}

/** Notices for the document, in order. */
type Notices = readonly Pick<Notice, "level" | "code" | "text">[];

const noticesOf = (notices: Notices) => notices.map(({ level, code, text }) => ({ level, code, text }));

/** `--json` of a run: one document and a line feed. */
export function renderDocument(outcome: Outcome, notices: Notices): string {
  const { error, ...rest } = documentOf(outcome);
  return `${stringify({ ...rest, notices: noticesOf(notices), error })}\n`;
}

export interface CommandAnswer {
  readonly command: string;
  /** Exit code. */
  readonly code: number;
  /** The command's result, as JSON; null if it failed. */
  readonly data: unknown;
  readonly notices: Notices;
  readonly error: Failure | null;
}

/** `--json` of every other command: one document and a line feed. */
export function renderCommandDocument({ command, code, data, notices, error }: CommandAnswer): string {
  const found = { data: data ?? null, notices: noticesOf(notices), error };
  return `${stringify(maskAll({ v: 1, ok: code === 0, command, code, ...found }))}\n`;
}

function renderEvent({ type, run, seq, at, ...rest }: StampedEvent): string {
  const fields = "outcome" in rest ? { ...rest, outcome: documentOf(rest.outcome) } : rest;
  return `${stringify({ type, run, seq, at, ...fields })}\n`;
}

/** Events with file contents, or only for receipts; `--jsonl` never shows them. */
const isInner = (event: StampedEvent): boolean =>
  event.type === "look.shown" ||
  event.type === "message.added" ||
  event.type === "conversation.replaced" ||
  event.type === "context.sent" ||
  event.type === "model.progress" ||
  event.type === "command.output" ||
  (event.type === "model.delta" && event.channel === "text");

/** Writes each event as one line. Lines are numbered without gaps. */
export function createJsonl(write: (line: string) => void): (event: StampedEvent) => void {
  let lines = 0;
  return (event) => {
    if (isInner(event)) return;
    lines += 1;
    write(renderEvent({ ...event, seq: lines }));
  };
}
