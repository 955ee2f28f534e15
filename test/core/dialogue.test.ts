/** What a conversation is told of files. */
import { expect, test } from "bun:test";
import { foldDeleted } from "../../src/core/dialogue.ts";

test.each(["\n", "\r\n"])(
  "a diff shows the first six of deleted lines in a row, and how many follow (lines end in %j)",
  (end) => {
    const gone = (count: number) => Array.from({ length: count }, (_, n) => `-${n}${end}`).join("");
    expect(foldDeleted(`--- a\n+++ b\n${gone(9)} kept${end}${gone(6)}`)).toBe(
      `--- a\n+++ b\n${gone(6)}[… 3 more deleted lines]\n kept${end}${gone(6)}`,
    );
  },
);
