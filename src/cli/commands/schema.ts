/** `pai schema`: the published JSON Schemas. */
import { reviewSchema } from "../../core/review.ts";
import { describe } from "../../core/schemas.ts";
import { describeSettings } from "../../store/settings-schema.ts";
import { showResult } from "../answer-document.ts";
import { chooseWord } from "../choose-word.ts";
import type { Context } from "../command.ts";

const names = ["plan", "json", "jsonl", "config", "review"] as const;

export async function schemaCommand(context: Context): Promise<number> {
  const name = chooseWord("schema", context.words, names);
  const schema = name === "config" ? describeSettings() : name === "review" ? reviewSchema : describe(name);
  return showResult(context, "schema", schema, `${JSON.stringify(schema, null, 2)}\n`);
}
