/** Changes every text in a copy of plain data. Pure. */

const none: ReadonlySet<string> = new Set();

/** Keys stay, and all below a key in `exact`, and values of other kinds. */
export function mapTexts<T>(value: T, change: (text: string) => string, exact = none): T {
  const map = (each: unknown): unknown => {
    if (typeof each === "string") return change(each);
    if (Array.isArray(each)) return each.map(map);
    if (typeof each !== "object" || each === null || Object.getPrototypeOf(each) !== Object.prototype) return each;
    return Object.fromEntries(Object.entries(each).map(([key, part]) => [key, exact.has(key) ? part : map(part)]));
  };
  return map(value) as T;
}
