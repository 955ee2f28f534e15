/** What a command changed, as it is looked for and taken over. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { finish } from "../../../src/core/steps.ts";
import { takeOver } from "../../../src/workspace/effects/copy-layer.ts";
import { compareLooks, diff, type Limits, type Look, takeLook } from "../../../src/workspace/effects/look.ts";
import { noRules, openFolder, p } from "../folder.ts";
import { at, change, file } from "../tree.ts";

function openHere(files: Readonly<Record<string, string>>, limits: Limits | null = null) {
  const folder = openFolder();
  for (const [path, text] of Object.entries(files)) folder.file(path, text);
  const parts = { root: folder.root, rules: noRules, isWalled: false, git: false, own: new Set<never>(), known: null };
  const never = new AbortController().signal;
  return {
    ...folder,
    look: (earlier: Look | null = null, { hurry = never, keepsIgnored = true } = {}) =>
      takeLook({ ...parts, keepsIgnored }, earlier && { earlier, reopens: false, hurry }, limits),
    refused: (before: Look, after: Look) =>
      diff(finish(compareLooks(folder.root, before, after, false)), new Set())
        .refused.map(({ path }) => `${path}`)
        .sort(),
    compare(before: Look, after: Look) {
      const { changes, carried, notes } = diff(finish(compareLooks(folder.root, before, after, false)), new Set());
      return {
        changes: changes.map(({ isIgnored: _, ...each }) => each),
        carried: carried.map((each) => each.path),
        notes,
      };
    },
  };
}

const limits: Limits = { paths: 100, files: 100, bytes: 1000, fileBytes: 10 };

test("a new folder that holds only what is carried is carried as one", () => {
  using here = openHere({ ".gitignore": "*.log\n", a: "a" });
  const before = finish(here.look(null, { keepsIgnored: false }));
  for (const folder of [".pytest_cache/v/deep", "htmlcov", "mixed/logs", "empty"]) here.folder(folder);
  here.file(".pytest_cache/README.md");
  here.file("htmlcov/.gitignore", "*\n");
  here.file("htmlcov/index.html");
  here.file("mixed/b", "b");
  here.file("mixed/logs/x.log");
  const { changes, carried } = here.compare(before, finish(here.look(before, { keepsIgnored: false })));
  expect(changes.map(({ path }) => String(path)).sort()).toEqual(["empty", "mixed", "mixed/b"]);
  expect(carried.sort()).toEqual([".pytest_cache", "htmlcov", "mixed/logs"].map(at));
});

test("a repository's history is not looked at, and of a new one everything is", () => {
  const names = ["HEAD", "objects/1", "modules/a/b/HEAD", "modules/a/b/index"];
  using here = openHere(Object.fromEntries(names.map((name) => [`.git/${name}`, "x"])));
  const before = finish(here.look());
  const known = [".git", ".git/HEAD", ".git/modules", ".git/modules/a", ".git/modules/a/b", ".git/modules/a/b/HEAD"];
  expect([...before.seen.keys()].map(String)).toEqual(known);
  here.file("sub/.git/objects/1", "x");
  expect([...finish(here.look(before)).seen.keys()].map(String)).toContain("sub/.git/objects/1");
});

test("beyond the limits a path is known by its name: what comes and goes there is told, and a note says the rest", () => {
  using here = openHere({ "a/1": "1", "a/2": "2", "b/1": "1", "c/1": "1" }, { ...limits, paths: 3 });
  const before = finish(here.look());
  const note = expect.stringMatching("more than 3 files here: a change inside one of the others is not seen");
  expect(here.compare(before, finish(here.look(before)))).toEqual({ changes: [], carried: [], notes: [note] });
  rmSync(join(here.path, "a/1"));
  writeFileSync(join(here.path, "a/3"), "3");
  writeFileSync(join(here.path, "b/1"), "other");
  rmSync(join(here.path, "c/1"));
  const { changes, carried } = here.compare(before, finish(here.look(before)));
  expect(changes).toEqual([change("a/1", file("1"), null), change("a/3", null, file("3"))]);
  expect(carried).toEqual([at("c/1")]);
});

test("however many ignored files there are, what is closed is compared", () => {
  using here = openHere(
    { ".gitignore": "*.log\n", ".git/config": "[core]\n", ".env": "KEY=1\n" },
    { ...limits, paths: 6 },
  );
  const before = finish(here.look());
  for (let n = 0; n < 20; n += 1) here.file(`${n}.log`);
  for (const path of [".git/config", ".git/hooks/pre-push"]) here.file(path, "evil");
  expect(here.refused(before, finish(here.look(before)))).toEqual([".git/config", ".git/hooks/pre-push"]);
});

test("in a hurry what tools build is not looked into", () => {
  using here = openHere({ a: "1", "node_modules/x/i.js": "1" });
  const before = finish(here.look());
  writeFileSync(join(here.path, "a"), "other");
  writeFileSync(join(here.path, "node_modules/x/i.js"), "other");
  const after = finish(here.look(before, { hurry: AbortSignal.abort() }));
  expect(here.compare(before, after)).toMatchObject({ changes: [change("a", file("1"), file("other"))], carried: [] });
});

test("a folder that was looked into is looked into again, whatever a command puts before it", () => {
  using here = openHere({ ".gitignore": "data/\nmore/\n", "more/a": "a", "more/b/c": "c" }, { ...limits, paths: 6 });
  const before = finish(here.look());
  for (let n = 0; n < 10; n += 1) here.file(`data/${n}`, "x");
  writeFileSync(join(here.path, "more/b/c"), "C");
  const { changes } = here.compare(before, finish(here.look(before)));
  expect(changes.filter(({ path }) => path.startsWith("more"))).toEqual([change("more/b/c", file("c"), file("C"))]);
});

test("a signal is heard between thousands of files, and what was taken until then is reported", async () => {
  // In memory where there is such a place: some disks take seconds to make these files.
  using at = openFolder("memory");
  using layer = openFolder("memory");
  const count = 20_000;
  for (const folder of [join(at.path, "build"), join(layer.path, "build")]) mkdirSync(folder);
  for (let index = 0; index < count; index += 1) writeFileSync(join(layer.path, "build", `${index}`), "");
  const aborter = new AbortController();
  const made = new Set([p("build")]);
  const done = takeOver({ root: at.root, upper: layer.path, made }, [p("build")], aborter.signal);
  await Bun.sleep(1);
  aborter.abort();
  expect(await done).toEqual([p("build")]);
  const there = readdirSync(join(at.path, "build")).length;
  expect([there > 0, there < count]).toEqual([true, true]);
});
