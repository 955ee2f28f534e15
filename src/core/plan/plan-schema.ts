/** The JSON Schema with which plans are requested, made at build time: one object, so that bridges can recognise it. */
import type { Json } from "../model.ts";
import { describePlan } from "./reply-schemas.ts" with { type: "macro" };

export const planJsonSchema: Json = describePlan();
