/** A saved plan with finished edits has no more rights than its steps say. */
import { expect, test } from "bun:test";
import type { Change } from "../../../src/core/change.ts";
import type { RelPath } from "../../../src/core/path.ts";
import { followPlan } from "../../../src/flows/single-shot.ts";
import { planOf } from "../plans.ts";
import { play } from "../scripted.ts";

const created = (path: string, text: string): Change => ({
  path: path as RelPath,
  before: null,
  after: { kind: "file", bytes: new TextEncoder().encode(text), mode: 0o644 },
  from: null,
});
const saved = planOf({ steps: ["WRITE a.txt"] });

test("edits that the steps name are applied without a call", async () => {
  const { outcome, files } = await play({ lines: [], flow: followPlan(saved, [created("a.txt", "1\n")]) });
  expect(outcome).toMatchObject({ code: 0, calls: { made: 0, expected: 0, at_most: 0 } });
  expect(files).toEqual({ "a.txt": "1\n" });
});

test("an edit that no step names is refused, and with it all the others", async () => {
  const changes = [created("a.txt", "1\n"), created("b.txt", "2\n")];
  const { outcome, files } = await play({ lines: [], flow: followPlan(saved, changes) });
  expect([outcome.code, outcome.error?.code, files]).toEqual([12, "scope_refused", {}]);
});

test("the guard judges finished edits like any others", async () => {
  const changes = [created("a.txt", "// ... rest of the code unchanged ...\n")];
  const { outcome, files } = await play({ lines: [], flow: followPlan(saved, changes) });
  expect([outcome.code, outcome.error?.code, files]).toEqual([8, "guard_refused", {}]);
});
