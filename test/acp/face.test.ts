/** What an editor is shown of changes, plans, ends and what is remembered: nothing that is asked about stays unseen. */
import { expect, test } from "bun:test";
import { createFace, describeChanges, renderEnd, renderPromise } from "../../src/acp/face.ts";
import type { Change } from "../../src/core/change.ts";
import { renderChanges, summarizeAll } from "../../src/core/diff.ts";
import type { RelPath } from "../../src/core/path.ts";
import { planOf } from "../flows/plans.ts";
import { outcome } from "../ui/fixture.ts";

const file = (text: string) => ({ kind: "file", bytes: new TextEncoder().encode(text), mode: 0o644 }) as const;

test.each(["plain.txt", 'we"ird.txt', 'ends in"', '"quoted"', "a b", "b/x", "a/a/x", "é.txt"])(
  "a change of %s is shown with both of its sides",
  async (name) => {
    const change: Change = { path: name as RelPath, before: file("old\n"), after: file("new\n"), from: null };
    const shown = { changes: summarizeAll([change], () => "plan"), diff: renderChanges([change]) };
    const said = await describeChanges(shown, { readText: async () => "old\n", absolute: (path) => `/root/${path}` });
    expect(said).toEqual([{ type: "diff", path: `/root/${name}`, oldText: "old\n", newText: "new\n" }]);
  },
);

test("what is remembered is shown, with the way to drop it", async () => {
  const sent: string[] = [];
  const face = createFace({
    send: async (update) => void sent.push(JSON.stringify(update)),
    absolute: (path) => path,
    readText: async () => null,
  });
  const facts = [{ id: "ab12cd34", text: "tests run with make check", pending: false }];
  face.sink({ type: "memory.kept", facts } as never);
  await face.shown();
  expect(sent.join()).toContain("Remembered: tests run with make check (dropped with: pai memory drop ab12cd34)");
});

test("one call is a call, two are calls", () => {
  const plan = planOf({ steps: ["WRITE a.txt"] });
  const said = (expected: number) =>
    renderPromise(plan, { expected, at_most: 2, tokens: null, cost: null }, plan.reply);
  expect(said(1)).toContain("1 step. Expected 1 model call, at most 2.");
  expect(said(2)).toContain("Expected 2 model calls, at most 2.");
});

test("where the checks never settle, the end names what changed", () => {
  const ended = { ...outcome, status: "unverified", unsettled: ["a.py"], checks: outcome.checks.slice(0, 1) } as const;
  expect(renderEnd(ended, "")).toContain("unverified: a.py changed each time the check ran. ");
});
