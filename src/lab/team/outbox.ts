/** Messages that wait to be sent to the team's database: a small file each, kept until the database has it. */
import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PaiError, toPaiError, unless } from "../../core/error.ts";
import type { Json } from "../../core/model.ts";
import { readRegular, writePrivate } from "../../store/safe-file.ts";
import { takeLock } from "../../system/lock.ts";

/** An ended run; an undo or redo; a reservation without the database; what a call cost; new lines of a session. */
export type LetterKind = "run" | "undone" | "spend" | "spent" | "session";

export interface Letter {
  /** Name of its file, which no later letter gets. */
  readonly name: string;
  readonly json: Json;
}

export type Outbox = ReturnType<typeof openOutbox>;

/** `KIND-KEY.json.NUMBER-NONCE`: of several with one kind and key the one with the highest number counts. */
const nameShape = /^((?:run|undone|spend|spent|session)-[0-9a-f]{32})\.json\.(\d+)-[0-9a-f]+$/;

interface Name {
  readonly name: string;
  readonly about: string;
  readonly number: number;
}

const parseName = (name: string): readonly Name[] => {
  const [, about = "", number = "0"] = nameShape.exec(name) ?? [];
  return about === "" ? [] : [{ name, about, number: Number(number) }];
};

/** `folder` is made for the first letter. Processes share it: a letter may be sent by several and still counts once. */
export function openOutbox(folder: string) {
  const names = (): readonly Name[] => (existsSync(folder) ? readdirSync(folder).flatMap(parseName) : []);
  const removeNames = (list: readonly { readonly name: string }[]) => {
    for (const { name } of list) rmSync(join(folder, name), { force: true });
  };
  /** Puts a letter aside that the database refuses for good; its file stays for inspection. */
  const putAside = ({ name }: Pick<Letter, "name">) =>
    unless(["ENOENT"], () => renameSync(join(folder, name), join(folder, `${name}.refused`)));
  const read = ({ name }: Name): readonly Letter[] => {
    try {
      const text = readRegular(join(folder, name), { follow: false });
      return text === null ? [] : [{ name, json: JSON.parse(text) as Json }];
    } catch (thrown) {
      // One that the system does not let us read now waits.
      if (thrown instanceof PaiError || toPaiError(thrown).code === "internal") putAside({ name });
      return [];
    }
  };
  return {
    /** Saves a letter, which counts in place of earlier ones of the same kind and key. Throws a system error. */
    put(kind: LetterKind, key: string, json: object) {
      const number = names().reduce((highest, each) => Math.max(highest, each.number), 0) + 1;
      const name = `${kind}-${key}.json.${number}-${crypto.randomUUID().slice(0, 8)}`;
      writePrivate(join(folder, name), `${JSON.stringify(json)}\n`, { lasting: false });
    },
    /** At most `max` letters. A file without valid JSON is put aside. */
    list(kind: LetterKind, max: number) {
      const all = names().filter(({ about }) => about.startsWith(`${kind}-`));
      const newest = new Map(all.sort((a, b) => a.number - b.number).map((each) => [each.about, each]));
      removeNames(all.filter((each) => newest.get(each.about) !== each));
      return [...newest.values()].slice(0, max).flatMap(read);
    },
    remove: (letters: readonly Letter[]) => removeNames(letters),
    putAside,
    waiting: () => new Set(names().map(({ about }) => about)).size,
    /** Runs `work` while nobody else sends, so that letters keep their order. Throws store_away after `withinMs`. */
    async alone<T>(withinMs: number, work: () => Promise<T>): Promise<T> {
      const until = performance.now() + withinMs;
      let held = takeLock(`${folder}.lock`);
      for (; held === null; held = takeLock(`${folder}.lock`)) {
        if (performance.now() > until)
          throw new PaiError("store_away", "another pai has been sending to the team for too long");
        await Bun.sleep(20);
      }
      try {
        return await work();
      } finally {
        held.release();
      }
    },
  };
}
