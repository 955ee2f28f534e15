/** Which key of a provider is next and which keys rest; in the state folder, so that runs share it. */
import * as z from "zod/mini";
import type { KeyState, KeyTurns } from "../core/key-turns.ts";
import { openStateFile } from "./state-file.ts";

const shape = z.object({ cursor: z.record(z.string(), z.string()), resting: z.record(z.string(), z.number()) });
const empty = { cursor: {}, resting: {} };
const fileIn = (stateDir: string | null) =>
  openStateFile<KeyTurns>(stateDir, "keys.json", shape, empty, { isCache: true });

/**
 * Opens the file; a missing, damaged or unusable one counts as empty. `save` keeps what another process saved meanwhile;
 * of two rests the longer one wins. If the file cannot be written, keys take turns within this process only.
 */
export function openKeyState(stateDir: string | null): KeyState {
  const file = fileIn(stateDir);
  let own: KeyTurns | null = stateDir === null ? empty : null;
  return {
    load: () => own ?? file.read(),
    save(next) {
      try {
        if (own === null) file.edit((stored) => merge(stored, next));
        else own = merge(own, next);
      } catch {
        own = next;
      }
    },
  };
}

export function endRests(stateDir: string | null, provider: string): void {
  edit(stateDir, ({ cursor, resting }) => {
    const others = Object.entries(resting).filter(([key]) => !key.startsWith(`${provider}/`));
    return { cursor, resting: Object.fromEntries(others) };
  });
}

/** Makes the next call of a provider start with its default key; rests stay. */
export function forgetTurn(stateDir: string | null, provider: string): void {
  edit(stateDir, ({ cursor: { [provider]: _, ...cursor }, resting }) => ({ cursor, resting }));
}

function edit(stateDir: string | null, change: (turns: KeyTurns) => KeyTurns): void {
  const file = fileIn(stateDir);
  if (file.read() !== empty) file.edit(change);
}

function merge(stored: KeyTurns, next: KeyTurns): KeyTurns {
  const resting = new Map(Object.entries(stored.resting));
  for (const [key, until] of Object.entries(next.resting)) resting.set(key, Math.max(until, resting.get(key) ?? 0));
  return { cursor: { ...stored.cursor, ...next.cursor }, resting: Object.fromEntries(resting) };
}
