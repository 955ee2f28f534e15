/** What every event of a run passes through: number, date, and the mask of the keys that pai holds. */
import type { RunEvent, StampedEvent } from "../core/event.ts";
import type { Emit } from "../core/ports.ts";
import { type KeyMask, maskHeld } from "../core/secrets/held-keys.ts";

interface StamperOptions {
  /** Of the run. */
  readonly id: string;
  readonly now: () => Date;
  readonly sink: (event: StampedEvent) => void;
  readonly mask?: KeyMask;
}

type Delta = Extract<RunEvent, { type: "model.delta" }>;

/**
 * Stamps in UTC, since the local zone costs more than all else before the first request. What may be the beginning of a
 * key at the end of a piece waits for the next one: models write keys in pieces, too.
 */
export function createStamper({ id, now, sink, mask = maskHeld([]) }: StamperOptions): Emit {
  let seq = 0;
  let waiting: Delta | null = null;

  function send(event: RunEvent): void {
    seq += 1;
    sink({ ...mask(event), run: id, seq, at: now().toISOString() });
  }

  function release(): void {
    if (waiting !== null) send(waiting);
    waiting = null;
  }

  function sendPiece(piece: Delta): void {
    if (waiting?.n !== piece.n || waiting.channel !== piece.channel) release();
    const text = (waiting?.text ?? "") + piece.text;
    const end = text.length - mask.begun(text);
    waiting = end < text.length ? { ...piece, text: text.slice(end) } : null;
    if (end > 0) send({ ...piece, text: text.slice(0, end) });
  }

  return (event) => {
    if (event.type === "model.delta") return sendPiece(event);
    release();
    send(event);
  };
}
