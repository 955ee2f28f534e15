/** Which key of a provider is next and which keys rest; in the state folder, so that runs share it. */
import { join } from "node:path";
import type { KeyState, KeyTurns } from "../core/key-turns.ts";
import { readPrivate, withLock, writePrivate } from "./safe-file.ts";

const empty: KeyTurns = { cursor: {}, resting: {} };
const fileIn = (stateDir: string): string => join(stateDir, "keys.json");

/**
 * Opens the file; a missing or damaged one counts as empty. `save` keeps what another process saved meanwhile; of two
 * rests the longer one wins. If the file cannot be written, keys take turns within this process only.
 */
export function openKeyState(stateDir: string | null): KeyState {
  const file = stateDir === null ? null : fileIn(stateDir);
  let own: KeyTurns | null = file === null ? empty : null;
  return {
    load: () => own ?? (file === null ? empty : (read(file) ?? empty)),
    save(next) {
      if (own !== null || file === null) {
        own = merge(own ?? empty, next);
        return;
      }
      try {
        withLock(file, () => write(file, merge(read(file) ?? empty, next)));
      } catch {
        own = next;
      }
    },
  };
}

/** Makes all keys of a provider ready. */
export function endRests(stateDir: string | null, provider: string): void {
  edit(stateDir, ({ cursor, resting }) => {
    const others = Object.entries(resting).filter(([key]) => !key.startsWith(`${provider}/`));
    return { cursor, resting: Object.fromEntries(others) };
  });
}

/** Makes the next call of a provider start with its default key; rests stay. */
export function forgetTurn(stateDir: string | null, provider: string): void {
  edit(stateDir, ({ cursor, resting }) => {
    const others = Object.entries(cursor).filter(([name]) => name !== provider);
    return { cursor: Object.fromEntries(others), resting };
  });
}

function edit(stateDir: string | null, change: (turns: KeyTurns) => KeyTurns): void {
  const file = stateDir === null ? null : fileIn(stateDir);
  if (file === null || read(file) === null) return;
  withLock(file, () => write(file, change(read(file) ?? empty)));
}

function merge(stored: KeyTurns, next: KeyTurns): KeyTurns {
  const resting = new Map(Object.entries(stored.resting));
  for (const [key, until] of Object.entries(next.resting)) resting.set(key, Math.max(until, resting.get(key) ?? 0));
  return { cursor: { ...stored.cursor, ...next.cursor }, resting: Object.fromEntries(resting) };
}

function write(file: string, turns: KeyTurns): void {
  writePrivate(file, `${JSON.stringify({ version: 1, ...turns })}\n`, { lasting: false });
}

/** null: missing or damaged. */
function read(file: string): KeyTurns | null {
  try {
    const text = readPrivate(file);
    if (text === null) return null;
    const { cursor, resting } = JSON.parse(text) as KeyTurns;
    return { cursor: pick(cursor, "string"), resting: pick(resting, "number") };
  } catch {
    return null;
  }
}

function pick<T>(from: Readonly<Record<string, T>>, kind: "string" | "number"): Record<string, T> {
  return Object.fromEntries(Object.entries(from).filter(([, value]) => typeof value === kind));
}
