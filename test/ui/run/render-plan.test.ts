/** The plan fits every terminal, and no target is ever cut. */
import { expect, test } from "bun:test";
import type { Plan, PlanStep } from "../../../src/core/plan/plan.ts";
import { renderPlan } from "../../../src/ui/run/render-plan.ts";
import { plan, promise, styleOf } from "../fixture.ts";

const at = (columns: number) => renderPlan(plan, promise, styleOf(true), { columns });

test("fits 40 to 200 columns, wide characters measured right (R35)", () => {
  for (let columns = 40; columns <= 200; columns++) {
    const widths = at(columns)
      .split("\n")
      .map((line) => Bun.stringWidth(line));
    expect([columns, Math.max(...widths) <= columns]).toEqual([columns, true]);
  }
});

test("a target too wide for its column is wrapped at its slashes, never cut", () => {
  for (const columns of [40, 56, 80, 200]) {
    const text = at(columns).replace(/\s+/g, "");
    for (const { target } of plan.execution_plan?.steps ?? []) {
      for (const part of target.split("/")) expect([columns, text]).toEqual([columns, expect.stringContaining(part)]);
    }
  }
});

const { analysis, execution_plan: work } = plan;
const [first] = work?.steps ?? [];
if (first === undefined || work === null || analysis === null) throw new Error("no steps");
/** The plan with other steps and no checks. */
const planOf = (more: Partial<typeof analysis>, steps: readonly PlanStep[]): Plan => ({
  ...{ ...plan, analysis: { ...analysis, ...more }, execution_plan: { ...work, steps, checks: [] } },
});

test("steps are numbered by their order, and a file a step names is not listed again", () => {
  const steps = ["./a.py", "b.py"].map((target) => ({ ...first, step_number: 0, target }));
  const read = { files_to_read: ["a.py", "c.py"], files_to_create: [], risk_assessment: "low" };
  const text = renderPlan(planOf(read, steps), { ...promise, tokens: 0 }, styleOf(true), { columns: 80 });
  expect(text).toContain("   1  READ    ./a.py");
  expect(text).toContain("   2  READ    b.py");
  expect(text.split("\n\n")[1]).toBe("reads     c.py\nmodifies  src/main.py\ncalls     expected 2, at most 3 calls\n");
});

test("a schedule, whose steps have no purposes, shows what it aims at instead", () => {
  const aims = { success_criteria: ["Write the section", "Link the notes"], risk_assessment: "low" };
  const shown = renderPlan(planOf(aims, [{ ...first, purpose: "" }]), promise, styleOf(true), { columns: 80 });
  expect(shown).not.toContain("purpose");
  expect(shown).toMatch(/aims +1\. Write the section\n +2\. Link the notes/);
  expect(at(80)).not.toContain("aims");
});
