/** `pai schema`: the published JSON Schemas. */
import { describe } from "../core/schemas.ts";
import { chooseWord } from "./choose-word.ts";
import type { Context } from "./command.ts";

const names = ["plan", "json", "jsonl"] as const;

export async function schemaCommand(context: Context): Promise<number> {
  const name = chooseWord("schema", context.words, names);
  context.out(`${JSON.stringify(describe(name), null, 2)}\n`);
  return 0;
}
