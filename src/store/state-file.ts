/** A small JSON file of pai's own that several processes read and change: one object, private, of one shape. */
import * as z from "zod/mini";
import { PaiError } from "../core/error.ts";
import { readPrivate, withLock, writePrivate } from "./safe-file.ts";

export interface StateFile<T> {
  /** Throws config_invalid if others may write the file. */
  read(): T;
  /** Replaces the value by what `change` returns, while no other process changes it. */
  edit(change: (now: T) => T): void;
  /** `edit`, where `change` has a result beside the value. */
  editFor<R>(change: (now: T) => readonly [value: T, result: R]): R;
}

interface Kind {
  /** What to do about a damaged file: reading it throws config_invalid. Absent: it counts as empty. */
  readonly hint?: string;
  /** It may get lost: no power cut is waited for, and a file that cannot be read counts as empty. */
  readonly isCache?: boolean;
}

/** A missing file holds `empty`. */
export function openStateFile<T extends object>(
  file: string,
  shape: z.ZodMiniType<T>,
  empty: T,
  { hint, isCache = false }: Kind = {},
): StateFile<T> {
  const parse = (text: string): T => {
    try {
      return z.parse(shape, JSON.parse(text));
    } catch (cause) {
      if (hint === undefined) return empty;
      throw new PaiError("config_invalid", `${file} is damaged, or of another version of pai`, { hint, cause });
    }
  };
  const read = (): T => {
    try {
      const text = readPrivate(file);
      return text === null ? empty : parse(text);
    } catch (thrown) {
      if (isCache) return empty;
      throw thrown;
    }
  };
  const write = (value: T) =>
    writePrivate(file, `${JSON.stringify({ version: 1, ...value }, null, 2)}\n`, { lasting: !isCache });
  return {
    read,
    edit: (change) => withLock(file, () => write(change(read()))),
    editFor: (change) =>
      withLock(file, () => {
        const [value, result] = change(read());
        write(value);
        return result;
      }),
  };
}
