/** Reads JSON from the wire: a missing value, or one of another type, gives an empty value, never a crash. */

import { isTooDeep } from "../../core/caps.ts";
import { digest } from "../../core/digest.ts";
import { orNull } from "../../core/error.ts";
import type { Json, ModelRequest } from "../../core/model.ts";

/** A text up to this length cannot be nested too deep for any reader. */
const shortJson = 2000;

/** An object from the wire. Unlike `Fields` of core/model.ts, its values need not be JSON. */
export type WireFields = Readonly<Record<string, unknown>>;

export const fields = (value: unknown): WireFields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as WireFields) : {};

export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

/** More tokens than any request has: who says so does not count. */
const maxCount = 1e9;

/** A whole number from 0 to a thousand million; 0 when it is anything else. */
export const count = (value: unknown): number =>
  typeof value === "number" && value > 0 && value <= maxCount ? Math.floor(value) : 0;

/** The value of a JSON text, or undefined. */
export function parseJson(source: string): unknown {
  const parsed = orNull(() => ({ value: JSON.parse(source) as unknown }));
  return source.length > shortJson && isTooDeep(parsed?.value) ? undefined : parsed?.value;
}

/** The same for all requests of a conversation, which begin alike: the service sends them to the same cache. */
export const cacheKeyOf = ({ system, messages }: ModelRequest): string =>
  digest(JSON.stringify([system, messages[0] ?? null])).slice(0, 32);

/** JSON Schema without `$schema`, which the grammar compilers of some servers reject. */
export function withoutDialect(schema: Json): Json {
  const { $schema: _, ...plain } = fields(schema);
  return plain as Json;
}
