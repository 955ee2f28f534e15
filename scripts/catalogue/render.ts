/** Writes JSON as the linter wants it: each object and list on one line where it fits. */

const widest = 120;

function flat(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flat).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${flat(each)}`);
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

/** `before`: characters on the line of the value, `after`: those that follow it. The two outer levels take lines of their own. */
export function renderTable(value: unknown, depth = 0, before = 0, after = 0): string {
  const line = flat(value);
  if (typeof value !== "object" || value === null) return line;
  if (depth > 1 && before + line.length + after <= widest) return line;
  const [outer, inner] = ["  ".repeat(depth), "  ".repeat(depth + 1)];
  const rows = Object.entries(value).map(([key, each], at, all) => {
    const name = Array.isArray(value) ? inner : `${inner}${JSON.stringify(key)}: `;
    return name + renderTable(each, depth + 1, name.length, at < all.length - 1 ? 1 : 0);
  });
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return rows.length === 0 ? `${open}${close}` : `${open}\n${rows.join(",\n")}\n${outer}${close}`;
}
