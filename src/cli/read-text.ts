/** Reads a file or standard input to its end; of long input beside a task its end, its beginning and the lines of errors. */

import { fstatSync } from "node:fs";
import { openClip, shareOut } from "../core/command/clip.ts";
import { maxPiped } from "../core/context/shown.ts";
import { orNull, PaiError } from "../core/error.ts";
import { waitAtMost } from "../core/steps.ts";
import { textOfSystem } from "../system/lookups.ts";

const mebibyte = 1024 * 1024;
export const taskLimit = 8 * mebibyte;

/** The whole text. Throws the reason of `signal` if that aborts, as with a silent pipe; usage above `limit` bytes. */
export async function readWhole(source: Blob, what: string, signal: AbortSignal, limit = Number.POSITIVE_INFINITY) {
  signal.throwIfAborted();
  const reader = source.stream().getReader();
  const leave = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", leave);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length;
      if (size > limit) throw new PaiError("usage", `${what} is larger than ${limit / mebibyte} MiB`);
      chunks.push(part.value);
    }
  } finally {
    signal.removeEventListener("abort", leave);
    leave();
  }
  signal.throwIfAborted();
  return new TextDecoder().decode(Buffer.concat(chunks));
}

export const readStdin = (signal: AbortSignal): Promise<string> =>
  readWhole(Bun.stdin, "standard input", signal, taskLimit);

const reasons: Readonly<Record<string, string>> = {
  ENOENT: " does not exist",
  ENOTDIR: " does not exist",
  EISDIR: " is a folder",
  EACCES: ": permission denied",
};

const reasonOf = (cause: unknown): string => reasons[(cause as NodeJS.ErrnoException | null)?.code ?? ""] ?? "";

export async function readText(path: string, what: string, signal: AbortSignal, limit?: number): Promise<string> {
  try {
    return await readWhole(Bun.file(path), `the ${what}`, signal, limit);
  } catch (cause) {
    if (cause instanceof PaiError) throw cause;
    throw new PaiError("usage", `the ${what} cannot be read: ${path}${reasonOf(cause)}`, { cause });
  }
}

/** Milliseconds: after so long a wait is told, so long a socket is waited for, and so long a silence ends the text. */
const waits = { told: 1000, socket: 200, silence: 60_000 } as const;
/** Less than the model is shown at most, so that names in place of secrets have room, too. */
const kept = shareOut(0.95 * maxPiped);

export interface PipeWait {
  /** Milliseconds that a pipe may take for its first byte; null: it is waited for and read to its end. */
  readonly firstMs: number | null;
  readonly say: (text: string) => void;
}

/** What standard input is; a shell loop may have read from its file. null: nothing that is piped in. */
function kindOfInput(): "pipe" | "socket" | "file" | null {
  const stat = orNull(() => fstatSync(0));
  if (stat?.isSocket()) return "socket";
  if (stat?.isFIFO()) return "pipe";
  return stat?.isFile() && /^pos:\s*0$/m.test(textOfSystem("/proc/self/fdinfo/0")) ? "file" : null;
}

const spellSize = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;

/** What was read, and whether it fell silent before its end. Throws the reason of `signal`. */
async function readAll(signal: AbortSignal, kind: string, { firstMs, say }: PipeWait) {
  const reader = Bun.stdin.stream().getReader();
  const stopped = new Promise<"late">((resolve) => {
    signal.addEventListener("abort", () => resolve("late"), { once: true });
  });
  const clip = openClip(kept);
  const told = setTimeout(() => say("waiting for standard input; --no-stdin goes on without it"), waits.told);
  let most = kind === "socket" ? waits.socket : firstMs;
  try {
    for (;;) {
      const next = Promise.race([reader.read(), stopped]);
      const piece = await (most === null ? next : waitAtMost(next, most));
      clearTimeout(told);
      signal.throwIfAborted();
      if (piece === "late" || piece.done) return { clip, isSilent: piece === "late" };
      clip.add(piece.value);
      most = firstMs === null ? null : waits.silence;
    }
  } finally {
    clearTimeout(told);
    void reader.cancel().catch(() => {});
  }
}

/** Reads until the end of input, or until it is silent for too long. Throws the reason of `signal`. */
export async function readPiped(signal: AbortSignal, wait: PipeWait): Promise<string> {
  const kind = wait.firstMs === null ? "pipe" : kindOfInput();
  if (kind === null) return "";
  const { clip, isSilent } = await readAll(signal, kind, wait);
  const { total, isCut } = clip;
  if (isSilent && total === 0) {
    wait.say("standard input not read; --stdin waits for it");
    return "";
  }
  if (isSilent) wait.say(`standard input fell silent after ${spellSize(total)}: it is read so far`);
  if (isCut) wait.say(`of ${spellSize(total)} of standard input the end, the beginning and lines of errors are used`);
  return clip.text();
}
