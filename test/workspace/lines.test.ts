/** Ranges of lines, from files of any size. */
import { expect, test } from "bun:test";
import { truncateSync } from "node:fs";
import { join } from "node:path";
import { readLines } from "../../src/workspace/search/read-lines.ts";
import { type Folder, openFolder, p } from "./folder.ts";

const lines = (at: Folder, from: number, to: number) => readLines(at.root, p("f"), from, to);

test.each([
  ["a\nb\nc\n", 1, 2, "a\nb", 2, 3],
  ["a\nb\nc", 2, 9, "b\nc", 3, 3],
  ["a\r\nb\r\n", 1, 2, "a\nb", 2, 2],
  ["a\n\n\n", 1, 2, "a\n", 2, 3],
  ["a\n", 5, 9, "", 4, 1],
  ["", 1, 9, "", 0, 0],
  ["\n", 1, 1, "", 1, 1],
])("of %j lines %d to %d", async (content, from, to, text, last, total) => {
  using at = openFolder();
  at.file("f", content);
  expect(await lines(at, from, to)).toEqual({ text, from, to: last, total });
});

test("a line across two chunks, and Latin-1 where it is not UTF-8", async () => {
  using at = openFolder();
  at.file("f", `${"é".repeat(200_000)}\nx\n`);
  expect((await lines(at, 1, 1)).text).toBe("é".repeat(200_000));
  at.file("f", Buffer.from("caf\xe9\nx", "latin1"));
  expect((await lines(at, 1, 1)).text).toBe("café");
});

test("a huge line is cut at a character", async () => {
  using at = openFolder();
  at.file("f", `a${"é".repeat(1_000_000)}`);
  const { text, total } = await lines(at, 1, 1);
  expect([text.length, text.at(-1), total]).toEqual([524_288, "é", 1]);
});

test("a file too large to count has lines and no total; a binary one and a missing one are errors", async () => {
  using at = openFolder();
  at.file("f", `first\n${"x".repeat(300_000)}\n`);
  truncateSync(join(at.path, "f"), 1024 ** 3);
  expect(await lines(at, 1, 1)).toEqual({ text: "first", from: 1, to: 1, total: null });
  at.file("f", "a\0b");
  expect(lines(at, 1, 1)).rejects.toMatchObject({ code: "file_unusable", message: "f is binary" });
  expect(readLines(at.root, p("none"), 1, 1)).rejects.toMatchObject({ message: "none does not exist" });
});
