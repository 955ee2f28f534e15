/** How wide a terminal counts as. */
import { expect, test } from "bun:test";
import { columnsOf, columnsOfErrors } from "../../src/cli/columns.ts";

test("COLUMNS says it, else the terminal; one that says 0 does not know and counts as 80 (R49)", () => {
  const own = Object.getOwnPropertyDescriptor(process.stderr, "columns");
  const widthOn = (columns: number | undefined, env = {}) => {
    Object.defineProperty(process.stderr, "columns", { value: columns, configurable: true });
    return columnsOf(env);
  };
  const widths = [widthOn(100, { COLUMNS: "40" }), widthOn(100, { COLUMNS: "x" }), widthOn(0), widthOn(undefined)];
  if (own === undefined) Reflect.deleteProperty(process.stderr, "columns");
  else Object.defineProperty(process.stderr, "columns", own);
  expect(widths).toEqual([40, 100, 80, 80]);
});

test("what goes to no terminal has no width to be wrapped to (R12)", () => {
  const tty = { stdin: true, stdout: true, stderr: false, keyboard: true };
  expect(columnsOfErrors({ tty, env: { COLUMNS: "40" } })).toBeNull();
});
