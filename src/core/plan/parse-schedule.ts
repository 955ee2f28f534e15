/** Reads eight-step's schedule (mode, reply and steps in one value) from a model's JSON. */
import * as z from "zod/mini";
import {
  complexity,
  type FieldNames,
  fileLists,
  filled,
  lenientCommands,
  leniently,
  lenientText,
  listOf,
  nameFields,
  namesSeveral,
  objectOf,
  type Reading,
  readLeniently,
  texts,
  toText,
} from "../json.ts";
import { type Fields, isFields, type Json } from "../model.ts";
import { type PlanAction, rowOf } from "../vocabulary.ts";
import { openEnvelope, readPlan } from "./parse-plan.ts";
import { describeReply, type Plan, type PlanStep, planOf, workOf } from "./plan.ts";

const step = objectOf({ title: lenientText, hint: lenientText });
const scopeFields = { ...fileLists, commands: lenientCommands };

const form = objectOf({
  mode: leniently((value) => toText(value).trim().toLowerCase(), z.enum(["chat", "look", "task"])),
  complexity,
  reply: lenientText,
  steps: listOf(step),
  looks: listOf(objectOf({ action: lenientText, target: lenientText, destination: lenientText })),
  scope: filled(scopeFields),
});

export const describeSchedule = (): Json => describeReply(form.schema);

type Written = z.infer<typeof form.schema>;

function planOfSchedule({ mode, complexity: assessed, reply, steps, scope }: Written): Plan {
  if (mode === "chat")
    return { intent: "conversation", reply, analysis: null, execution_plan: null, intelligence_notes: null };
  const { commands, ...files } = scope ?? noScope;
  const rows: readonly (readonly [PlanAction, readonly string[]])[] = [
    ["READ", files.files_to_read],
    ["WRITE", files.files_to_create],
    ["MODIFY", files.files_to_modify],
    ["RM", files.files_to_delete],
    ["RUN", commands],
  ];
  const planned = planOf({
    reply,
    analysis: {
      user_intent: "",
      target_identification: "",
      ...files,
      risk_assessment: "",
      success_criteria: steps.map(({ title, hint }) => (hint === "" ? title : `${title}: ${hint}`)),
    },
    steps: rows.flatMap(([action, targets]) => targets.map((target) => ({ action, target, destination: null }))),
    checks: [],
    complexity: assessed,
  });
  return { ...planned, intent: "task" };
}

const noScope = { files_to_read: [], files_to_create: [], files_to_modify: [], files_to_delete: [], commands: [] };

const wordOf = (value: Json | undefined) => toText(value).trim().toLowerCase();

/** Reads a request to look, or an answer in the form of a single-shot plan; null: it is neither. */
function readLooks(value: Json): Reading<Schedule> | null {
  const held = isFields(value) ? openEnvelope(value) : value;
  if (!isFields(held)) return null;
  const looks = { intent: "look", reply: held["reply"] ?? "", execution_plan: { steps: held["looks"] ?? [] } };
  const isOwn = wordOf(held["mode"]) === "look";
  if (!isOwn && !["look", "conversation", "task"].includes(wordOf(held["intent"]))) return null;
  const reading = readPlan(isOwn ? looks : held);
  if (!reading.ok) return reading;
  const plan = reading.value;
  if (plan.intent !== "task") return { ok: true, value: { plan, steps: [] } };
  return {
    ok: false,
    why: isOwn ? 'mode "look" has looks only' : "steps is missing: a task needs 2 to 6 steps with a title",
  };
}

/** Reads a schedule; `why` is worded for the model that has to repair it. */
export function readSchedule(value: Json): Reading<Schedule> {
  const looks = readLooks(value);
  if (looks !== null) return looks;
  const schedule = unpackSchedule(value);
  const written = readLeniently(form, schedule, "the reply");
  if (!written.ok) return written;
  const { mode, reply, steps, scope } = written.value;
  if (mode === "chat" && reply.trim() === "")
    return { ok: false, why: 'reply is empty: in mode "chat" it is the whole answer' };
  if (mode === "task" && steps.length === 0) return { ok: false, why: "steps is empty: a task needs 2 to 6 steps" };
  if (mode === "task" && isForeignScope(schedule))
    return { ok: false, why: `scope must be an object with the lists ${Object.keys(scopeFields).join(", ")}` };
  const several = Object.values(scope ?? {})
    .flat()
    .find((path) => !scope?.commands.includes(path) && namesSeveral(path));
  if (several !== undefined) return { ok: false, why: `scope: ${several} must be one path: an entry for each file` };
  return { ok: true, value: { plan: planOfSchedule(written.value), steps: joinSurplus(steps) } };
}

