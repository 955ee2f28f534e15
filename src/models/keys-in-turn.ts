/** Uses several keys of one provider: each call takes the next key, and a key at its limit rests. */
import { PaiError } from "../core/error.ts";
import type { KeyState } from "../core/key-turns.ts";
import type { Notice } from "../core/question.ts";
import { type Stream, throwIfInterrupted, tryUntilBegun } from "./stream.ts";
import { type AskedServer, renderWait, type Setback } from "./wire/http-errors.ts";
import { often } from "./wire/judge.ts";

export type Key = NonNullable<AskedServer["key"]>;

const restMs = 600_000;

/** A key at its quota, out of credit or refused gives way to the next. Throws `quota` when all rest. */
export function takeKeysInTurn(
  keys: readonly { readonly id: string; readonly stream: Stream }[],
  provider: string,
  { keyState, notify, now }: { keyState: KeyState; notify: (notice: Notice) => void; now: () => number },
): Stream {
  const refused = new Map<string, PaiError>();
  const restsUntil = (id: string): number => keyState.load().resting[`${provider}/${id}`] ?? 0;

  const inTurn = () => {
    const start = keys.findIndex(({ id }) => id === keyState.load().cursor[provider]) + 1;
    return [...keys.slice(start), ...keys.slice(0, start)];
  };

  const putAside = (id: string, thrown: unknown): void => {
    if (!(thrown instanceof PaiError)) throw thrown;
    const { code, message, retryAfter } = thrown;
    if (code === "key_rejected") {
      refused.set(id, thrown);
    } else if (code === "quota" || code === "credit_exhausted") {
      const rest = retryAfter === null ? restMs : retryAfter * 1000;
      keyState.save({ cursor: {}, resting: { [`${provider}/${id}`]: now() + rest } });
    } else throw thrown;
    notify({ level: code === "key_rejected" ? "warning" : "info", code, text: `${message}; trying the next key` });
  };

  const nothingLeft = (): PaiError => {
    const resting = keys.filter(({ id }) => !refused.has(id)).map(({ id }) => restsUntil(id));
    const [first] = refused.values();
    if (resting.length === 0 && first !== undefined) return first;
    const seconds = Math.max(0, Math.ceil((Math.min(...resting) - now()) / 1000));
    const cause: Setback = { retry: often };
    return new PaiError("quota", `all keys of ${provider} are at their limit`, {
      hint: `the first is ready again in ${renderWait(seconds)}; keys of one project share its quota`,
      retryAfter: seconds,
      cause,
    });
  };

  return async function* (request, signal) {
    await keyState.refresh?.();
    const left = inTurn();
    let tried = "";
    yield* tryUntilBegun((failed) => {
      if (failed !== null) putAside(tried, failed);
      throwIfInterrupted(signal);
      let key = left.shift();
      while (key !== undefined && (refused.has(key.id) || restsUntil(key.id) > now())) key = left.shift();
      if (key === undefined) throw nothingLeft();
      tried = key.id;
      keyState.save({ cursor: { [provider]: key.id }, resting: {} });
      return key.stream(request, signal);
    });
  };
}
