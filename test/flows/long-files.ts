/** Files that are large: for the change guard to mind, or for a request to show in parts. */

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

/** A module of so many functions, each of five lines. */
export const module = (count: number, body: (n: number) => string = () => "work") =>
  Array.from(
    { length: count },
    (_, n) => `def step_${n}(value):\n    # ${body(n)}\n    value = value + ${n}\n    return value\n\n`,
  ).join("");
