/** Fields of a model's JSON under other names than ours, where only one of ours can be meant. */
import { isFields, type Json } from "../model.ts";

/** Fields by their own names, each with those that models give it. */
export type FieldNames = Readonly<Record<string, readonly string[]>>;

const isBlank = (value: Json | undefined) => value == null || value === "";

/** The value with its fields under their own names; the names of others count only where its own says nothing. */
export function nameFields(names: FieldNames, value: Json): Json {
  if (!isFields(value)) return value;
  const meant = Object.entries(names).flatMap(([own, others]) => {
    const other = isBlank(value[own]) ? others.find((name) => !isBlank(value[name])) : null;
    return other == null ? [] : [[own, value[other] ?? null] as const];
  });
  return { ...value, ...Object.fromEntries(meant) };
}
