/** The schema of a plan in Gemini's dialect, made while building (imported as a macro): most runs ask for one first. */
import type { Json } from "../../core/model.ts";
import { describePlan } from "../../core/plan/reply-schemas.ts";
import { toGeminiSchema } from "./schema.ts";

export const planForGemini = (): Json => toGeminiSchema(describePlan());
