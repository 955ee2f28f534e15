/** Renames fields of a model's JSON to pai's names, where only one of these can be meant. */
import { isFields, type Json } from "../model.ts";

/** By pai's name of a field: other names that models give it. */
export type FieldNames = Readonly<Record<string, readonly string[]>>;

const isBlank = (value: Json | undefined) => value == null || value === "";

/** The value with its fields under pai's names; another name counts only when the field itself is missing or blank. */
export function nameFields(names: FieldNames, value: Json): Json {
  if (!isFields(value)) return value;
  const meant = Object.entries(names).flatMap(([own, others]) => {
    const other = isBlank(value[own]) ? others.find((name) => !isBlank(value[name])) : null;
    return other == null ? [] : [[own, value[other] ?? null] as const];
  });
  return { ...value, ...Object.fromEntries(meant) };
}
