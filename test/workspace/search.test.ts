/** SEARCH: every line that matches, in order, nothing denied, and never stuck on a pattern. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { RelPath } from "../../src/core/path.ts";
import type { SearchQuery } from "../../src/core/ports.ts";
import { search } from "../../src/workspace/search/search.ts";
import { openLineMatcher } from "../../src/workspace/search/searcher.ts";
import { canary, type Folder, noRules, openFolder, p } from "./folder.ts";

const query = (pattern: string, rest: Partial<SearchQuery> = {}): SearchQuery => ({
  pattern,
  ignoreCase: false,
  under: p(""),
  include: null,
  maxHits: 100,
  staged: new Map(),
  ...rest,
});
const find = (at: Folder, pattern: string, rest: Partial<SearchQuery> = {}) =>
  search(at.root, query(pattern, rest), noRules);
const shown = async (at: Folder, pattern: string, rest: Partial<SearchQuery> = {}) =>
  (await find(at, pattern, rest)).hits.map(({ path, line, text }) => `${path}:${line}:${text}`);

function openSources(): Folder {
  const at = openFolder();
  at.file("b.ts", "let one = 1\nlet two = 2\n");
  at.file("a/x.ts", "one\r\nOne\r\n\r\n");
  at.file("a/y.md", "# one\n");
  return at;
}

describe("finds lines", () => {
  test("in the order of a walk, by a word and by a regular expression", async () => {
    using at = openSources();
    expect(await shown(at, "one")).toEqual(["a/x.ts:1:one", "a/y.md:1:# one", "b.ts:1:let one = 1"]);
    expect(await shown(at, "^let \\w+ = [0-9]+$")).toEqual(["b.ts:1:let one = 1", "b.ts:2:let two = 2"]);
  });

  test("without regard to case, in one folder, in one file, by a glob for names or for paths", async () => {
    using at = openSources();
    expect(await shown(at, "^one$", { ignoreCase: true })).toEqual(["a/x.ts:1:one", "a/x.ts:2:One"]);
    expect(await shown(at, "one", { under: p("a") })).toEqual(["a/x.ts:1:one", "a/y.md:1:# one"]);
    expect(await shown(at, "one", { under: p("b.ts") })).toEqual(["b.ts:1:let one = 1"]);
    expect(await shown(at, "one", { include: "*.md" })).toEqual(["a/y.md:1:# one"]);
    expect(await shown(at, "one", { include: "a/**/*.ts" })).toEqual(["a/x.ts:1:one"]);
  });

  test("as the batch has staged them: changed, new and deleted", async () => {
    using at = openSources();
    const staged = new Map<RelPath, Uint8Array | null>([
      [p("a/x.ts"), Buffer.from("changed one\n")],
      [p("a/y.md"), null],
      [p("a/new/z.ts"), Buffer.from("new one\n")],
      [p(".env"), Buffer.from("one\n")],
    ]);
    const all = ["a/new/z.ts:1:new one", "a/x.ts:1:changed one", "b.ts:1:let one = 1"];
    expect(await shown(at, "one", { staged })).toEqual(all);
    expect(await shown(at, "one", { staged, under: p("a/new") })).toEqual(["a/new/z.ts:1:new one"]);
  });

  test("up to a number of hits, saying that there are more", async () => {
    using at = openSources();
    expect(await find(at, "one", { maxHits: 2 })).toMatchObject({ more: true, hits: { length: 2 } });
    expect(await find(at, "one", { maxHits: 3 })).toMatchObject({ more: false, hits: { length: 3 } });
  });

  test("cut at 400 characters, not inside one that people see as one", async () => {
    using at = openFolder();
    at.file("f", `${"x".repeat(398)}👩‍👩‍👧 end\n`);
    expect(await shown(at, "^x")).toEqual([`f:1:${"x".repeat(398)}…`]);
  });

  test("shown around the hit in a long line", async () => {
    using at = openFolder();
    at.file("f", `${"x".repeat(50_000)} port 8080 ${"y".repeat(50_000)}\n`);
    expect(await shown(at, "port 8080")).toEqual([expect.stringMatching(/^f:1:…x{90,100} port 8080 y{280,299}…$/)]);
  });
});

