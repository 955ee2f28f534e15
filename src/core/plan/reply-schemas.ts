/** JSON Schemas of plan, schedule and verdict, as models get them. */
import { toJSONSchema } from "zod/mini";
import type { Json } from "../model.ts";
import { scheduleSchema, verdictSchema } from "./parse-schedule.ts";
import { planSchema } from "./plan.ts";

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

/** Plain JSON Schema (draft 2020-12) of a plan as a model should write it. */
export const planJsonSchema = toJSONSchema(planSchema, {
  io: "output",
  reused: "inline",
  override: ({ jsonSchema }) => {
    for (const name of unasked) delete jsonSchema.properties?.[name];
    if (jsonSchema.required !== undefined)
      jsonSchema.required = jsonSchema.required.filter((name) => !unasked.has(name));
  },
}) as Json;

export const describeSchedule = (): Json => toJSONSchema(scheduleSchema, { io: "output", reused: "inline" }) as Json;
export const describeVerdict = (): Json => toJSONSchema(verdictSchema, { io: "output", reused: "inline" }) as Json;
