/** Messages that wait to be sent to the team's database: a small file each, kept until the database has it. */
import { existsSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "../../core/model.ts";
import { errnoOf, readRegular, removeIfThere, writePrivate } from "../safe-file.ts";

/**
 * A run that ended; an undo or redo; a reservation made while the database was unreachable; what a call cost; new lines
 * of a session.
 */
export type LetterKind = "run" | "undone" | "spend" | "spent" | "session";

export interface Letter {
  readonly name: string;
  readonly text: string;
  readonly json: Json;
}

export interface Outbox {
  /** Saves a letter, replacing one of the same kind and key. Throws a system error. */
  put(kind: LetterKind, key: string, json: object): void;
  /** At most `max` letters. A file without valid JSON is put aside. */
  list(kind: LetterKind, max: number): readonly Letter[];
  /** Removes letters, except those that were replaced meanwhile. */
  remove(letters: readonly Letter[]): void;
  /** Puts a letter aside that the database refuses for good; its file stays for inspection. */
  putAside(letter: Pick<Letter, "name">): void;
  /** Number of waiting letters. */
  waiting(): number;
}

/** `folder` is made for the first letter. Processes share it: a letter may be sent by several and still counts once. */
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
    list: (kind, max) =>
      names()
        .filter((name) => name.startsWith(`${kind}-`))
        .slice(0, max)
        .flatMap(read),
    remove: (letters) => {
      for (const { name, text } of letters)
        if (readRegular(join(folder, name), { follow: false }) === text) removeIfThere(join(folder, name));
    },
    putAside,
    waiting: () => names().length,
  };
}
