/** Output for programs: one JSON document, or one event a line. */
import type { Failure } from "../core/error.ts";
import type { StampedEvent } from "../core/event.ts";
import { spellInJson } from "../core/invisible.ts";
import type { Outcome } from "../core/outcome.ts";
import type { Notice } from "../core/question.ts";
import { outcomeSchema } from "../core/schemas.ts";
import { maskSecrets } from "../core/secrets/key-shapes.ts";

/** Fields that are long and random, such as digests and ids, but no secrets. */
const unmasked = new Set(["before", "after", "run", "id", "type", "at"]);

function stringify(value: unknown): string {
  const text = JSON.stringify(value, (key, inner: unknown) =>
    typeof inner === "string" && !unmasked.has(key) ? maskSecrets(inner) : inner,
  );
  return spellInJson(text);
}

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
  return `${stringify({ v: 1, ok: code === 0, command, code, ...found })}\n`;
}

/** Index after the last blank; 0: there is none. */
function lastWordOf(text: string): number {
  let at = text.length;
  while (at > 0 && !/\s/.test(text[at - 1] ?? "")) at -= 1;
  return at;
}

type Delta = Extract<StampedEvent, { type: "model.delta" }>;

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

/**
 * Writes each event as one line. Lines are numbered without gaps. A piece of a reply waits for the next event, and only
 * whole words are written, so that a secret which the stream has cut in two is masked too.
 */
export function createJsonl(write: (line: string) => void): (event: StampedEvent) => void {
  let lines = 0;
  const show = (event: StampedEvent) => {
    lines += 1;
    write(renderEvent({ ...event, seq: lines }));
  };
  let held: Delta | null = null;
  /** The last word of the reply so far, which may continue; the text before it is in `held`. */
  let word = "";

  function hold(delta: Delta): void {
    const at = lastWordOf(delta.text);
    held = { ...delta, text: delta.text.slice(0, at) };
    word = delta.text.slice(at);
  }

  function release(): void {
    if (held !== null && held.text + word !== "") show({ ...held, text: held.text + word });
    held = null;
  }

  function join(earlier: Delta, next: Delta): void {
    const at = lastWordOf(next.text);
    const text = at === 0 ? earlier.text : earlier.text + word + next.text.slice(0, at);
    if (text !== "") show({ ...earlier, text });
    held = { ...next, text: "" };
    word = at === 0 ? word + next.text : next.text.slice(at);
  }

  return (event) => {
    if (isInner(event)) return;
    if (event.type !== "model.delta") {
      release();
      show(event);
    } else if (held !== null && held.n === event.n && held.channel === event.channel) join(held, event);
    else {
      release();
      hold(event);
    }
  };
}
