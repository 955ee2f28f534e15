/** The tools as a model meets them: Pilot's own cases and the defects of its tools, on a real folder. */
import { beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { allActions } from "../../src/actions/registry.ts";
import type { Json } from "../../src/core/model.ts";
import type { Workspace } from "../../src/core/ports.ts";
import { createOverlay } from "../../src/flows/stage.ts";
import { placeFiles } from "../flows/scripted.ts";
import { newFolder } from "../grounds.ts";
import { openBare } from "../workspace/bare.ts";

let root = "";
let workspace: Workspace;
const { signal } = new AbortController();

const place = (files: Readonly<Record<string, string>>) => placeFiles(root, files);

beforeEach(async () => {
  const base = newFolder("disk", "tools");
  root = join(base, "work");
  place({
    "hello.go": 'package main\n\nfunc main() {\n\tprintln("hello")\n}\n',
    "hello_test.go": "package main\n",
    "sub/nested.go": "package sub\n\nvar x = 1\n",
    "readme.md": "# Hello\n",
  });
  ({ workspace } = await openBare(root, join(base, "state"), { force: false }));
});

/** What the tool answers or proposes; a refusal as its text. */
async function use(tool: string, input: Json): Promise<string> {
  const action = allActions.find((each) => each.tool === tool);
  if (action === undefined) throw new Error(`no tool ${tool}`);
  try {
    const proposal = await action.propose(action.fromTool(input), createOverlay(workspace), signal);
    return proposal.kind === "command"
      ? proposal.command
      : `${proposal.kind === "complaint" ? "complaint: " : ""}${proposal.text}`;
  } catch (thrown) {
    return `refused: ${(thrown as Error).message}`;
  }
}

describe("glob", () => {
  test.each([
    ["**/*.go", "hello.go\nhello_test.go\nsub/nested.go"],
    ["**/*_test.go", "hello_test.go"],
    ["*.go", "hello.go\nhello_test.go"],
    ["sub/*.go", "sub/nested.go"],
    ["./*.go", "hello.go\nhello_test.go"],
    ["*.{go,md}", "hello.go\nhello_test.go\nreadme.md"],
    ["s*/**/*.go", "sub/nested.go"],
    ["**/*.rs", "no file matches **/*.rs"],
  ])("TestGlobTool %s, sorted, braces and several stars included", async (pattern, found) => {
    expect(await use("glob", { pattern })).toBe(found);
  });
});

test("glob with a folder takes patterns from there and from the root", async () => {
  for (const pattern of ["*.go", "sub/*.go", "**/*.go"])
    expect(await use("glob", { pattern, path: "sub" })).toBe("sub/nested.go");
  expect(await use("glob", { pattern: "hello.go", path: "sub" })).toBe("no file matches hello.go");
});

describe("grep", () => {
  test("TestGrepTool: function, variable, include filter, no match", async () => {
    expect(await use("grep", { pattern: "func main" })).toBe("hello.go:3:func main() {");
    expect(await use("grep", { pattern: "var x" })).toBe("sub/nested.go:3:var x = 1");
    expect(await use("grep", { pattern: "package", include: "*.md" })).toContain("no match");
    expect(await use("grep", { pattern: "zzz" })).toBe("no match for zzz");
  });

  test("include takes braces; a bad pattern is an error; case can be ignored", async () => {
    expect(await use("grep", { pattern: "hello", include: "*.{go,md}", ignore_case: true })).toContain(
      "readme.md:1:# Hello",
    );
    expect(await use("grep", { pattern: "(" })).toMatch(/^(refused|complaint)/);
    expect(await use("grep", { pattern: "a.b(", literal: true })).toContain("no match");
  });

  test("finds matches after a line of 70,000 characters, and cuts at a character", async () => {
    place({ "long.txt": `${"x".repeat(70_000)}\nneedle\n${"é🙂".repeat(400)}hit\n` });
    expect(await use("grep", { pattern: "needle" })).toBe("long.txt:2:needle");
    const cut = await use("grep", { pattern: "hit|🙂", path: "long.txt" });
    expect(cut).not.toContain("\uFFFD");
    expect(Buffer.from(cut).toString("utf8")).toBe(cut);
  });

  test("an ignored folder is searched when it is named, and not otherwise", async () => {
    place({ ".gitignore": "dist/\n", "dist/out.js": "needle\n", "node_modules/a/index.js": "needle\n" });
    expect(await use("grep", { pattern: "needle" })).toContain("no match");
    expect(await use("grep", { pattern: "needle", path: "dist" })).toBe("dist/out.js:1:needle");
    expect(await use("grep", { pattern: "needle", path: "node_modules" })).toContain("node_modules/a/index.js:1");
  });
});

describe("read and ls", () => {
  test("TestReadTool: whole, range, not found", async () => {
    expect(await use("read", { path: "hello.go" })).toContain("3 func main() {");
    expect(await use("read", { path: "hello.go", start_line: 1, end_line: 1 })).toMatch(/^1 package main/);
    expect(await use("read", { path: "nope.go" })).toBe("complaint: nope.go does not exist");
  });

  test("TestLsTool: one level, folders with a slash", async () => {
    expect(await use("ls", {})).toMatch(/^hello\.go {2}\d+ B\nhello_test\.go {2}\d+ B\nreadme\.md {2}\d+ B\nsub\/$/);
  });

  test("a range past the end says how many lines there are", async () => {
    expect(await use("read", { path: "readme.md", start_line: 9, end_line: 12 })).toContain("has only 1 line");
  });

  test("a line number that arrives as text is refused by its name", async () => {
    expect(await use("read", { path: "hello.go", start_line: "x" })).toMatch(/^complaint: .*start_line/);
  });

  test("output is bounded: one line of 300 KB, 5 MB of lines, 5,000 entries", async () => {
    place({ "one.txt": "x".repeat(300_000) });
    place({ "big.txt": `${"y".repeat(1000)}\n`.repeat(5000) });
    for (let at = 0; at < 3000; at += 1) place({ [`many/f${at}`]: "" });
    for (const [tool, path] of [
      ["read", "one.txt"],
      ["read", "big.txt"],
      ["ls", "many"],
    ] as const)
      expect((await use(tool, { path })).length).toBeLessThan(400_000);
    expect(await use("ls", { path: "many" })).toContain("more not shown");
    expect(await use("tree", { path: "many" })).toEndWith("\n(2000 more not shown)");
  });

  test("binary is named, not shown", async () => {
    place({ "a.png": "PNG\x00\x01" });
    expect(await use("read", { path: "a.png" })).toBe("complaint: a.png is binary, 5 bytes");
  });
});

describe("write and edit", () => {
  test("TestEditTool: no match and several matches are reported with their lines", async () => {
    place({ "d.txt": "a\nb\na\n" });
    expect(await use("edit", { path: "d.txt", old_str: "zzz\n", new_str: "y" })).toContain("complaint");
    expect(await use("edit", { path: "d.txt", old_str: "a\n", new_str: "y\n" })).toMatch(/lines 1, 3/);
  });
});

test("what call_tool does not take is named, and nothing of it is dropped", async () => {
  expect(await use("call_tool", { tool: "sum.add", input: { a: 2 } })).toBe('CALL sum.add {"a":2}');
  const guessed = await use("call_tool", { server: "sum", tool: "add", arguments: { a: 2 } });
  expect(guessed).toStartWith("complaint: unusable arguments (");
  expect(guessed).toContain("tool: must be server.tool, and its arguments the object input");
  expect(guessed).toContain('"server", "arguments"');
  expect(await use("call_tool", { tool: "sum.add", a: 2 })).toContain('"a"');
});
