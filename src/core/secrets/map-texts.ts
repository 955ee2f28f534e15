/** Plain data with its texts changed. Pure. */

/** The same plain data with every text in it changed, the very same value where none is; keys stay. */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  // Every event and every line of a receipt passes here, mostly unchanged: nothing is copied before a text differs.
  const map = (inner: unknown): unknown => {
    if (typeof inner === "string") return change(inner);
    if (typeof inner !== "object" || inner === null) return inner;
    return Array.isArray(inner) ? mapList(inner) : mapFields(inner as Fields);
  };
  const mapList = (list: readonly unknown[]): readonly unknown[] => {
    let changed: unknown[] | null = null;
    for (let at = 0; at < list.length; at += 1) {
      const part = map(list[at]);
      if (part === list[at]) continue;
      changed ??= [...list];
      changed[at] = part;
    }
    return changed ?? list;
  };
  const mapFields = (fields: Fields): Fields => {
    let changed: Record<string, unknown> | null = null;
    for (const key of Object.keys(fields)) {
      const part = map(fields[key]);
      if (part === fields[key]) continue;
      changed ??= { ...fields };
      changed[key] = part;
    }
    return changed ?? fields;
  };
  return map(value) as T;
}

type Fields = Readonly<Record<string, unknown>>;
