/** The input of an action as JSON Schema; loaded only where models are offered tools. */
import { toJSONSchema, type ZodMiniType } from "zod/mini";
import type { Json } from "../core/model.ts";

export const toolSchemaOf = (input: ZodMiniType): Json =>
  toJSONSchema(input, { io: "input", reused: "inline" }) as Json;
