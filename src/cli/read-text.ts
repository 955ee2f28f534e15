/** Reads a file or standard input to its end, or until a signal. */
import { PaiError } from "../core/error.ts";

const mebibyte = 1024 * 1024;
/** Largest size of a task, in bytes. */
export const taskLimit = 8 * mebibyte;

/**
 * The whole text without a byte order mark. Throws the reason of `signal` if that aborts, as with a silent pipe; usage
 * for more than `limit` bytes.
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

/** Reads a file. Throws usage with `what` as its name, such as "task file". */
export async function readText(path: string, what: string, signal: AbortSignal, limit?: number): Promise<string> {
  try {
    return await readWhole(Bun.file(path), `the ${what}`, signal, limit);
  } catch (cause) {
    if (cause instanceof PaiError) throw cause;
    throw new PaiError("usage", `the ${what} cannot be read: ${path}${reasonOf(cause)}`, { cause });
  }
}
