/** How wide the terminal is now. */
import type { Context } from "./command.ts";

/** Columns: what COLUMNS says, else the terminal (some say 0 when they do not know), else 80. */
export function columnsOf(env: Context["env"]): number {
  const named = Number(env["COLUMNS"]);
  return Number.isInteger(named) && named > 0 ? named : process.stderr.columns || 80;
}

/** The width for what is said on standard error; null: it is not a terminal, and nothing is wrapped. */
export const columnsOfErrors = ({ tty, env }: Pick<Context, "tty" | "env">): number | null =>
  tty.stderr ? columnsOf(env) : null;
