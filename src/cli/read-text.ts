/** Reads what the command line names, standard input or a file, until its end or until it is told to stop. */
import { PaiError } from "../core/error.ts";

const mebibyte = 1024 * 1024;
/** Bytes of a task, wherever it comes from. */
export const taskLimit = 8 * mebibyte;

/**
 * Whole text, without a byte order mark. A pipe that stays silent is left when `signal` aborts, and its reason thrown;
 * more than `limit` bytes are usage.
 */
export async function readWhole(
  source: Blob,
  what: string,
  signal: AbortSignal,
  limit = Number.POSITIVE_INFINITY,
): Promise<string> {
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

/** Throws usage, which names `what` it was to be: "task file". */
export async function readText(path: string, what: string, signal: AbortSignal, limit?: number): Promise<string> {
  try {
    return await readWhole(Bun.file(path), `the ${what}`, signal, limit);
  } catch (cause) {
    if (cause instanceof PaiError) throw cause;
    throw new PaiError("usage", `the ${what} cannot be read: ${path}${reasonOf(cause)}`, { cause });
  }
}
