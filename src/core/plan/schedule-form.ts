/** Brings a schedule into its own form when a model wrote it in another: only where one reading is possible. */

import { type Fields, isFields, type Json } from "../model.ts";
import { type FieldNames, nameFields } from "./field-names.ts";
import { openEnvelope } from "./plan-form.ts";

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

/** A schedule inside an envelope, steps and scope in other words, a mode that only the steps tell. */
export function unpackSchedule(value: Json): Json {
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

/** A verdict inside an envelope, or in other words. */
export function unpackVerdict(value: Json): Json {
  return isFields(value) ? nameFields(verdictNames, openEnvelope(value, isVerdict)) : value;
}

/** A scope that names something and none of its fields: read as empty, it would let everything be refused later. */
export function isForeignScope(schedule: Json): boolean {
  const scope = isFields(schedule) ? (schedule["scope"] ?? null) : null;
  if (!isFields(scope)) return scope !== null && scope !== "" && !(Array.isArray(scope) && scope.length === 0);
  const keys = Object.keys(scope);
  return keys.length > 0 && !keys.some((key) => key in scopeNames);
}
