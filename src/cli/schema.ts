/** `pai schema`: the published JSON Schemas. */
import { PaiError } from "../core/error.ts";
import { describe } from "../core/schemas.ts";
import type { Context } from "./command.ts";

const names = ["plan", "json", "jsonl"] as const;

export async function schemaCommand(context: Context): Promise<number> {
  const name = names.find((each) => each === context.words[0]);
  if (name === undefined || context.words.length > 1) {
    throw new PaiError("usage", "pai schema takes one of: plan, json, jsonl");
  }
  context.out(`${JSON.stringify(describe(name), null, 2)}\n`);
  return 0;
}
