/** Diffs count right and are what git itself would apply. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { applyPatch } from "diff";
import fc from "fast-check";
import { countLines, renderChanges, summarizeAll } from "../../src/core/diff.ts";
import { digest } from "../../src/core/digest.ts";
import { matchLines, splitLines } from "../../src/core/line-diff.ts";
import { newFolder } from "../grounds.ts";
import { change, file } from "./changes.ts";
import { expectCpu } from "./cpu-time.ts";

const edit = (before: string, after: string) => renderChanges([change("a.txt", file(before), file(after))]);

test("counts lines that begin with -- or ++ like any other", () => {
  const sql = "-- old comment\nselect 1;\n-- second\n";
  expect(countLines(file(sql), file("select 1;\n-- second\n"))).toEqual({ added: 0, deleted: 1 });
  expect(countLines(file("a\n"), file("a\n++i;\n+++ b/x\n"))).toEqual({ added: 2, deleted: 0 });
  expect(edit("-- x\n", "++ y\n")).toEndWith("@@ -1 +1 @@\n--- x\n+++ y\n");
});

test.each([
  ["a new file", null, file("a\nb\nc"), 3, 0],
  ["a file that is gone", file("a\nb\n"), null, 0, 2],
  ["a last line without its end", file("a\n"), file("a"), 1, 1],
  ["an empty file", null, file(""), 0, 0],
  ["another mode", file("x\n"), file("x\n", 0o755), 0, 0],
  ["binary content", file(new Uint8Array([0, 1, 2, 10])), null, 0, 0],
  ["a folder", null, { kind: "folder", mode: 0o755 }, 0, 0],
] as const)("counts the lines of %s", (_, before, after, added, deleted) => {
  expect(countLines(before, after)).toEqual({ added, deleted });
});

test("shows a change with three lines of context; hunks are apart where four lines or more lie between them", () => {
  const old = Array.from({ length: 26 }, (_, i) => `${i + 1}\n`);
  const now = [...old];
  now[4] = "five\n";
  now[14] = "fifteen\n";
  now[25] = "twenty-six\n";
  const rows = (from: number, to: number) => old.slice(from - 1, to).map((line) => ` ${line}`);
  const hunks = [
    ...["@@ -2,17 +2,17 @@\n", ...rows(2, 4), "-5\n+five\n", ...rows(6, 14), "-15\n+fifteen\n", ...rows(16, 18)],
    ...["@@ -23,4 +23,4 @@\n", ...rows(23, 25), "-26\n+twenty-six\n"],
  ];
  expect(edit(old.join(""), now.join(""))).toBe(
    `diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n${hunks.join("")}`,
  );
});

test.each([
  [change("x", null, file("hi\n", 0o755)), "new file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+hi\n"],
  [
    change("x", file("a\nb"), null),
    "deleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n",
  ],
  [change("x", null, file("")), "new file mode 100644\n"],
  [change("x", file("a"), file("a", 0o755)), "old mode 100644\nnew mode 100755\n"],
  [change("x", file("a", 0o664), file("a", 0o775)), "old mode 100644\nnew mode 100755\n"],
  [change("x", file("a", 0o755), file("a", 0o600)), "old mode 100755\nnew mode 100600\n"],
  [change("x", file(new Uint8Array([0, 1])), file("a")), "Binary files a/x and b/x differ\n"],
])("shows new and deleted files against /dev/null, modes and binary files (%#)", (only, shown) => {
  expect(renderChanges([only])).toBe(`diff --git a/x b/x\n${shown}`);
});

test("shows a move as a rename, once, with what changed on the way", () => {
  const moved = [change("old.txt", file("a\nb\n"), null), change("new.txt", null, file("a\nc\n"), "old.txt")];
  expect(renderChanges(moved)).toBe(
    "diff --git a/old.txt b/new.txt\nrename from old.txt\nrename to new.txt\n--- a/old.txt\n+++ b/new.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
  );
});

test("shows links, folders and names with blanks", () => {
  expect(renderChanges([change("x", { kind: "link", target: "y" }, null)])).toContain("deleted file mode 120000");
  expect(renderChanges([change("d", null, { kind: "folder", mode: 0o755 })])).toBe("new folder d/\n");
  expect(renderChanges([change("a b", file(""), file("x\n"))])).toContain("--- a/a b\t\n+++ b/a b\t\n");
  expect(renderChanges([])).toBe("");
});

test("says that bytes differ when the text does not show it", () => {
  const latin = file(new Uint8Array([0xe9, 10]));
  expect(renderChanges([change("x", latin, file("é\n"))])).toEndWith("Binary files a/x and b/x differ\n");
  expect(edit("\ufeffa\n", "a\n")).toEndWith("-\ufeffa\n+a\n");
});

test("summarizes with hashes of the bytes and no content", () => {
  const after = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  expect(summarizeAll([change("x", null, file("abc"))], () => "plan")).toEqual([
    { path: "x", op: "create", from: null, added: 1, deleted: 0, before: null, after, by: "plan" },
  ]);
});

const text = fc
  .array(fc.constantFrom("a\n", "b\n", "c\r\n", "--x\n", "++y\n", "\n", " z\n"), { maxLength: 25 })
  .chain((lines) => fc.constantFrom("", "end").map((end) => lines.join("") + end));

/** Length of the longest common subsequence, the slow and certain way. */
function slowCommon(a: readonly string[], b: readonly string[]): number {
  let row = b.map(() => 0);
  for (const line of a) {
    const next: number[] = [];
    for (const [j, other] of b.entries()) {
      next.push(line === other ? (row[j - 1] ?? 0) + 1 : Math.max(row[j] ?? 0, next[j - 1] ?? 0));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

test("property: an alignment is ascending, pairs equal lines, and is the longest", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const [a, b] = [splitLines(before), splitLines(after)];
      const matches = matchLines(a, b);
      expect(a.join("")).toBe(before);
      expect(matches.length).toBe(slowCommon(a, b));
      for (const [n, [i, j]] of matches.entries()) {
        const [lastI, lastJ] = matches[n - 1] ?? [-1, -1];
        expect([a[i] === b[j], i > lastI, j > lastJ]).toEqual([true, true, true]);
      }
    }),
  );
});

