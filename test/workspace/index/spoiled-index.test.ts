/** An index that is damaged, forged or not this user's alone is passed over and made anew. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { termsOf } from "../../../src/core/context/words.ts";
import { build, commitAll, fileOf, inPlace, open, signal, survey, unusable, words } from "./index-place.ts";

describe("an index", () => {
  test.each([
    ["damaged", (file: string) => writeFileSync(file, `SQLite format 3\0${"x".repeat(20_000)}`)],
    ["empty", (file: string) => writeFileSync(file, "")],
    ["readable for others", (file: string) => chmodSync(file, 0o644)],
    [
      "a link to another file",
      (file: string) => {
        renameSync(file, `${file}.real`);
        symlinkSync(`${file}.real`, file);
      },
    ],
    [
      "a folder",
      (file: string) => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
  ])("that is %s is passed over", async (_what, spoil) => {
    await inPlace(async (place) => {
      const before = await survey(place);
      await build(place);
      for (const end of ["-wal", "-shm"]) rmSync(fileOf(place) + end, { force: true });
      spoil(fileOf(place));
      const { lacks, ...found } = await survey(place);
      expect(found).toEqual(before);
      // A folder in its place is not removed.
      expect(lacks).toBe(existsSync(fileOf(place)) ? "index: it could not be used" : unusable);
    });
  });

  test("with pages that were overwritten is passed over, or says the same", async () => {
    await inPlace(async (place) => {
      const before = await survey(place);
      await build(place);
      const file = fileOf(place);
      const bytes = new Uint8Array(await Bun.file(file).arrayBuffer());
      for (const at of [4096, 8192, 12_288, 16_384]) {
        const spoiled = bytes.slice();
        spoiled.fill(0xa5, at, at + 2000);
        await Bun.write(file, spoiled);
        chmodSync(file, 0o600);
        expect((await survey(place)).files).toBeLessThanOrEqual(before.files);
        await build(place);
      }
      const { index } = await open(place);
      index?.drop();
      expect(await survey(place)).toEqual(before);
    });
  });

  test.each([
    ["a name", "folders", "names", (names: string) => names.replace("file7.py", "file8.py")],
    [
      "what is known of a file",
      "folders",
      "facts",
      (facts: Uint8Array) => facts.map((byte, at) => byte ^ Number(at === 30)),
    ],
    [
      "a message of the history",
      "about",
      "value",
      (text: string) => text.replace("rename the cart", "rename the card"),
    ],
  ] as const)("in which %s is damaged is passed over", async (_what, table, column, spoil) => {
    await inPlace(async (place) => {
      commitAll(place.root, "rename the cart");
      const before = await survey(place);
      await build(place);
      using database = new Database(fileOf(place), { readwrite: true, create: false });
      const [key, where] = table === "about" ? ["name", "log"] : ["path", "src/m1"];
      const row = database.query(`select ${column} from ${table} where ${key} = ?`).values(where)[0];
      const spoiled = (spoil as (value: unknown) => string | Uint8Array)(row?.[0]);
      database.run(`update ${table} set ${column} = ? where ${key} = ?`, [spoiled, where]);
      expect(Bun.deepEquals(row?.[0], spoiled)).toBe(false);
      database.close();
      expect(await survey(place)).toEqual({ ...before, lacks: unusable });
    });
  });

  test("whose log claims to be of an option of git is passed over, and git is not given it", async () => {
    await inPlace(async (place) => {
      commitAll(place.root, "rename the cart");
      const before = await survey(place);
      await build(place);
      using database = new Database(fileOf(place), { readwrite: true, create: false });
      const [log] = database.query("select value from about where name = 'log'").values()[0] ?? [];
      const head = `--output=${place.root}/written`;
      const sum = [head, `${log}`].map((part) => Bun.hash(part).toString(36)).join(" ");
      database.run("update about set value = ? where name = 'head'", [head]);
      database.run("update about set value = ? where name = 'sum'", [sum]);
      database.close();
      const { workspace } = await open(place);
      const found = workspace.survey?.(async () => termsOf(words));
      await found?.list(signal);
      expect((await found?.history(signal))?.commits.map(({ subject }) => subject)).toEqual(["rename the cart"]);
      found?.close();
      expect(existsSync(join(place.root, "written"))).toBe(false);
      expect((await survey(place)).entries).toEqual(before.entries);
    });
  });
});
