/** What Tab offers where. */
import { expect, test } from "bun:test";
import { completeMessage } from "../../src/cli/session/complete.ts";
import type { Workspace } from "../../src/core/ports.ts";

const files = ["docs/how to use.md", "docs/install.md"];
const folders = new Map([
  ["docs/", files.map((path) => ({ path, kind: "file" }))],
  [".", [{ path: "my docs", kind: "folder" }]],
  ["my docs/", ["my docs/one.md", "my docs/one more.md"].map((path) => ({ path, kind: "file" }))],
]);
const workspace = {
  path: (text: string) => text,
  list: async (folder: string) => folders.get(folder) ?? [],
} as unknown as Workspace;

const known = { own: [{ name: "modify" }], files: async () => [] };
const complete = (before: string) => completeMessage(workspace, before, known);
const wordsFor = async (before: string) => (await complete(before))?.words ?? null;

test("slash commands, those that are files, and what may follow two of them", async () => {
  expect(await wordsFor("/mo")).toEqual(["/mode", "/model", "/modify"]);
  expect(await wordsFor("/mode e")).toEqual(["eight-step"]);
  expect(await wordsFor("/model gemini:gemini-2.5-p")).toEqual(["gemini:gemini-2.5-pro"]);
  expect(await wordsFor("/undo x")).toBeNull();
});

test("what tools make is offered last, folders and what is in them", async () => {
  const folder = (path: string) => ({ path, kind: "folder" });
  const names = [".venv", "node_modules", "src"].map(folder);
  const made = { path: (text: string) => text, list: async () => names } as unknown as Workspace;
  const found = ["dist/a.js", "node_modules/a/b.js", "src/a.js"];
  const offered = async (before: string) =>
    (await completeMessage(made, before, { own: [], files: async () => found }))?.words;
  expect(await offered("see @")).toEqual(["src/", ".venv/", "node_modules/"]);
  expect(await offered("see @a.js")).toEqual(["src/a.js", "dist/a.js", "node_modules/a/b.js"]);
});

test("a path with blanks is offered in the quotes that @ takes", async () => {
  expect(await wordsFor("see @docs/")).toEqual(['"docs/how to use.md"', "docs/install.md"]);
  expect(await complete("see @docs/h")).toEqual({ from: 5, words: ['"docs/how to use.md"'] });
});

test("the quotes of a folder stay open, and what is in it is offered behind them", async () => {
  expect(await complete("see @m")).toEqual({ from: 5, words: ['"my docs/'] });
  const within = { from: 5, words: ['"my docs/one.md"', '"my docs/one more.md"'] };
  expect(await complete('see @"my docs/')).toEqual(within);
  expect(await complete('see @"my docs/one m')).toEqual({ from: 5, words: ['"my docs/one more.md"'] });
  expect(await wordsFor('see @"my docs/one.md" and')).toBeNull();
  expect(await wordsFor("请看@docs/i")).toEqual(["docs/install.md"]);
  expect(await wordsFor("me@docs/i")).toBeNull();
});