test("property: the diff of a file leads from before to after", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      fc.pre(before !== after);
      expect(applyPatch(before, edit(before, after), { autoConvertLineEndings: false })).toBe(after);
    }),
  );
});

test("git applies what is shown", () => {
  const changes = [
    change("mod.txt", file("one\ntwo\r\nthree"), file("one\n2\r\nthree\n")),
    change("sub/new file.txt", null, file("-- a\n++ b")),
    change("gone.txt", file("x\n"), null),
    change("from.txt", file("k\nl\nm\nn\no\n"), null),
    change("to.txt", null, file("k\nl\nM\nn\no\n"), "from.txt"),
    change("run.sh", file("a\n"), file("a\n", 0o755)),
    change('o"d\x1b\t\\\x7f 日.txt', file("a\n"), file("b\n")),
  ];
  const folder = newFolder("disk", "diff");
  for (const { path, before } of changes) {
    if (before?.kind !== "file") continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), before.bytes, { mode: before.mode });
  }
  const git = Bun.spawnSync(["git", "apply", "-"], { cwd: folder, stdin: Buffer.from(renderChanges(changes)) });
  expect(git.stderr.toString()).toBe("");
  for (const { path, after } of changes) {
    if (after?.kind === "file") expect(readFileSync(join(folder, path))).toEqual(Buffer.from(after.bytes));
  }
});

test("huge texts that share little order are aligned in bounded time", () => {
  const lines = Array.from({ length: 30_000 }, (_, i) => `line ${i} ${i % 7}\n`);
  const shuffled = lines.map((_, i) => lines[(i * 7919) % lines.length] ?? "");
  const compare = () => {
    const { added, deleted } = countLines(file(lines.join("")), file(shuffled.join("")));
    expect(added).toBe(deleted);
    expect(added).toBeLessThan(30_000);
  };
  expectCpu(4000, compare);
});

test("a move is one change: it counts the lines that differ from its origin, which only from names", () => {
  const [old, now] = ["1\n2\n3\n4\n", "1\n2\n3\nfour\n"] as const;
  const told = summarizeAll([change("b", null, now, "a"), change("a", old, null)], () => "plan");
  const hashes = { before: digest(old), after: digest(now) };
  expect(told).toEqual([{ path: "b", op: "move", from: "a", added: 1, deleted: 1, ...hashes, by: "plan" }]);
});
