/** The plan's JSON Schema, made while building (imported as a macro), so that zod need not load before the first request. */
import { toJSONSchema } from "zod/mini";
import type { Json } from "../model.ts";
import { planSchema } from "./parse-plan.ts";

/** Plain JSON Schema (draft 2020-12) of a plan as a model should write it. */
export function describePlan(): Json {
  return toJSONSchema(planSchema, { io: "output", reused: "inline" }) as Json;
}
