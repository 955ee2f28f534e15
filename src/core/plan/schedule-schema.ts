/** JSON Schemas of eight-step's values, made while building (imported as macros). */
import { toJSONSchema } from "zod/mini";
import type { Json } from "../model.ts";
import { scheduleSchema, verdictSchema } from "./parse-schedule.ts";

export const describeSchedule = (): Json => toJSONSchema(scheduleSchema, { io: "output", reused: "inline" }) as Json;
export const describeVerdict = (): Json => toJSONSchema(verdictSchema, { io: "output", reused: "inline" }) as Json;
