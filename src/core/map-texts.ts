/** Changes every text in plain data. Pure. */

const none: ReadonlySet<string> = new Set();

/**
 * The data with every text changed, but for those below the keys in `exact`. Keys stay, and so does what is no list and
 * no plain object.
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
