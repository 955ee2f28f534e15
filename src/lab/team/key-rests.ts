/** Shares rests of keys at their rate limit with the team, so that other machines do not use these keys meanwhile. */
import { digest } from "../../core/digest.ts";
import type { KeyState, KeyTurns } from "../../core/key-turns.ts";
import { openTeamStore, type StoreAddress, type TeamStore } from "./team-store.ts";

/** Milliseconds that a call waits for the team's answer, and for which that answer is used. */
const usualWaitMs = 500;
const freshMs = 5000;
/** Milliseconds for reporting a rest; no call waits for that. */
const tellMs = 5000;
/** Milliseconds before a database that did not answer is asked again. */
const awayMs = 60_000;

/** A hash that identifies a key in the team and reveals nothing to those without the key. */
export const nameOfKey = (provider: string, key: string): string => digest(`pai key\0${provider}\0${key}`);

/** Adds the team's rests to `own`, which also stores them. An unreachable database has none. `now`: epoch milliseconds. */
export function shareKeyState(
  own: KeyState,
  options: {
    readonly address: StoreAddress;
    readonly provider: string;
    readonly keys: readonly { readonly id: string; readonly key: string }[];
    readonly now: () => number;
    readonly waitMs?: number;
  },
): KeyState {
  const { address, provider, keys, now, waitMs = usualWaitMs } = options;
  const names = new Map<string, string>(keys.map(({ id, key }) => [`${provider}/${id}`, nameOfKey(provider, key)]));
  let askAgainAt = 0;
  const ask = async (withinMs: number, work: (store: TeamStore) => Promise<void>): Promise<void> => {
    const store = openTeamStore(address, withinMs);
    try {
      await work(store);
      askAgainAt = performance.now() + freshMs;
    } catch {
      askAgainAt = performance.now() + awayMs;
    } finally {
      await store.close();
    }
  };
  const learn = async (store: TeamStore) => {
    const rows = await store.query<{ key: string; seconds: number }>("select * from pai.resting($1::text::text[])", [
      `{${[...names.values()].join(",")}}`,
    ]);
    const left = new Map(rows.map(({ key, seconds }) => [key, seconds]));
    const resting = [...names].flatMap(([id, name]) => {
      const seconds = left.get(name);
      return seconds === undefined ? [] : [[id, now() + seconds * 1000] as const];
    });
    if (resting.length > 0) own.save({ cursor: {}, resting: Object.fromEntries(resting) });
  };
  const tell = (resting: KeyTurns["resting"]) =>
    ask(tellMs, async (store) => {
      for (const [id, until] of Object.entries(resting)) {
        const name = names.get(id);
        if (name !== undefined) await store.query("select pai.rest_key($1, $2)", [name, (until - now()) / 1000]);
      }
    });
  return {
    load: own.load,
    async refresh() {
      if (performance.now() >= askAgainAt) await ask(waitMs, learn);
    },
    save(news) {
      own.save(news);
      // The call goes on with the next key meanwhile; only the end of the process waits for this.
      if (Object.keys(news.resting).length > 0) void tell(news.resting);
    },
  };
}
