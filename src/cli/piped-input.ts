/** Reads standard input beside a task as context, without waiting long if nothing comes. */
import { fstatSync, readFileSync } from "node:fs";
import { taskLimit } from "./read-text.ts";

/** Milliseconds to wait for the first byte, and for each next one. */
const firstMs = 200;
const silenceMs = 2000;

export interface PipedInput {
  /** The text; "" for none. */
  readonly text: string;
  /** A notice about it; null: none. */
  readonly note: string | null;
}

const nothing: PipedInput = { text: "", note: null };

/** Whether standard input is a pipe, a socket, or a file at its start; a shell loop may have read from its file. */
function isPiped(): boolean {
  try {
    const stat = fstatSync(0);
    if (stat.isFIFO() || stat.isSocket()) return true;
    return stat.isFile() && /^pos:\s*0$/m.test(readFileSync("/proc/self/fdinfo/0", "utf8"));
  } catch {
    return false;
  }
}

/** The next piece, or "silent" after `ms` milliseconds. */
async function nextPiece<T>(read: Promise<T>, ms: number, signal: AbortSignal): Promise<T | "silent"> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let leave = () => {};
  const silent = new Promise<"silent">((resolve) => {
    leave = () => resolve("silent");
    timer = setTimeout(leave, ms);
    signal.addEventListener("abort", leave);
  });
  try {
    return await Promise.race([read, silent]);
  } finally {
    if (timer !== null) clearTimeout(timer);
    signal.removeEventListener("abort", leave);
  }
}

/** Reads until the end of input, the size limit, or two seconds of silence. Throws the reason of `signal`. */
export async function readPiped(signal: AbortSignal): Promise<PipedInput> {
  if (!isPiped()) return nothing;
  const reader = Bun.stdin.stream().getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let cut: string | null = null;
  try {
    for (;;) {
      const piece = await nextPiece(reader.read(), chunks.length === 0 ? firstMs : silenceMs, signal);
      signal.throwIfAborted();
      if (piece === "silent") {
        cut = "it fell silent";
        break;
      }
      if (piece.done) break;
      const room = taskLimit - size;
      chunks.push(piece.value.subarray(0, room));
      size += piece.value.length;
      if (size > taskLimit) {
        cut = `it is larger than ${taskLimit / 1024 / 1024} MiB`;
        break;
      }
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
  if (cut !== null && chunks.length === 0) return { text: "", note: "standard input not read; --stdin waits for it" };
  const text = new TextDecoder().decode(Buffer.concat(chunks));
  const note = cut === null ? null : `standard input was cut after ${Buffer.concat(chunks).length} bytes: ${cut}`;
  return { text, note };
}
