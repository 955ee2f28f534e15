/** Lines that changed since the model saw them are never overwritten. */
import { expect, test } from "bun:test";
import { applyEdits } from "../../../src/core/edit/apply-edits.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const edit = (shown: string, now: string, search: string, replace: string) =>
  applyEdits({ path: "a.txt", now: bytes(now), shown: bytes(shown), blocks: [{ search, replace }] });

test("a block over lines of which one has changed is refused", () => {
  const shown = "one\ntwo\nthree\nfour\n";
  for (const now of ["one\nTWO\nthree\nfour\n", "one\ntwo\nnew\nthree\nfour\n", "one\nthree\nfour\n"]) {
    expect(edit(shown, now, "one\ntwo\nthree\n", "eins\nzwei\ndrei\n")).toMatchObject({ kind: "refused" });
  }
});

test("a block beside lines that have changed is applied", () => {
  const result = edit("one\ntwo\nthree\n", "new\none\ntwo\nTHREE\n", "one\ntwo\n", "eins\nzwei\n");
  expect(result).toMatchObject({ kind: "applied", bytes: bytes("new\neins\nzwei\nTHREE\n") });
});
