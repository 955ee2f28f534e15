/** The schema of a plan in Gemini's dialect, made at build time by a macro, since most runs begin with a plan. */
import type { Json } from "../../core/model.ts";
import { describePlan } from "../../core/plan/reply-schemas.ts";
import { toGeminiSchema } from "./schema.ts";

export const planForGemini = (): Json => toGeminiSchema(describePlan());
