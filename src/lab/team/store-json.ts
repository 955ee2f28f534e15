/** JSON that PostgreSQL accepts. */

const storable = (_: string, value: unknown): unknown =>
  typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\u{fffd}") : value;

/** The value as JSON, with U+FFFD for NUL and lone surrogates, which PostgreSQL refuses. */
export const storeJson = (value: object): string => JSON.stringify(value, storable);
