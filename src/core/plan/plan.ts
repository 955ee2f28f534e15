/** The form of a plan: its schema and type, and how replies are described to a model; `parse-plan.ts` reads one. */
import * as z from "zod/mini";
import {
  complexity,
  fileLists,
  filled,
  lenientCommands,
  leniently,
  lenientText,
  listOf,
  objectOf,
  type ShapeOf,
  texts,
  toList,
  toTarget,
  toText,
} from "../json.ts";
import type { Json } from "../model.ts";
import { isLook, isPlanned, ownName, rowOf, vocabulary } from "../vocabulary.ts";

/** The action that a model's name for it means: `LIST PATH`, `list-path`, `write_file`, `CREATE FOLDER`. */
function plainAction(name: string): string {
  const word = name
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, "_");
  const own = ownName(word);
  return rowOf(own) === null ? ownName(word.replace(/_FILES?$/, "")) : own;
}

const planActions = vocabulary.filter(isPlanned).map(({ name }) => name);

const whole = z.int();
const numbers = leniently((value) => toList(value).map(Number).filter(Number.isInteger), z.array(whole));

const step = objectOf({
  step_number: leniently((value) => Math.trunc(Number(value)) || 0, whole),
  action: leniently((value) => plainAction(toText(value)), z.enum(planActions)),
  target: leniently((value) => (Array.isArray(value) && value.length > 1 ? "" : toTarget(value)), lenientText.schema),
  destination: leniently(
    (value) => (value === "" || value == null ? null : toTarget(value)),
    z.nullable(lenientText.schema),
  ),
  purpose: lenientText,
  depends_on: numbers,
  expected_outcome: lenientText,
});

/** How a plan is read; the order of fields matters to providers that keep it. */
export const planForm = objectOf({
  intent: leniently((value) => toText(value).trim().toLowerCase(), z.enum(["conversation", "look", "task"])),
  reply: lenientText,
  analysis: filled({
    user_intent: lenientText,
    target_identification: lenientText,
    ...fileLists,
    risk_assessment: lenientText,
    success_criteria: texts,
  }),
  execution_plan: filled({
    steps: listOf(step),
    checks: lenientCommands,
    fallback_strategies: texts,
  }),
  intelligence_notes: filled({
    complexity_assessment: complexity,
    estimated_time: lenientText,
    key_challenges: texts,
    recommendations: texts,
  }),
});

export const planSchema = planForm.schema;

/** Fields of a plan that are read when a model sends them, but not requested: nothing depends on them. */
const unasked = new Set([
  "step_number",
  "depends_on",
  "expected_outcome",
  "fallback_strategies",
  "estimated_time",
  "key_challenges",
  "recommendations",
]);

/** JSON Schema (draft 2020-12) that every server takes: all properties required, no others, no limits, no `$schema`. */
export function describeReply(schema: z.core.$ZodType): Json {
  const { $schema: _, ...plain } = z.toJSONSchema(schema, {
    io: "output",
    reused: "inline",
    override: ({ jsonSchema }) => {
      delete jsonSchema.minimum;
      delete jsonSchema.maximum;
      for (const name of unasked) delete jsonSchema.properties?.[name];
      if (jsonSchema.required !== undefined)
        jsonSchema.required = jsonSchema.required.filter((name) => !unasked.has(name));
    },
  });
  return plain as Json;
}

/** A plan. `intent` look: the steps are looks only, and another plan follows their results. */
export type Plan = ShapeOf<typeof planSchema>;
export type PlanStep = NonNullable<Plan["execution_plan"]>["steps"][number];
export type Complexity = NonNullable<Plan["intelligence_notes"]>["complexity_assessment"];

interface PlanParts extends Pick<Plan, "reply" | "analysis"> {
  readonly steps: readonly Pick<PlanStep, "action" | "target" | "destination">[];
  readonly checks: readonly string[];
  readonly complexity: Complexity;
}

/** The plan of these steps, in their order; its intent follows from them. */
export function planOf({ reply, analysis, steps, checks, complexity: assessed }: PlanParts): Plan {
  const open = { purpose: "", depends_on: [], expected_outcome: "" };
  return settleIntent({
    intent: "task",
    reply,
    analysis,
    execution_plan: {
      steps: steps.map((step, at) => ({ ...step, step_number: at + 1, ...open })),
      checks,
      fallback_strategies: [],
    },
    intelligence_notes: {
      complexity_assessment: assessed,
      estimated_time: "",
      key_challenges: [],
      recommendations: [],
    },
  });
}

export const workOf = (plan: Plan): readonly PlanStep[] =>
  (plan.execution_plan?.steps ?? []).filter(({ action }) => rowOf(action)?.kind !== "finish");

/** Sets the intent by the steps: `look` (another plan follows) when all of them only look, else `task`. */
export function settleIntent(plan: Plan): Plan {
  const steps = workOf(plan);
  if (plan.intent === "conversation" || steps.length === 0) return plan;
  return { ...plan, intent: steps.every(({ action }) => isLook(action)) ? "look" : "task" };
}
