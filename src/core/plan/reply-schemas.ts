/** JSON Schemas of plan, schedule and verdict, as models get them. */
import { toJSONSchema, type z } from "zod/mini";
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

/**
 * JSON Schema (draft 2020-12) in the form that every server takes: all properties required and no others allowed, as the
 * zod schemas say, without limits of numbers and without `$schema`.
 */
function describe(schema: z.core.$ZodType): Json {
  const { $schema: _, ...plain } = toJSONSchema(schema, {
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

export const planJsonSchema = describe(planSchema);
export const describeSchedule = (): Json => describe(scheduleSchema);
export const describeVerdict = (): Json => describe(verdictSchema);
