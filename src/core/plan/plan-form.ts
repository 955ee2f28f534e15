/** Brings a plan into its own form when a model packed it into another: only where one reading is possible. */

import { readJson } from "../json.ts";
import { type Fields, isFields, type Json } from "../model.ts";
import { ownName, rowOf } from "../vocabulary.ts";
import { type FieldNames, nameFields } from "./field-names.ts";
import { maxWraps } from "./lenient.ts";

/** `LIST PATH`, `list-path`, `write_file`, `CREATE FOLDER` as the action each means. */
export function plainAction(name: string): string {
  const word = name
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, "_");
  const own = ownName(word);
  return rowOf(own) === null ? ownName(word.replace(/_FILES?$/, "")) : own;
}

const names: FieldNames = { reply: ["response", "answer", "message"] };

/** A plan inside an envelope, steps outside of their plan, an intent that only the steps tell. */
export function unpackPlan(value: Json): Json {
  const plan = nameFields(names, isFields(value) ? nestFields(openEnvelope(value)) : value);
  return isFields(plan) ? nameIntent(nameStepFields(gatherSteps(plan))) : plan;
}

/** `{"execution_plan.steps": […]}`: fields by the names that the prompt calls them. */
function nestFields(plan: Fields): Fields {
  let nested = plan;
  for (const [key, value] of Object.entries(plan)) {
    if (!key.includes(".")) continue;
    const [, section = "", field = ""] = /^(analysis|execution_plan|intelligence_notes)\.(\w+)$/.exec(key) ?? [];
    const held = nested[section] ?? {};
    if (field !== "" && isFields(held)) nested = { ...nested, [section]: { ...held, [field]: value } };
  }
  return nested;
}

const isPlan = (value: Fields) =>
  ["intent", "execution_plan", "execution_plan.steps"].some((name) => name in value) || Array.isArray(value["steps"]);

/**
 * `{"plan": {…}}`, `{"tool_calls": [{"function": {"name": "plan", "arguments": "{…}"}}]}`: the one plan that is held,
 * however deep, as JSON or as its text. `isWanted` tells it from its envelopes.
 */
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

/** Steps that are the members of an object, named by their numbers. */
function listSteps(steps: Json): Json {
  if (!isFields(steps)) return steps;
  const members = Object.values(steps);
  return members.length > 0 && members.every(isFields) ? members : steps;
}

/** Steps written beside the intent, or in place of the execution plan. */
function gatherSteps(plan: Fields): Fields {
  const { steps, execution_plan: held, ...rest } = plan;
  if (Array.isArray(held)) return { ...rest, execution_plan: { steps: held } };
  if (!Array.isArray(steps) || isFields(held)) return plan;
  const { checks, fallback_strategies } = rest;
  return { ...rest, execution_plan: { steps, checks: checks ?? [], fallback_strategies: fallback_strategies ?? [] } };
}

/** Names that models give to the fields of a step. */
const stepNames: FieldNames = {
  action: ["type", "tool", "operation"],
  target: ["path", "file", "file_path", "filepath", "filename", "from", "source", "command", "pattern", "query"],
  destination: ["to", "new_path"],
  purpose: ["description", "reason", "details"],
};

function nameStepFields(plan: Fields): Fields {
  const held = plan["execution_plan"];
  const listed = isFields(held) ? listSteps(held["steps"] ?? null) : null;
  if (!isFields(held) || !Array.isArray(listed)) return plan;
  const steps = listed.map((step, at) => {
    const named = nameFields(stepNames, step);
    return isFields(named) ? { step_number: at + 1, ...named } : named;
  });
  return { ...plan, execution_plan: { ...held, steps } };
}

const intents = ["conversation", "look", "task"];

/** An intent that is missing or no word of ours: steps make a task, words alone a conversation. */
function nameIntent(plan: Fields): Fields {
  const { intent, reply, execution_plan: held } = plan;
  if (typeof intent === "string" && intents.includes(intent.trim().toLowerCase())) return plan;
  const steps = isFields(held) && Array.isArray(held["steps"]) ? held["steps"].length : 0;
  if (steps > 0) return { ...plan, intent: "task" };
  const talks = typeof reply === "string" && reply.trim() !== "" && (intent ?? null) === null;
  return talks ? { ...plan, intent: "conversation" } : plan;
}
