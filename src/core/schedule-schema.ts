/** JSON Schemas of eight-step's values, made while building (imported as macros). */
import { z } from "zod";
import type { Json } from "./model.ts";
import { scheduleSchema, verdictSchema } from "./schedule.ts";

export const describeSchedule = (): Json => z.toJSONSchema(scheduleSchema, { io: "output", reused: "inline" }) as Json;
export const describeVerdict = (): Json => z.toJSONSchema(verdictSchema, { io: "output", reused: "inline" }) as Json;
