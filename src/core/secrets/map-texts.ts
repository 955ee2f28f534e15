/** Plain data with its texts changed. Pure. */

type Change = (text: string) => string;
type Fields = Readonly<Record<string, unknown>>;

/** The same plain data with every text in it changed, the very same value where none is; keys stay. */
export function mapTexts<T>(value: T, change: Change): T {
  return mapValue(value, change) as T;
}

/** Every event and every line of a receipt passes here, mostly unchanged: nothing is copied before a text differs. */
function mapValue(value: unknown, change: Change): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? mapList(value, change) : mapFields(value as Fields, change);
}

function mapList(list: readonly unknown[], change: Change): readonly unknown[] {
  let changed: unknown[] | null = null;
  for (let at = 0; at < list.length; at += 1) {
    const part = mapValue(list[at], change);
    if (part === list[at]) continue;
    changed ??= [...list];
    changed[at] = part;
  }
  return changed ?? list;
}

function mapFields(fields: Fields, change: Change): Fields {
  let changed: Record<string, unknown> | null = null;
  for (const key of Object.keys(fields)) {
    const part = mapValue(fields[key], change);
    if (part === fields[key]) continue;
    changed ??= { ...fields };
    changed[key] = part;
  }
  return changed ?? fields;
}
