/** Long changes on a screen: folded where the plan approved them, whole where a person decides on them now. */
import { expect, test } from "bun:test";
import { renderChanges } from "../../../src/core/diff.ts";
import type { RelPath } from "../../../src/core/path.ts";
import { stamp, watch } from "../fixture.ts";

const lines = Array.from({ length: 300 }, (_, n) => `line ${n}\n`).join("");
const path = "long.py" as RelPath;
const diff = renderChanges([
  { path, before: null, after: { kind: "file", mode: 0o644, bytes: new TextEncoder().encode(lines) }, from: null },
]);
const summary = {
  path,
  op: "create",
  from: null,
  added: 300,
  deleted: 0,
  before: null,
  after: null,
  by: "plan",
} as const;

function shown(options: Parameters<typeof watch>[0], asked: boolean): string {
  const { terminal, writes } = watch({ kind: "session", screen: true, ...options });
  const proposed = { type: "changes.proposed", batch: 1, changes: [summary], diff } as const;
  const event = asked ? ({ ...proposed, asked } as const) : proposed;
  for (const each of stamp([event])) terminal.sink(each);
  terminal.pause();
  return writes.join("");
}

test("what the plan approved is folded after two screens, with the way to the rest, also where a person answers", () => {
  for (const asks of [true, false]) {
    const text = shown({ asks }, false);
    expect([text.includes("line 10"), text.includes("line 299")]).toEqual([true, false]);
    expect(text).toContain("240 more lines: /diff long.py");
  }
});

test("what a person decides on now is whole; where nobody is asked it is folded", () => {
  expect(shown({ asks: true }, true)).toContain("line 299");
  expect(shown({ asks: false }, true)).not.toContain("line 299");
});
