/** Changes every text in plain data. Pure. */

type Change = (text: string) => string;
type Fields = Readonly<Record<string, unknown>>;

/**
 * The data with every text changed; keys stay. Returns the same value when no text differs: every event and every line
 * of a receipt passes here, mostly unchanged, so nothing is copied before a text differs.
 */
export function mapTexts<T>(value: T, change: Change): T {
  if (typeof value === "string") return change(value) as T;
  if (typeof value !== "object" || value === null) return value;
  const changed: unknown = Array.isArray(value) ? mapList(value, change) : mapFields(value as Fields, change);
  return changed as T;
}

function mapList(list: readonly unknown[], change: Change): readonly unknown[] {
  let changed: unknown[] | null = null;
  for (let at = 0; at < list.length; at += 1) {
    const part = mapTexts(list[at], change);
    if (part === list[at]) continue;
    changed ??= [...list];
    changed[at] = part;
  }
  return changed ?? list;
}

function mapFields(fields: Fields, change: Change): Fields {
  let changed: Record<string, unknown> | null = null;
  for (const key of Object.keys(fields)) {
    const field = fields[key];
    // Half of all fields are numbers and the like, which need no call.
    if (typeof field !== "string" && typeof field !== "object") continue;
    const part = mapTexts(field, change);
    if (part === field) continue;
    changed ??= { ...fields };
    changed[key] = part;
  }
  return changed ?? fields;
}
