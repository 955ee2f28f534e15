/** A stream of a model: which failures are retried, only before its first event, and when; an aborted signal as an error. */
import { type ErrorCode, PaiError } from "../core/error.ts";
import type { Model, ModelEvent } from "../core/model.ts";
import type { Notice } from "../core/question.ts";
import { renderWait, retryOf } from "./wire/http-errors.ts";

export type Stream = Model["stream"];

/** The events of the first stream that begins. `next` gets the error of the one before, and throws when none is left. */
export async function* tryUntilBegun(
  next: (failed: unknown) => AsyncIterable<ModelEvent> | Promise<AsyncIterable<ModelEvent>>,
): AsyncGenerator<ModelEvent> {
  let failed: unknown = null;
  for (;;) {
    const events = (await next(failed))[Symbol.asyncIterator]();
    let first: IteratorResult<ModelEvent>;
    try {
      first = await events.next();
    } catch (thrown) {
      failed = thrown;
      continue;
    }
    try {
      for (let each = first; each.done !== true; each = await events.next()) yield each.value;
    } finally {
      await events.return?.();
    }
    return;
  }
}

/** The signal's own PaiError (a timeout, a SIGTERM), else `interrupted`. */
export const interruption = (signal: AbortSignal): PaiError =>
  signal.reason instanceof PaiError ? signal.reason : new PaiError("interrupted", "interrupted");

export function throwIfInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw interruption(signal);
}

export interface RetryOptions {
  /** Must end early when the signal is aborted, by returning or by throwing. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** At least 0, below 1. */
  readonly random: () => number;
  readonly notify: (notice: Notice) => void;
  /** The run's own time limit in milliseconds, which no wait outlasts; Infinity: none. */
  readonly maxWaitMs: number;
}

const maxGrownMs = 60_000;
/** Limits of a minute are the usual ones: a server may name one wait of two of them, and all of a call take three. */
const maxOneWaitMs = 120_000;
const maxAllWaitsMs = 180_000;
const retries = 5;

/** A stream that is retried if it fails before its first event and a retry may help. */
export function withRetry(stream: Stream, options: RetryOptions): Stream {
  return async function* (request, signal) {
    const patience = createPatience(options);
    yield* tryUntilBegun(async (failed) => {
      const wait = failed === null ? 0 : patience(failed);
      if (wait > 0) await options.sleep(wait, signal).catch(() => throwIfInterrupted(signal));
      throwIfInterrupted(signal);
      return stream(request, signal);
    });
  };
}

/** Counts the failures of one call: returns the wait before the next attempt in milliseconds, or throws the failure. */
function createPatience({ random, notify, maxWaitMs }: RetryOptions): (thrown: unknown) => number {
  const failed = new Map<ErrorCode, number>();
  let attempts = 0;
  let rounds = 0;
  let waited = 0;

  return (thrown) => {
    if (!(thrown instanceof PaiError)) throw thrown;
    const retry = retryOf(thrown);
    const before = failed.get(thrown.code) ?? 0;
    if (before >= retry.times || attempts >= retries) throw thrown;
    const own = retry.waitMs ?? Math.min(maxGrownMs, 2000 * 2 ** rounds + random() * 1000);
    const wait = (thrown.retryAfter ?? own / 1000) * 1000;
    if (wait > maxOneWaitMs || waited + wait > Math.min(maxAllWaitsMs, maxWaitMs)) throw thrown;
    failed.set(thrown.code, before + 1);
    attempts += 1;
    if (retry.waitMs === null) rounds += 1;
    waited += wait;
    const of = Math.min(retries, attempts + retry.times - before - 1);
    const told = { why: thrown.message, seconds: wait / 1000, attempt: attempts, of };
    const when = wait === 0 ? "at once" : `in ${renderWait(told.seconds)}`;
    const text = `${told.why}; asking again ${when} (${attempts} of ${of})`;
    notify({ level: "info", code: "waiting", text, wait: told });
    return wait;
  };
}
