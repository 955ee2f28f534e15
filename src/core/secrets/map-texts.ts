/** Plain data with its texts changed. Pure. */

/** The same plain data with every text in it changed, the very same value where none is; keys stay. */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  const map = (inner: unknown): unknown => {
    if (typeof inner === "string") return change(inner);
    if (Array.isArray(inner)) {
      const mapped = inner.map(map);
      return mapped.every((part, at) => part === inner[at]) ? inner : mapped;
    }
    if (typeof inner !== "object" || inner === null) return inner;
    const entries = Object.entries(inner);
    const mapped = entries.map(([key, part]) => [key, map(part)] as const);
    return mapped.every(([, part], at) => part === entries[at]?.[1]) ? inner : Object.fromEntries(mapped);
  };
  return map(value) as T;
}
