/** Uses several keys of one provider: each call takes the next key, and a key at its limit rests. */
import { PaiError } from "../core/error.ts";
import type { KeyState } from "../core/key-turns.ts";
import type { Notice } from "../core/question.ts";
import { type Stream, throwIfInterrupted, tryUntilBegun } from "./stream.ts";
import { renderWait, type Setback } from "./wire/http-errors.ts";
import { often } from "./wire/judge.ts";

export interface Key {
  readonly id: string;
  /** The variable that holds it, where `id` is "env"; other keys are called by their id. */
  readonly origin?: string;
  readonly key: string;
}

export interface KeyedStream {
  readonly id: string;
  readonly stream: Stream;
}

export interface KeysInTurnOptions {
  readonly provider: string;
  readonly state: KeyState;
  readonly notify: (notice: Notice) => void;
  readonly now: () => number;
}

const restMs = 600_000;

/** A key at its quota, out of credit or refused gives way to the next. Throws `quota` when all rest. */
export function takeKeysInTurn(keys: readonly KeyedStream[], options: KeysInTurnOptions): Stream {
  const refused = new Map<string, PaiError>();

  return async function* (request, signal) {
    await options.state.refresh?.();
    const left = [...inTurn(keys, options)];
    let tried = "";
    yield* tryUntilBegun((failed) => {
      if (failed !== null) putAside(tried, failed, refused, options);
      throwIfInterrupted(signal);
      const key = nextReady(left, refused, options);
      if (key === null) throw nothingLeft(keys, refused, options);
      tried = key.id;
      options.state.save({ cursor: { [options.provider]: key.id }, resting: {} });
      return key.stream(request, signal);
    });
  };
}

function nextReady(
  left: KeyedStream[],
  refused: Map<string, PaiError>,
  options: KeysInTurnOptions,
): KeyedStream | null {
  for (let key = left.shift(); key !== undefined; key = left.shift()) {
    if (!refused.has(key.id) && restsUntil(key.id, options) <= options.now()) return key;
  }
  return null;
}

function putAside(id: string, thrown: unknown, refused: Map<string, PaiError>, options: KeysInTurnOptions): void {
  if (!(thrown instanceof PaiError)) throw thrown;
  if (thrown.code === "key_rejected") {
    refused.set(id, thrown);
  } else if (thrown.code === "quota" || thrown.code === "credit_exhausted") {
    const rest = thrown.retryAfter === null ? restMs : thrown.retryAfter * 1000;
    options.state.save({ cursor: {}, resting: { [`${options.provider}/${id}`]: options.now() + rest } });
  } else throw thrown;
  options.notify({
    level: thrown.code === "key_rejected" ? "warning" : "info",
    code: thrown.code,
    text: `${thrown.message}; trying the next key`,
  });
}

function inTurn(keys: readonly KeyedStream[], { state, provider }: KeysInTurnOptions): readonly KeyedStream[] {
  const start = keys.findIndex(({ id }) => id === state.load().cursor[provider]) + 1;
  return [...keys.slice(start), ...keys.slice(0, start)];
}

function restsUntil(id: string, { state, provider }: KeysInTurnOptions): number {
  return state.load().resting[`${provider}/${id}`] ?? 0;
}

function nothingLeft(
  keys: readonly KeyedStream[],
  refused: Map<string, PaiError>,
  options: KeysInTurnOptions,
): PaiError {
  const resting = keys.filter(({ id }) => !refused.has(id)).map(({ id }) => restsUntil(id, options));
  const [first] = refused.values();
  if (resting.length === 0 && first !== undefined) return first;
  const seconds = Math.max(0, Math.ceil((Math.min(...resting) - options.now()) / 1000));
  const cause: Setback = { retry: often, status: 429, thrown: null };
  return new PaiError("quota", `all keys of ${options.provider} are at their limit`, {
    hint: `the first is ready again in ${renderWait(seconds)}; keys of one project share its quota`,
    retryAfter: seconds,
    cause,
  });
}
