/** Reads a plan from a model's JSON: tolerant of form, strict about meaning. */
import { replyCaps } from "../caps.ts";
import {
  barePath,
  type FieldNames,
  maxWraps,
  nameFields,
  namesSeveral,
  type Reading,
  readJson,
  readLeniently,
} from "../json.ts";
import { type Fields, isFields, type Json } from "../model.ts";
import { namesPath, needsTarget, rowOf } from "../vocabulary.ts";
import { type Plan, type PlanStep, planForm, settleIntent, workOf } from "./plan.ts";

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

/** Reads the plan; `why` is worded for the model that has to repair it. */
export function readPlan(value: Json): Reading<Plan> {
  const reading = readLeniently<Plan>(planForm, unpackPlan(value), "the reply");
  if (!reading.ok) return reading;
  const { execution_plan: held, ...rest } = reading.value;
  const plan = { ...rest, execution_plan: held && { ...held, steps: held.steps.map(bareStep) } };
  const fault = findFault(plan);
  return fault === null ? { ok: true, value: settleIntent(plan) } : { ok: false, why: fault };
}

const names: FieldNames = { reply: ["response", "answer", "message"] };

/** Brings a plan into pai's form: out of an envelope, steps gathered, the intent taken from the steps if missing. */
function unpackPlan(value: Json): Json {
  const plan = nameFields(names, isFields(value) ? openEnvelope(value) : value);
  return isFields(plan) ? nameIntent(nameStepFields(gatherSteps(plan))) : plan;
}

const isPlan = (value: Fields) => "intent" in value || "execution_plan" in value || Array.isArray(value["steps"]);

/** The one plan inside envelopes (`{"plan": {…}}`, `{"tool_calls": […]}`), as JSON or text; else the value itself. */
export function openEnvelope(value: Fields, isWanted: (value: Fields) => boolean = isPlan, depth = 0): Fields {
  if (isWanted(value) || depth > maxWraps) return value;
  const held = Object.values(value).flatMap((member) => {
    const inner = openMember(member);
    const found = isFields(inner) ? openEnvelope(inner, isWanted, depth + 1) : null;
    return found !== null && isWanted(found) ? [found] : [];
  });
  return held.length === 1 ? (held[0] ?? value) : value;
}

function openMember(member: Json): Json {
  if (typeof member === "string" && member.trimStart().startsWith("{")) {
    const reading = readJson(member);
    return reading.ok ? reading.value : null;
  }
  return Array.isArray(member) && member.length === 1 ? (member[0] ?? null) : member;
}

function gatherSteps(plan: Fields): Fields {
  const { steps, execution_plan: held, ...rest } = plan;
  if (Array.isArray(held)) return { ...rest, execution_plan: { steps: held } };
  if (!Array.isArray(steps) || isFields(held)) return plan;
  const { checks, fallback_strategies } = rest;
  return { ...rest, execution_plan: { steps, checks: checks ?? [], fallback_strategies: fallback_strategies ?? [] } };
}

const stepNames: FieldNames = {
  action: ["type", "tool", "operation"],
  target: ["path", "file", "file_path", "filepath", "filename", "from", "source", "command", "pattern", "query"],
  destination: ["to", "new_path"],
  purpose: ["description", "reason", "details"],
};

function nameStepFields(plan: Fields): Fields {
  const held = plan["execution_plan"];
  const written = isFields(held) ? held["steps"] : null;
  if (!isFields(held) || !Array.isArray(written)) return plan;
  const steps = written.map((step, at) => {
    const named = nameFields(stepNames, step);
    return isFields(named) ? { step_number: at + 1, ...named } : named;
  });
  return { ...plan, execution_plan: { ...held, steps } };
}

const intents = ["conversation", "look", "task"];

/** Fills in an intent that is missing or unknown: steps make a task, a reply alone makes a conversation. */
function nameIntent(plan: Fields): Fields {
  const { intent, reply, execution_plan: held } = plan;
  if (typeof intent === "string" && intents.includes(intent.trim().toLowerCase())) return plan;
  const steps = isFields(held) && Array.isArray(held["steps"]) ? held["steps"].length : 0;
  if (steps > 0) return { ...plan, intent: "task" };
  const talks = typeof reply === "string" && reply.trim() !== "" && (intent ?? null) === null;
  return talks ? { ...plan, intent: "conversation" } : plan;
}
