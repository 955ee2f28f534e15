/** A small JSON file of pai's own that several processes read and change: one object, private, of one shape. */
import { join } from "node:path";
import * as z from "zod/mini";
import { orNull, PaiError } from "../core/error.ts";
import { readPrivate, withLock, writePrivate } from "./safe-file.ts";

interface Kind {
  /** What to do about a damaged file, or one of another version: reading it throws config_invalid. Absent: it is read as empty. */
  readonly hint?: string;
  /** It may get lost: no power cut is waited for, and a file that cannot be read counts as empty and is replaced. */
  readonly isCache?: boolean;
}

/** A missing file holds `empty`. To edit one throws config_invalid where it is damaged. `folder` null: nothing is kept. */
export function openStateFile<T extends object>(
  folder: string | null,
  name: string,
  shape: z.ZodMiniType<T>,
  empty: T,
  { hint, isCache = false }: Kind = {},
) {
  const file = folder === null ? null : join(folder, name);
  const full = { version: 1, ...empty };
  const parse = (text: string, isStrict: boolean): T => {
    try {
      const value = JSON.parse(text);
      z.parse(z.object({ version: z.optional(z.literal(full.version)) }), value);
      return z.parse(shape, value);
    } catch (cause) {
      if (!isStrict) return empty;
      const what = `${file} is damaged, or of another version of pai`;
      throw new PaiError("config_invalid", what, { hint: hint ?? "repair it, or remove it to begin anew", cause });
    }
  };
  const read = (isStrict = hint !== undefined): T => {
    try {
      const text = file === null ? null : readPrivate(file);
      return text === null ? empty : parse(text, isStrict);
    } catch (thrown) {
      if (isCache) return empty;
      throw thrown;
    }
  };
  /** Replaces the value by what `change` returns, while no other process changes it. */
  const editFor = <R>(change: (now: T) => readonly [value: T, result: R]): R => {
    if (file === null) return change(empty)[1];
    return withLock(file, () => {
      const [value, result] = change(read(true));
      writePrivate(file, `${JSON.stringify({ version: 1, ...value }, null, 2)}\n`, { lasting: !isCache });
      return result;
    });
  };
  return {
    read: () => read(),
    /** Whether it is there and is damaged, or of another version, also where that is read as empty. */
    isDamaged: () => orNull(() => read(true)) === null,
    edit: (change: (now: T) => T) => editFor((now) => [change(now), null]),
    editFor,
  };
}
