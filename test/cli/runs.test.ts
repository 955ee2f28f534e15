/** The lines of `pai history`: one a run, or two where the terminal is too narrow. */
import { expect, test } from "bun:test";
import { type ListedRun, renderRows, toRow } from "../../src/cli/commands/history.ts";
import { describeLosses, renderListed } from "../../src/cli/session/render-resumed.ts";
import type { ReadSession } from "../../src/core/session/session.ts";
import { firstLine } from "../../src/ui/sanitize.ts";

const run: ListedRun = {
  id: "20261123-011207921-808e",
  task: "fix the failing tests of the shop, and add a changelog for them",
  at: "2026-11-23T01:12:07.921Z",
  status: "applied",
  changes: [],
  left: [],
  bytes: 0,
  outcome: {
    ...{ status: "verified", code: 0, mode: "eight-step", score: null, cost: 0.0016, model: "gemini:x" },
    ...{ calls: 10, tokens: 13_228, ms: 134_000, lines: { added: 8, deleted: 3 } },
    actions: { done: 2, failed: 2, refused: 0 },
  },
};
const rows = [toRow(run), toRow({ ...run, outcome: null, status: "unchanged" })];

test("a pipe and a wide terminal get one line a run", () => {
  const lines = `20261123-011207921-808e  2026-11-23 01:12  applied      verified, 10 calls, 13,228 tokens, $0.0016, 2 of 4 actions, +8 -3, 2 min 14 s  fix the failing tests of the shop, and add a changelog for t
20261123-011207921-808e  2026-11-23 01:12  unchanged    fix the failing tests of the shop, and add a changelog for t
`;
  expect(renderRows(rows, null)).toBe(lines);
  expect(renderRows(rows, 200)).toBe(lines);
});

test("on a narrow terminal a run goes on below, and no line is wider", () => {
  const shown = renderRows(rows, 80);
  expect(shown.split("\n").filter((line) => Bun.stringWidth(line) > 80)).toEqual([]);
  expect(shown).toBe(`20261123-011207921-808e  2026-11-23 01:12  applied      verified, 10 calls,
  13,228 tokens, $0.0016, 2 of 4 actions, +8 -3, 2 min 14 s
  fix the failing tests of the shop, and add a changelog for them
20261123-011207921-808e  2026-11-23 01:12  unchanged
  fix the failing tests of the shop, and add a changelog for them
`);
});

test("a run that only made a plan is called planned, and neither answered nor unverified", () => {
  const { outcome } = run;
  if (outcome === null) throw new Error("the run has not ended");
  const ended = { ...outcome, status: "unverified", actions: { done: 0, failed: 0, refused: 0 } } as const;
  const row = toRow({ ...run, status: "planned", outcome: ended });
  expect(`${row.lead}  ${row.facts}`).toBe(
    "20261123-011207921-808e  2026-11-23 01:12  planned      10 calls, 13,228 tokens, $0.0016, +8 -3, 2 min 14 s",
  );
});

test("where a session in a list has no room, its request goes on below itself", () => {
  const row = { id: "20261123-011207921-808e", changed: 0, turns: 3, preview: "refactor the router into two files" };
  expect(renderListed(row, null)).toBe(
    "20261123-011207921-808e  1970-01-01 00:00  3 turns  refactor the router into two files",
  );
  expect(renderListed(row, 66)).toBe(
    `20261123-011207921-808e  1970-01-01 00:00  3 turns  refactor the\n${" ".repeat(25)}router into two files`,
  );
  expect(renderListed({ ...row, preview: "fix this:\nTraceback\n  File" }, null)).toEndWith("  fix this: …");
});

test("an undone task of several lines is named by its first, on one line", () => {
  expect([firstLine("fix it\nand test it\n"), firstLine("fix it\n")]).toEqual(["fix it …", "fix it"]);
});

test("a session that goes on with another model says which one it had", () => {
  const session = { turns: [{ model: "gemini:gemini-3.8-flash" }, { model: "" }] };
  const read = { session, damaged: 0 } as unknown as ReadSession;
  expect(describeLosses(read, "gemini:gemini-3.8-flash")).toEqual([]);
  expect(describeLosses(read, "gemini:gemini-3.5-flash-lite")).toEqual([
    "its last turn asked gemini:gemini-3.8-flash: /model gemini:gemini-3.8-flash goes on so",
  ]);
});

test("what a run that was rolled back has left stands in its line, with the way to take it out", () => {
  const { facts } = toRow({ ...run, status: "rolled_back", outcome: null, left: ["a.txt"] });
  expect(facts).toBe("left: a.txt (pai undo)");
});