test("passes over denied, ignored, linked, binary, special and large files, and counts the last three", async () => {
  using at = openFolder();
  at.file(".env", canary);
  at.file(".gitignore", "ignored\n");
  at.file("ignored", canary);
  at.link("link", "../secret");
  at.file("binary", `\0${canary}`);
  at.pipe("pipe");
  at.file("large", "x".repeat(8 * 1024 * 1024 + 1));
  expect(await find(at, canary)).toEqual({ hits: [], more: false, tooSlow: false, skipped: 3 });
  expect(find(at, canary, { under: p("link") })).rejects.toMatchObject({ code: "path_refused" });
});

test("a pattern is found however it begins", async () => {
  using at = openFolder();
  at.file("a", "colour\nab\naab\nxéy color\n");
  at.file("b", Buffer.from("\ufeffcolor\n", "utf16le"));
  const found = async (pattern: string) => (await shown(at, pattern)).map((hit) => hit.replace(/:.*:/, ":"));
  expect(await found("colou?r")).toEqual(["a:colour", "a:xéy color", "b:color"]);
  expect(await found("color|colour")).toEqual(["a:colour", "a:xéy color", "b:color"]);
  expect(await found("aa*b")).toEqual(["a:ab", "a:aab"]);
  expect(await found("aa{0,1}b$")).toEqual(["a:ab", "a:aab"]);
  expect(await found("xéy")).toEqual(["a:xéy color"]);
});

test.each(["needle", "need[l]e+"])("a process that has searched for %s ends", async (pattern) => {
  using at = openFolder();
  at.file("f", "needle\n");
  const program = `
    const { openWorkspace } = await import(${JSON.stringify(join(import.meta.dir, "../../src/workspace/open.ts"))});
    const options = { stateDir: null, home: null, force: true, policy: { allow: [], deny: [] }, env: {}, commandEnv: [] };
    const { workspace } = await openWorkspace({ ...options, root: process.cwd(), umask: 0 });
    const query = { ignoreCase: false, under: "", include: null, maxHits: 9, staged: new Map() };
    console.log((await workspace.search({ ...query, pattern: ${JSON.stringify(pattern)} })).hits.length);
  `;
  const child = Bun.spawn([process.execPath, "-e", program], { cwd: at.path, stdout: "pipe", timeout: 60_000 });
  expect([await child.stdout.text(), await child.exited]).toEqual(["1\n", 0]);
});

describe("a pattern", () => {
  test.each([
    ["(a+)+$", `${"a".repeat(40)}b`],
    ["\\s+$", `${" ".repeat(120_000)}x`],
  ])("%s that never ends is reported as too slow, not as no match", async (pattern, line) => {
    using at = openFolder();
    at.file("f", `${line}\n`);
    expect(await find(at, pattern)).toMatchObject({ hits: [], tooSlow: true });
  });

  test("that is invalid is an error; so is a missing folder", async () => {
    using at = openFolder();
    expect(find(at, "a(b")).rejects.toMatchObject({ code: "file_unusable" });
    expect(find(at, "a", { under: p("none") })).rejects.toMatchObject({ message: "none does not exist" });
  });
});

test("each line is tried on its own, whatever the whole text would say", () => {
  const text = "\nfoo bar\r\n\nfoo\nbarfoo\u2028x\nlast";
  const ways = "^$,foo$,^foo,foo(?! bar),(?<!bar)foo,foo\\s+bar,o[^]*b,\\bbar,^[^x]*$,last$,$,x*,(?=r)";
  for (const source of ways.split(",")) {
    const one = new RegExp(source);
    const expected = text.split("\n").flatMap((line, index) => {
      const content = line.replace(/\r$/, "");
      return one.test(content) ? [{ line: index + 1, text: content }] : [];
    });
    expect([source, openLineMatcher({ source, ignoreCase: false })(text, 100).hits]).toEqual([source, expected]);
  }
});