const score = leniently(
  (value) => {
    const number = Math.round(Number(toText(value).replace(/\s*\/\s*10\s*$/, "")));
    return number >= 1 && number <= 10 ? number : null;
  },
  z.nullable(z.int().check(z.minimum(1), z.maximum(10))),
);

const yes = /^(?:true|yes|pass(?:ed)?|success(?:ful)?|ok|1)$/i;
// A verdict such as "pass, but …" has not passed.
const no = /^(?:false|no|fail|unsuccess|incomplete|partial|0|true|yes|pass|success|ok|1)/i;

const verdictForm = objectOf({
  passed: leniently((value) => yes.test(toText(value)) || (no.test(toText(value)) ? false : value), z.boolean()),
  quality_score: score,
  reasons: texts,
  next_fix: texts,
});

export const describeVerdict = (): Json => describeReply(verdictForm.schema);

export type StepVerdict = z.infer<typeof verdictForm.schema>;

export function readVerdict(value: Json): StepVerdict | null {
  const named = isFields(value) ? nameFields(verdictNames, openEnvelope(value, isVerdict)) : value;
  const reading = readLeniently(verdictForm, named, "the verdict");
  return reading.ok ? reading.value : null;
}

const names: FieldNames = { scope: ["files"], reply: ["response", "answer", "message"] };
const stepNames: FieldNames = { title: ["name", "step", "task"], hint: ["description", "details"] };
const scopeNames: FieldNames = {
  files_to_read: ["read"],
  files_to_create: ["create", "write"],
  files_to_modify: ["modify", "edit"],
  files_to_delete: ["delete", "remove"],
  commands: ["run"],
};

const nameStep = (step: Json): Json =>
  typeof step === "string" ? { title: step, hint: "" } : nameFields(stepNames, step);

/** Brings a schedule into pai's form: out of an envelope, fields renamed, the mode taken from the steps if missing. */
function unpackSchedule(value: Json): Json {
  const schedule = isFields(value) ? nameFields(names, openEnvelope(value)) : value;
  if (!isFields(schedule)) return schedule;
  const { mode = null, steps = null, scope = null } = schedule;
  const hasSteps = Array.isArray(steps) && steps.length > 0;
  return {
    ...schedule,
    mode: mode === null && hasSteps ? "task" : mode,
    steps: Array.isArray(steps) ? steps.map(nameStep) : steps,
    scope: nameFields(scopeNames, scope),
  };
}

const verdictNames: FieldNames = {
  passed: ["pass", "success", "status", "verdict", "result"],
  quality_score: ["score", "quality"],
  reasons: ["reason", "issues"],
  next_fix: ["next_fixes", "fixes", "fix"],
};

const isVerdict = (value: Fields) => ["passed", "pass", "quality_score"].some((name) => name in value);

/** Whether a scope has only unknown fields: read as empty, it would have every later action refused. */
function isForeignScope(schedule: Json): boolean {
  const scope = isFields(schedule) ? (schedule["scope"] ?? null) : null;
  if (!isFields(scope)) return scope !== null && scope !== "" && !(Array.isArray(scope) && scope.length === 0);
  const keys = Object.keys(scope);
  return keys.length > 0 && !keys.some((key) => key in scopeNames);
}

const maxIterations = 5;

export interface ScheduleStep {
  readonly title: string;
  readonly hint: string;
}

/** A schedule, and a plan with its scope as steps, so that rights, approval and undo work as for any plan. */
export interface Schedule {
  readonly plan: Plan;
  readonly steps: readonly ScheduleStep[];
}

/** The schedule for a plan of single-shot (`--mode auto`): a step for each action that needs a right. */
export function scheduleOf(plan: Plan): Schedule {
  const steps = workOf(plan);
  const toStep = ({ action, target, purpose }: PlanStep) => ({ title: `${action} ${target}`, hint: purpose });
  const work = steps.filter(({ action }) => rowOf(action)?.right !== null);
  return { plan, steps: work.length === 0 ? joinFrom(0, steps.map(toStep)) : joinSurplus(work.map(toStep)) };
}

const joinSurplus = (steps: readonly ScheduleStep[]) => joinFrom(maxIterations - 1, steps);

function joinFrom(at: number, steps: readonly ScheduleStep[]): readonly ScheduleStep[] {
  const last = steps.slice(at);
  if (last.length < 2) return steps;
  const joined = {
    title: last.map(({ title }) => title).join("; "),
    hint: last.flatMap(({ hint }) => hint || []).join("; "),
  };
  return [...steps.slice(0, at), joined];
}

/** The mean score of all steps, with one decimal; null: one of them has no score. */
export function meanOf(scores: readonly (number | null)[]): number | null {
  const sum = scores.reduce((all, score) => (all === null || score === null ? null : all + score), 0);
  return sum === null || scores.length === 0 ? null : Math.round((10 * sum) / scores.length) / 10;
}
