/** The JSON Schema that a plan is asked for by, made while building: one object, so that a bridge can know it again. */
import type { Json } from "../model.ts";
import { describePlan } from "./reply-schemas.ts" with { type: "macro" };

export const planJsonSchema: Json = describePlan();
