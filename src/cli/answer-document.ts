/** Prints the result of a command that is not a run: as text for people, or as its one JSON document. */

import { exitCodes, type PaiError, toFailure } from "../core/error.ts";
import { renderCommandDocument } from "../ui/command-document.ts";
import { refit } from "../ui/layout.ts";
import { visibleBut } from "../ui/sanitize.ts";
import { ownCodes } from "../ui/style.ts";
import { columnsOfResults } from "./columns.ts";
import type { Context } from "./command.ts";
import { openLog } from "./open-log.ts";

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
