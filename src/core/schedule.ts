/** The schedule of eight-step (spec 2.7): classification, response and steps in one value, read like a plan. */
import { z } from "zod";
import { complexity, filled, text, texts, toList, toText } from "./lenient.ts";
import type { Json } from "./model.ts";
import type { Plan, PlanAction, PlanStep } from "./plan-type.ts";

/** Iterations a run may take; further steps join the last. */
export const mostIterations = 5;

const step = z.object({ title: text, hint: text });

/** As it is asked for and as it is read. */
export const scheduleSchema = z.object({
  mode: z.preprocess((value) => toText(value).trim().toLowerCase(), z.enum(["chat", "task"])),
  complexity,
  reply: text,
  steps: z.preprocess(toList, z.array(step)),
  scope: filled({
    files_to_read: texts,
    files_to_create: texts,
    files_to_modify: texts,
    files_to_delete: texts,
    commands: texts,
  }),
});

export interface ScheduleStep {
  readonly title: string;
  readonly hint: string;
}

/** A schedule and the plan it stands for: its scope as steps, so that rights, approval and undo are the plan's. */
export interface Schedule {
  readonly plan: Plan;
  readonly steps: readonly ScheduleStep[];
}

type Written = z.infer<typeof scheduleSchema>;

/** What a run goes by may also be a plan of single-shot (`--mode auto`): its steps are grouped into iterations. */
export function scheduleOf(plan: Plan): Schedule {
  const steps = (plan.execution_plan?.steps ?? []).filter(({ action }) => action !== "FINISH");
  const told = steps.map(({ action, target, purpose }) => ({ title: `${action} ${target}`, hint: purpose }));
  return { plan, steps: joinSurplus(told) };
}

/** At most as many steps as there are iterations: what is more joins the last. */
function joinSurplus(steps: readonly ScheduleStep[]): readonly ScheduleStep[] {
  const last = steps.slice(mostIterations - 1);
  if (last.length < 2) return steps;
  const joined = { title: last.map(({ title }) => title).join("; "), hint: last.map(({ hint }) => hint).join("; ") };
  return [...steps.slice(0, mostIterations - 1), joined];
}

function planOf({ mode, complexity: assessed, reply, steps, scope }: Written): Plan {
  if (mode === "chat")
    return { intent: "conversation", reply, analysis: null, execution_plan: null, intelligence_notes: null };
  const rows: readonly (readonly [PlanAction, readonly string[]])[] = [
    ["READ", scope?.files_to_read ?? []],
    ["WRITE", scope?.files_to_create ?? []],
    ["MODIFY", scope?.files_to_modify ?? []],
    ["RM", scope?.files_to_delete ?? []],
    ["RUN", scope?.commands ?? []],
  ];
  const planned = rows.flatMap(([action, targets]) => targets.map((target) => ({ action, target })));
  return {
    intent: "task",
    reply,
    analysis: {
      user_intent: "",
      target_identification: "",
      files_to_read: scope?.files_to_read ?? [],
      files_to_create: scope?.files_to_create ?? [],
      files_to_modify: scope?.files_to_modify ?? [],
      files_to_delete: scope?.files_to_delete ?? [],
      risk_assessment: "",
      success_criteria: steps.map(({ title }) => title),
    },
    execution_plan: {
      steps: planned.map(
        ({ action, target }, at): PlanStep => ({
          step_number: at + 1,
          action,
          target,
          destination: null,
          purpose: "",
          depends_on: [],
          expected_outcome: "",
        }),
      ),
      checks: [],
      fallback_strategies: [],
    },
    intelligence_notes: {
      complexity_assessment: assessed,
      estimated_time: "",
      key_challenges: [],
      recommendations: steps.map(({ title, hint }) => (hint === "" ? title : `${title}: ${hint}`)),
    },
  };
}

export type ScheduleReading =
  | { readonly ok: true; readonly value: Schedule }
  | { readonly ok: false; readonly why: string };

/** `why` is worded for the model that has to repair it. */
export function readSchedule(value: Json): ScheduleReading {
  const parsed = scheduleSchema.safeParse(value);
  if (!parsed.success) {
    const issues = parsed.error.issues.slice(0, 5);
    return {
      ok: false,
      why: issues.map(({ path, message }) => `${path.join(".") || "the reply"}: ${message}`).join("; "),
    };
  }
  const { mode, reply, steps } = parsed.data;
  if (mode === "chat" && reply.trim() === "")
    return { ok: false, why: 'reply is empty: in mode "chat" it is the whole answer' };
  if (mode === "task" && steps.length === 0) return { ok: false, why: "steps is empty: a task needs 2 to 6 steps" };
  return { ok: true, value: { plan: planOf(parsed.data), steps: joinSurplus(steps) } };
}

const score = z.preprocess((value) => {
  const number = Math.round(Number(value));
  return number >= 1 && number <= 10 ? number : null;
}, z.int().min(1).max(10).nullable());

/** What the integrity call answers. */
export const verdictSchema = z.object({
  passed: z.preprocess((value) => value === true || /^(true|yes|pass(ed)?)$/i.test(toText(value)), z.boolean()),
  quality_score: score,
  reasons: texts,
  next_fix: texts,
});

export type Verdict = z.infer<typeof verdictSchema>;

/** An unreadable verdict is a failed one without a score. */
export function readVerdict(value: Json): Verdict {
  const parsed = verdictSchema.safeParse(value);
  return parsed.success ? parsed.data : unreadable("the verdict could not be read");
}

export const unreadable = (why: string): Verdict => ({
  passed: false,
  quality_score: null,
  reasons: [why],
  next_fix: [],
});
