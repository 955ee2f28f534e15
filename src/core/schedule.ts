/** The schedule of eight-step (spec 2.7): classification, response and steps in one value, read like a plan. */
import { z } from "zod";
import { joinSurplus, type Schedule } from "./iterations.ts";
import { complexity, filled, text, texts, toList, toText } from "./lenient.ts";
import type { Json } from "./model.ts";
import type { Plan, PlanAction, PlanStep } from "./plan-type.ts";

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

type Written = z.infer<typeof scheduleSchema>;

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
