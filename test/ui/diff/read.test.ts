/** What a diff is read as, whatever its content and its masks look like. */
import { expect, test } from "bun:test";
import type { Blob } from "../../../src/core/change.ts";
import { renderChanges } from "../../../src/core/diff.ts";
import type { RelPath } from "../../../src/core/path.ts";
import { parseShownDiff } from "../../../src/ui/diff/read.ts";

const file = (text: string): Blob => ({ kind: "file", bytes: Buffer.from(text), mode: 0o644 });
const edit = (name: string, before: string, after: string) =>
  renderChanges([{ path: name as RelPath, before: file(before), after: file(after), from: null }]);

test("a carriage return or another line end in content begins no file", () => {
  for (const end of ["\r", "\u2028"]) {
    const diff = edit("a", "x\n", `y${end}diff --git a/b b/b${end}new folder c\n`);
    expect(parseShownDiff(diff).map(({ to }) => to)).toEqual(["a"]);
  }
});

test("names keep the blank at their end", () => {
  expect(parseShownDiff(edit("a ", "x\n", "y\n"))[0]).toMatchObject({ from: "a ", to: "a " });
});

test("a part that lost lines, as by a mask, is shown as it is, and the others as ever", () => {
  const diff = edit("a", "1\n2\n3\n", "1\n4\n5\n3\n") + edit("b", "x\n", "y\n");
  const [first, second] = parseShownDiff(diff.replace("+4\n+5\n", "+<<SECRET>>\n"));
  expect(first?.to).toBe("a");
  expect(first?.lines).toContainEqual({ kind: "note", number: null, text: "+<<SECRET>>" });
  expect(second?.lines.map(({ kind }) => kind)).toEqual(["delete", "add"]);
});

test("a new file that can be run says so, with and without lines", () => {
  const made = (content: string, mode: number) => {
    const after: Blob = { kind: "file", bytes: Buffer.from(content), mode };
    return (
      parseShownDiff(renderChanges([{ path: "tool" as RelPath, before: null, after, from: null }]))[0]?.lines ?? []
    );
  };
  for (const content of ["#!/bin/sh\n", "", "\0"]) {
    expect(made(content, 0o755)[0]).toEqual({ kind: "note", number: null, text: "executable" });
    expect(made(content, 0o644).some(({ text }) => text === "executable")).toBe(false);
  }
});
