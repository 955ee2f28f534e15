/** Files that are large enough for the change guard to mind. */

export const lines = (count: number, name = "line", from = 0) =>
  Array.from({ length: count }, (_, i) => `${name} ${from + i}\n`).join("");
export const functions = (from: number, count: number, prefix = "") =>
  Array.from({ length: count }, (_, i) => {
    const n = from + i;
    return `${prefix}function part${n}(input) {\n  const value${n} = input + ${n};\n  // step ${n}\n  return value${n};\n}\n\n`;
  }).join("");

export const old = lines(600);
export const other = lines(600, "other");
export const app = functions(0, 100);
