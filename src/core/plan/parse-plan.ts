/** Reads a plan from a model's JSON: tolerant of form, strict about meaning. */

import * as z from "zod/mini";
import { replyCaps } from "../caps.ts";
import type { Json } from "../model.ts";
import { isPlanned, namesPath, needsTarget, rowOf, vocabulary } from "../vocabulary.ts";
import {
  barePath,
  complexity,
  fileLists,
  filled,
  lenientCommands,
  leniently,
  lenientText,
  listOf,
  namesSeveral,
  objectOf,
  readLeniently,
  texts,
  toList,
  toTarget,
  toText,
} from "./lenient.ts";
import { asksToLook, type Plan, type PlanStep, workOf } from "./plan.ts";
import { plainAction, unpackPlan } from "./plan-form.ts";
import type { Reading } from "./reading.ts";

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

const form = objectOf({
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

/** The schema with which a plan is requested and checked; the order of fields matters to providers that keep it. */
export const planSchema = form.schema;

/** Why a well-formed plan still cannot be followed; null when it can. */
function findFault(plan: Plan): string | null {
  if (plan.intent === "conversation")
    return plan.reply.trim() === "" ? 'reply is empty: with intent "conversation" it is the whole answer' : null;
  const steps = plan.execution_plan?.steps ?? [];
  if (steps.length === 0) return `execution_plan.steps is empty: a ${plan.intent} needs its steps`;
  if (workOf(plan).length === 0) return 'the plan holds no work; an answer or a question is intent "conversation"';
  if (steps.length > replyCaps.steps)
    return `execution_plan.steps holds ${steps.length} steps: at most ${replyCaps.steps}; plan a part of the task`;
  const faults = steps.flatMap(({ action, target, destination }, at) => {
    if (needsTarget(action) && target.trim() === "") return `execution_plan.steps.${at}.target is empty (${action})`;
    if (namesPath(action) && namesSeveral(target))
      return `execution_plan.steps.${at}.target must be one path: a step for each file (${action})`;
    const { form: takes = "path" } = rowOf(action) ?? {};
    return (takes === "pair" || takes === "setting") && !destination
      ? `execution_plan.steps.${at}.destination is missing (${action})`
      : [];
  });
  return faults.length === 0 ? null : faults.slice(0, 5).join("; ");
}

const bareStep = (written: PlanStep, at: number): PlanStep => {
  const step = { ...written, step_number: written.step_number || at + 1 };
  return namesPath(step.action)
    ? { ...step, target: barePath(step.target), destination: step.destination && barePath(step.destination) }
    : step;
};

/** A plan that says "look" but would change something is a task. */
const settleIntent = (plan: Plan): Plan =>
  plan.intent !== "look" || asksToLook(plan) ? plan : { ...plan, intent: "task" };

/** Reads the plan; `why` is worded for the model that has to repair it. */
export function readPlan(value: Json): Reading<Plan> {
  const reading = readLeniently<Plan>(form, unpackPlan(value), "the reply");
  if (!reading.ok) return reading;
  const { execution_plan: held, ...rest } = reading.value;
  const plan = { ...rest, execution_plan: held && { ...held, steps: held.steps.map(bareStep) } };
  const fault = findFault(plan);
  return fault === null ? { ok: true, value: settleIntent(plan) } : { ok: false, why: fault };
}
