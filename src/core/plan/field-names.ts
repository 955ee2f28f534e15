/** Renames fields of a model's JSON to pai's names, where only one of these can be meant. */
import { isFields, type Json } from "../model.ts";

/** By pai's name of a field: other names that models give it. */
export type FieldNames = Readonly<Record<string, readonly string[]>>;

const isBlank = (value: Json | undefined) => value == null || value === "";

/** The value with its fields under pai's names; another name counts only when the field itself is missing or blank. */
export function nameFields(names: FieldNames, value: Json): Json {
  if (!isFields(value)) return value;
  const meant: Record<string, Json> = {};
  for (const [own, others] of Object.entries(names)) {
    const other = isBlank(value[own]) ? others.find((name) => !isBlank(value[name])) : undefined;
    if (other !== undefined) meant[own] = value[other] ?? null;
  }
  return { ...value, ...meant };
}
