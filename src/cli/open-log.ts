/** Opens the log with the level of the flags and the width of the terminal. */
import { createLog, type Log } from "../ui/log.ts";
import { columnsOfErrors } from "./columns.ts";
import type { Context } from "./command.ts";

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
