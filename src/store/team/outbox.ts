/** What is still to be told to the team's database: one small file each, kept until the database has it. */
import { existsSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "../../core/model.ts";
import { errnoOf, readRegular, removeIfThere, writePrivate } from "../safe-file.ts";

/**
 * A run that ended; whether one is undone now; what was reserved of a day while the database was away; what a call came to;
 * a session that went on.
 */
export type LetterKind = "run" | "undone" | "spend" | "spent" | "session";

export interface Letter {
  readonly name: string;
  readonly text: string;
  readonly json: Json;
}

export interface Outbox {
  /** Keeps a letter; one of the same kind and key is replaced. Throws a system error. */
  put(kind: LetterKind, key: string, json: object): void;
  /** At most so many. What is no JSON is put aside. */
  list(kind: LetterKind, most: number): readonly Letter[];
  /** Removes a letter, unless it was replaced meanwhile. */
  remove(letters: readonly Letter[]): void;
  /** Puts a letter aside that the database will never take; the file stays for inspection. */
  putAside(letter: Pick<Letter, "name">): void;
  /** How many letters wait. */
  waiting(): number;
}

/** `folder` is made at the first letter. Processes share it: each letter is sent by one or by several, and counts once. */
export function openOutbox(folder: string): Outbox {
  const names = (): readonly string[] =>
    existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
  const putAside = ({ name }: Pick<Letter, "name">) => {
    try {
      renameSync(join(folder, name), join(folder, `${name}.refused`));
    } catch (thrown) {
      if (errnoOf(thrown) !== "ENOENT") throw thrown;
    }
  };
  const read = (name: string): readonly Letter[] => {
    try {
      const text = readRegular(join(folder, name), { follow: false });
      return text === null ? [] : [{ name, text, json: JSON.parse(text) as Json }];
    } catch {
      putAside({ name });
      return [];
    }
  };
  return {
    put: (kind, key, json) =>
      writePrivate(join(folder, `${kind}-${key}.json`), `${JSON.stringify(json)}\n`, { lasting: false }),
    list: (kind, most) =>
      names()
        .filter((name) => name.startsWith(`${kind}-`))
        .slice(0, most)
        .flatMap(read),
    remove: (letters) => {
      for (const { name, text } of letters)
        if (readRegular(join(folder, name), { follow: false }) === text) removeIfThere(join(folder, name));
    },
    putAside,
    waiting: () => names().length,
  };
}
