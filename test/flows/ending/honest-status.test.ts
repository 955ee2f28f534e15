/** What a run may call itself: what was refused or left undone is named, and never ends as answered. */
import { describe, expect, test } from "bun:test";
import { finish, modify, planTo } from "../plans.ts";
import { play, stopper } from "../scripted.ts";

const files = { "a.txt": "one\n", "b.txt": "one\n" };
const good = modify("a.txt", ["one\n", "two\n"]);
const other = modify("b.txt", ["one\n", "two\n"]);

describe("what is refused", () => {
  test("fails a run with 12 that did nothing else, and the hint says what would have allowed it", async () => {
    const lines = [planTo("RUN true"), other + finish("Fixed."), finish("Fixed.")];
    const ran = await play({ files, lines, options: { allowRun: true } });
    expect(ran.outcome).toMatchObject({ ok: false, code: 12, status: "failed", refused: [{ target: "b.txt" }] });
    expect(ran.outcome.error?.message).toContain("b.txt");
    expect(ran.outcome.error?.hint).toContain("b.txt");
  });

  test("fails a run with 12 whose check stays red without it: the path is named before --keep", async () => {
    const check = "grep -q two a.txt && grep -q two b.txt";
    const lines = [planTo("MODIFY a.txt"), good + other + finish("Fixed."), finish("Fixed.")];
    const ran = await play({ files, lines, options: { checks: [check] } });
    expect(ran.outcome).toMatchObject({ code: 12, changes: [], error: { code: "scope_refused" } });
    expect(ran.outcome.error?.message).toMatch(/check failed: .*b\.txt was refused/);
    expect(ran.outcome.error?.hint).toContain("name b.txt in the task");
    expect(ran.outcome.error?.hint).toEndWith("--keep keeps the changes all the same");
  });

  test("is forgotten once a later phase has done it", async () => {
    const lines = [planTo("MODIFY a.txt"), modify("a.txt", ["three\n", "two\n"]) + finish(), good + finish("Now.")];
    const ran = await play({ files, lines });
    expect(ran.outcome).toMatchObject({ code: 0, refused: [], actions: { done: 1, failed: 1, refused: 0 } });
  });
});

test("looks are counted apart from actions", async () => {
  const lines = [planTo("READ b.txt", "TREE", "MODIFY a.txt"), good + finish()];
  const { outcome } = await play({ files, lines });
  expect([outcome.looks, outcome.actions]).toEqual([2, { done: 1, failed: 0, refused: 0 }]);
});

test("a command that ended badly is counted as an action that failed", async () => {
  const lines = [planTo("MODIFY a.txt", "RUN false"), `${good}RUN::false\n${finish()}`, finish()];
  const { outcome } = await play({ files, lines, options: { allowRun: true } });
  expect(outcome).toMatchObject({ code: 15, refused: [], actions: { done: 1, failed: 1, refused: 0 } });
});

test("the plan's schema asks for no field that nobody reads, and reads them where they come", async () => {
  const made = JSON.parse(planTo("MODIFY a.txt"));
  made.intelligence_notes.estimated_time = "a minute";
  const ran = await play({ files, lines: [JSON.stringify(made), good + finish()] });
  const schema = JSON.stringify(ran.requests[0]?.format?.schema);
  for (const name of ["estimated_time", "key_challenges", "recommendations", "fallback_strategies", "depends_on"])
    expect(schema).not.toContain(name);
  expect(schema).toContain("success_criteria");
  expect(ran.outcome.plan?.intelligence_notes?.estimated_time).toBe("a minute");
});

test("a request that is broken off before its reply begins is counted as sent, with its input", async () => {
  const { signal, stop } = stopper();
  const { outcome } = await play({ files: {}, lines: [{ text: "", before: stop }], signal });
  expect(outcome).toMatchObject({ code: 130, calls: { made: 0, sent: 1 } });
  expect(outcome.usage.input).toBeGreaterThan(100);
});
