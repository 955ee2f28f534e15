/** How wide the terminal is now. */
import type { Context } from "./command.ts";

/** Columns from COLUMNS, otherwise of the terminal (some report 0 if unknown), otherwise 80. */
export function columnsOf(env: Context["env"]): number {
  const named = Number(env["COLUMNS"]);
  return Number.isInteger(named) && named > 0 ? named : process.stderr.columns || 80;
}

/** Width of standard output; null: it is not a terminal, no wrapping. */
export const columnsOfResults = ({ tty, env }: Pick<Context, "tty" | "env">): number | null =>
  tty.stdout ? columnsOf(env) : null;

/** Width of standard error; null: it is not a terminal, no wrapping. */
export const columnsOfErrors = ({ tty, env }: Pick<Context, "tty" | "env">): number | null =>
  tty.stderr ? columnsOf(env) : null;
