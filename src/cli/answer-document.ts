/** What a command shows that is not a run: its result as text or as its one JSON document, and its log; and how wide the terminal is. */

import { exitCodes, type PaiError, toFailure } from "../core/error.ts";
import { renderCommandDocument } from "../ui/command-document.ts";
import { refit } from "../ui/layout.ts";
import { createLog, type Log } from "../ui/log.ts";
import { visibleBut } from "../ui/sanitize.ts";
import { ownCodes } from "../ui/style.ts";
import type { Context } from "./command.ts";

/** Shows a result and returns the exit code of success; `text` holds no control characters but pai's own colours. */
export async function showResult(context: Context, command: string, data: unknown, text: string): Promise<number> {
  if (context.flags.json === true) {
    context.out(renderCommandDocument({ command, code: 0, data, notices: context.notices.take(), error: null }));
  } else context.out(visibleBut(ownCodes, refit(text, columnsOfResults(context))));
  return 0;
}

export async function showFinding(context: Context, command: string, data: unknown, error: PaiError): Promise<number> {
  const code = exitCodes[error.code];
  if (context.flags.json === true) {
    const notices = context.notices.take();
    context.out(renderCommandDocument({ command, code, data, notices, error: toFailure(error) }));
  } else openLog(context).fail(error);
  return code;
}

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

type LogContext = Pick<Context, "err" | "env" | "tty" | "notices"> & { readonly flags?: Context["flags"] };

/** Without flags, because the command line could not be read, it has the usual level. */
export function openLog(context: LogContext): Log {
  const { quiet, verbose, json, jsonl } = context.flags ?? {};
  return createLog({
    err: context.err,
    level: quiet === true ? "quiet" : verbose === true ? "verbose" : "usual",
    columns: () => columnsOfErrors(context),
    ...((json === true || jsonl === true) && { record: context.notices.add }),
  });
}
