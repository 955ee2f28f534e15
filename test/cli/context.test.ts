/** `pai context`: all that the first call would send, weighed, and nothing sent. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { commands } from "../../src/cli/command-table.ts";
import { renderPreview, renderRanking } from "../../src/cli/commands/context.ts";
import { factsOf } from "../../src/core/receipt.ts";
import type { Preview, RankedFile } from "../../src/flows/preview.ts";
import { finish, plan, write } from "../flows/plans.ts";
import { makeFolder } from "../flows/scripted.ts";
import { makeHome } from "../store/temp-home.ts";
import { openProcess } from "./fake-context.ts";
import { idOf, receiptsOf, record } from "./recorded.ts";

const command = commands.find(({ name }) => name === "context");
const key = "sk-proj-4Kz9Qw2Rt7Yp1Lm8Nv3Xb6Hc5Jd0Fg";

function open(files: Readonly<Record<string, string>>) {
  const { home, run } = openProcess(makeHome(), files);
  if (command === undefined) throw new Error("there is no pai context");
  const ask = (task: string, flags = {}) => run(command, { words: [task], flags });
  const preview = async (task: string, flags = {}): Promise<Preview & { readonly model: string }> => {
    const said = await ask(task, { json: true, ...flags });
    expect(said).toMatchObject({ code: 0, err: "" });
    return JSON.parse(said.out).data;
  };
  return { home, ask, preview };
}

test("every part is named with its tokens and lines, without a key", async () => {
  const long = Array.from({ length: 9000 }, (_, n) => `${n + 1}\n`).join("");
  const { preview } = open({ "AGENTS.md": "# Rules\n", "src/long.txt": long, "a.txt": "one\ntwo" });
  const { parts, tokens, promise, cost, model } = await preview("change src/long.txt");
  const listed = parts.map(({ kind, path }): string => path ?? kind).join(" ");
  expect(listed).toBe("instructions AGENTS.md environment tree ranked src/long.txt a.txt request");
  const whole = { shown: 2, total: 2, ranges: [{ from: 1, to: 2 }] };
  expect(parts.find(({ path }) => path === "a.txt")?.lines).toEqual(whole);
  const shown = parts.find(({ path }) => path === "src/long.txt")?.lines;
  expect([shown?.total, (shown?.shown ?? 0) > 100, (shown?.shown ?? 0) < 9000]).toEqual([9000, true, true]);
  expect(tokens).toBe(parts.reduce((sum, part) => sum + part.tokens, 0));
  expect([promise, model]).toEqual([{ expected: 1, at_most: 4 }, "gemini:gemini-3.5-flash-lite"]);
  expect(cost).toBeGreaterThan(0);
});

test("values that would be sent as names are listed by file and line, never shown", async () => {
  const { ask, preview } = open({ "a.py": `x = 1\n\napi_key = "${key}"\n`, "b.py": `y = 2\ntoken = "${key}"\n` });
  const { masked, parts } = await preview("look at a.py and b.py");
  expect(masked).toBe(1);
  const places = parts.flatMap(({ path, masked: at }) => at.map((line) => `${path}:${line}`));
  expect(places).toEqual(["a.py:3", "b.py:2"]);
  const { out } = await ask("look at a.py and b.py");
  expect(out).toContain("masked  1 value, sent as names: a.py:3, b.py:2");
  expect(out).toContain("Nothing was sent");
  expect(out).not.toContain(key);
});

test("each mode says what it would send and promise; a cap holds", async () => {
  const { preview } = open({ "a.txt": "one\n", "MEMORY.md": "remember\n" });
  expect((await preview("do it", { mode: "eight-step" })).promise).toEqual({ expected: 1, at_most: 4 });
  expect((await preview("do it", { mode: "auto" })).promise).toEqual({ expected: 1, at_most: 14 });
  const loop = await preview("do it", { mode: "tool-loop" });
  expect(loop.promise).toEqual({ expected: 1, at_most: 50 });
  const kinds = loop.parts.map(({ kind }) => kind).join(" ");
  expect(kinds).toBe("instructions knowledge environment tree file request");
  expect((await preview("do it", { maxCalls: 1 })).promise).toEqual({ expected: 1, at_most: 1 });
});

test("what it says is what the run then sends", async () => {
  const files = { "a.txt": "one\n", "b/c.txt": "two\n" };
  const { preview } = open(files);
  const place = makeFolder(files);
  const lines = [plan({ steps: ["WRITE d.txt"] }), write("d.txt", "d\n") + finish()];
  await record(place, { task: "make d.txt", lines });
  const { facts } = (await receiptsOf(place)).read(idOf(1));
  const [context] = factsOf(facts, "context.sent");
  const sent = context?.files.map(({ path }) => path);
  const { parts } = await preview("make d.txt");
  expect(sent).toEqual(["a.txt", "b/c.txt"]);
  expect(parts.flatMap(({ path }) => path ?? []) as string[]).toEqual(sent ?? []);
});

test("nothing is kept of it: no receipt, no log, no journal", async () => {
  const { home, ask } = open({ "a.txt": "one\n" });
  expect((await ask("do it")).code).toBe(0);
  expect(existsSync(join(home.root, ".pai_history"))).toBe(false);
  expect(existsSync(home.places.stateDir ?? "")).toBe(false);
});

test("a missing request and an unusable model are errors", async () => {
  const { ask } = open({});
  expect((await ask("")).code).toBe("usage");
  expect((await ask("do it", { model: "nobody:x" })).code).not.toBe(0);
});

test("columns are aligned, whatever script the paths are in (R35)", async () => {
  const { ask } = open({ "a.txt": "one\n", "文档/说明书.md": "two\n" });
  const rows = (await ask("look")).out.split("\n").filter((line) => line.endsWith(" tokens"));
  expect(rows.length).toBeGreaterThan(3);
  expect(new Set(rows.map((row) => Bun.stringWidth(row))).size).toBe(1);
});

const none = { kind: "code", named: null, symbols: [], lines: [], definitions: [] } as const;
const figures = { words: 0.5, history: 0.2, frequency: 0.9, score: 1 } as const;
const rankedAs = (path: string, over: Partial<RankedFile> = {}): RankedFile => ({ ...none, ...figures, path, ...over });
const long = "lib/ansible/galaxy/collection/concrete_artifact_manager_with_a_name.py";
const definitions = [{ name: "Bar", line: 300 }];
const ranking = [
  rankedAs("src/click/_termui_impl.py", { named: "request", lines: [1, 20, 300], definitions }),
  rankedAs("文档/说明书.md", { kind: "document" }),
  rankedAs(long, { kind: "test" }),
];

test.each([80, 60, 40])(
  "on a terminal of %p columns, reasons stand beside or below their path, and nothing is cut",
  (columns) => {
    const found = { ranking, lacks: ["history: older commits are not in this shallow clone"] };
    const text = renderRanking(found, columns);
    const rows = text.split("\n");
    expect(rows.filter((row) => Bun.stringWidth(row) > columns)).toEqual([]);
    const written = (of: string) => of.replace(/\s/g, "");
    expect(written(text)).toBe(written(renderRanking(found, null)));
  },
);

test("reasons say no more than is known", () => {
  const text = renderRanking({ ranking, lacks: ["history: git was not found"] }, null);
  expect(text).toContain("named in the request at lines 1, 20, defines Bar at line 300, words 0.50");
  expect(text).toContain("\nmissing  history: git was not found\n");
  const weak = { words: 0.004, history: 0, frequency: 0 } as const;
  const many = Array.from({ length: 30 }, (_, at) => rankedAs(`a${at}.py`, at < 5 ? {} : weak));
  const listed = renderRanking({ ranking: many, lacks: [] }, 80);
  expect(listed).toContain(" a4.py ");
  expect(listed).not.toContain(" a5.py ");
  expect(listed).toEndWith("\n  and others: --json lists 25 more\n");
});

test("a large file of one line that the request names is shown in part, however few files there are", async () => {
  const { ask, preview } = open({ "page.js": `var price=${"a".repeat(1_200_000)}`, "a.js": "var a = 1;\n" });
  const { parts } = await preview("fix the price in page.js");
  expect(parts.find(({ path }) => path === "page.js")?.lines).toEqual({ shown: 0, total: 1, ranges: [] });
  expect((await ask("fix the price in page.js")).out).toMatch(/page\.js {2}a part of 1 line {2,}\d+ tokens/);
});

test.each([80, 50])(
  "on a terminal of %p columns, the tokens of all parts are there, and no line is wider",
  (columns) => {
    const lines = { shown: 3, total: 1984, ranges: [760, 822, 925, 990].map((from) => ({ from, to: from + 9 })) };
    const parts = [
      { kind: "tree", path: null, tokens: 732, lines: null, masked: [] },
      { kind: "file", path: long, tokens: 2599, lines, masked: [] },
      { kind: "file", path: "a.py", tokens: 12, lines, masked: [3] },
    ] as unknown as Preview["parts"];
    const promise = { expected: 1, at_most: 4 };
    const found = { parts, tokens: 3343, masked: 1, ranking, lacks: [], promise, cost: 0.1 };
    const text = renderPreview("gemini:gemini-3.5-flash-lite", "single-shot", found as Preview, columns);
    const rows = text.split("\n");
    expect(rows.filter((row) => Bun.stringWidth(row) > columns)).toEqual([]);
    expect(rows.filter((row) => / tokens(?: |$)/.test(row))).toHaveLength(4);
    expect(text.split(/\n? +/).join(" ")).toContain("lines 760-769, 822-831, 925-934, … of 1984");
  },
);

const likely = {
  "shop/cart.py": `${"x = 1\n".repeat(900)}def empty_cart(): pass\n`,
  "shop/tax.py": "y = 2\n".repeat(900),
  "README.md": `# Cart\n${"words\n".repeat(3000)}`,
};

test("pai context says which files are likely, and why", async () => {
  const { ask, preview } = open(likely);
  const { out } = await ask("empty the cart; see shop/tax.py");
  const first = out.split("\n").slice(0, 4);
  expect(first.map((line) => line.trimEnd())).toEqual([
    "The likeliest files, and why (figures are relative to the highest one):",
    "   1  shop/tax.py   named in the request, words 1.00",
    expect.stringMatching(/^ {3}2 {2}shop\/cart\.py {2}words 0\.\d\d$/),
    expect.stringMatching(/^ {3}3 {2}README\.md {5}words 0\.\d\d, a document file$/),
  ]);
  const named = (await ask("tax: let `empty_cart` take more")).out.split("\n");
  expect(named.slice(1, 3).map((line) => line.replace(/words.*/, "words"))).toEqual([
    "   1  shop/cart.py  defines empty_cart at line 901, words",
    "   2  shop/tax.py   matches tax, words",
  ]);
  const { ranking } = await preview("empty the cart; see shop/tax.py");
  const about = { kind: "code", named: "request", lines: [], symbols: [], history: 0 } as const;
  expect(ranking[0]).toMatchObject({ path: "shop/tax.py", ...about });
});
