/** The index of a workspace: the same ranking without reading everything, and never a reason to fail. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { termsOf } from "../../../src/core/context/words.ts";
import { indexName } from "../../../src/workspace/index/index-name.ts";
import { openWorkspace } from "../../../src/workspace/open.ts";
import { build, fileOf, inPlace, open, settle, signal, survey, words } from "./index-place.ts";

describe("the index", () => {
  test("finds what reading finds, before and after files came, changed and went", async () => {
    await inPlace(async (place) => {
      const before = await survey(place);
      expect(await build(place)).toMatchObject({ files: 30, read: 30, obstacle: null });
      expect(await survey(place)).toEqual(before);
      place.put("src/m0/file0.py", "default_map = 2\ndefault_map = 3\n");
      place.put("src/new/deep/file.py", "the parser\n");
      rmSync(join(place.root, "src/m1/file10.py"));
      renameSync(join(place.root, "src/m2"), join(place.root, "src/moved"));
      const changed = await survey(place);
      const { index } = await open(place);
      index?.drop();
      expect(changed).toEqual(await survey(place));
      expect(changed.entries).toContain("file src/new/deep/file.py");
    });
  });

  test("reads again only what changed", async () => {
    await inPlace(async (place) => {
      await settle();
      await build(place);
      expect(await build(place)).toMatchObject({ files: 30, read: 0, obstacle: null });
      place.put("src/m0/file0.py", "changed\n");
      place.put("more.py", "parser\n");
      expect(await build(place)).toMatchObject({ files: 31, read: 2, obstacle: null });
      expect((await (await open(place)).index?.status())?.files).toBe(31);
    });
  });

  test("reads again a file with other content of the same length, time and inode", async () => {
    await inPlace(async (place) => {
      await settle();
      await build(place);
      expect((await build(place)).read).toBe(0);
      place.put("src/m0/file3.py", "parser = 3\n".slice(0, "value = 3\n".length));
      expect((await survey(place)).counts).toEqual((await survey({ ...place, state: `${place.state}-other` })).counts);
      await settle();
      expect((await build(place)).read).toBe(1);
    });
  });

  test("follows what is ignored and denied from now on", async () => {
    await inPlace(async (place) => {
      await build(place);
      place.put(".gitignore", "src/m0\n");
      expect((await survey(place)).entries).not.toContain("file src/m0/file0.py");
      await build(place);
      place.put(".gitignore", "\n");
      expect((await survey(place)).entries).toContain("file src/m0/file0.py");
      const denied = await survey(place, { policy: { allow: [], deny: ["src/m1/**"] } });
      expect(denied.entries.filter((entry) => entry.startsWith("file src/m1/"))).toEqual([]);
    });
  });

  test("is not used with other rules of the user for every project", async () => {
    await inPlace(async (place) => {
      await build(place);
      const home = join(place.state, "../home");
      mkdirSync(join(home, ".config/git"), { recursive: true });
      writeFileSync(join(home, ".config/git/ignore"), "m0\n");
      expect((await survey(place, { home })).entries.filter((entry) => entry.includes("m0"))).toEqual([]);
    });
  });

  test("is small, private, and made anew when many parts of it are worn", async () => {
    await inPlace(async (place) => {
      await build(place);
      expect(statSync(fileOf(place)).mode & 0o777).toBe(0o600);
      for (let round = 0; round < 14; round += 1) {
        place.put("src/m0/file0.py", `parser = ${round}\n`.repeat(round + 1));
        await build(place);
      }
      const warm = await survey(place);
      const { index } = await open(place);
      index?.drop();
      expect(warm).toEqual(await survey(place));
    });
  });

  test("is one file, and stays as it is while another process reads it for long", async () => {
    await inPlace(async (place) => {
      const beside = () => readdirSync(dirname(fileOf(place)));
      await build(place);
      expect(beside()).toEqual([indexName]);
      const reader = new Database(fileOf(place), { readonly: true });
      reader.run("begin");
      reader.query("select count(*) from folders").values();
      place.put("more.py", "parser\n");
      expect(await build(place)).toMatchObject({ obstacle: "busy" });
      reader.close();
      expect(beside()).toEqual([indexName]);
      const { index } = await open(place);
      expect(await index?.status()).toMatchObject({ files: 30, complete: true, bytes: statSync(fileOf(place)).size });
      expect(await build(place)).toMatchObject({ files: 31, obstacle: null });
    });
  });

  test("is written by one of two at once, and both go on", async () => {
    await inPlace(async (place) => {
      const before = await survey(place);
      const both = await Promise.allSettled([build(place), build(place)]);
      expect(both.some((each) => each.status === "fulfilled" && each.value.obstacle === null)).toBe(true);
      expect(await survey(place)).toEqual(before);
    });
  });

  test("is not kept where nothing is kept, and its lack is not a failure", async () => {
    await inPlace(async (place) => {
      const { workspace, index } = await openWorkspace({
        root: place.root,
        stateDir: null,
        home: null,
        force: true,
        policy: { allow: [], deny: [] },
        env: {},
        commandEnv: [],
        umask: 0o022,
      });
      expect(index).toBeNull();
      expect((await workspace.survey?.(async () => termsOf(words)).list(signal))?.entries.length).toBeGreaterThan(30);
    });
  });
});
