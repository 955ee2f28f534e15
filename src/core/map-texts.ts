/** Changes every text in plain data. Pure. */

const none: ReadonlySet<string> = new Set();

/**
 * Copies the data and changes every text in it. Texts below a key in `exact` stay as they are; so do keys, and values
 * that are neither text, list nor plain object.
 */
export function mapTexts<T>(value: T, change: (text: string) => string, exact = none): T {
  const map = (each: unknown): unknown => {
    if (typeof each === "string") return change(each);
    if (Array.isArray(each)) return each.map(map);
    if (typeof each !== "object" || each === null || Object.getPrototypeOf(each) !== Object.prototype) return each;
    return Object.fromEntries(Object.entries(each).map(([key, part]) => [key, exact.has(key) ? part : map(part)]));
  };
  return map(value) as T;
}
