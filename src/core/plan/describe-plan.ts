/** JSON Schemas of plan, schedule and verdict, made while building (imported as macros), so that zod need not load before the first request. */
import { toJSONSchema } from "zod/mini";
import type { Json } from "../model.ts";
import { planSchema } from "./parse-plan.ts";
import { scheduleSchema, verdictSchema } from "./parse-schedule.ts";

/** Plain JSON Schema (draft 2020-12) of a plan as a model should write it. */
export function describePlan(): Json {
  return toJSONSchema(planSchema, { io: "output", reused: "inline" }) as Json;
}

export const describeSchedule = (): Json => toJSONSchema(scheduleSchema, { io: "output", reused: "inline" }) as Json;
export const describeVerdict = (): Json => toJSONSchema(verdictSchema, { io: "output", reused: "inline" }) as Json;
