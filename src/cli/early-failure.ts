/** JSON output for a command that failed before it could begin, in the usual shapes. */
import { exitCodes, type Failure } from "../core/error.ts";
import { failedOutcome } from "../core/outcome.ts";
import { createJsonl, renderCommandDocument, renderDocument } from "../ui/json.ts";
import { version } from "./commands/version.ts";
import type { TimedNotice } from "./notices.ts";

const runs = new Set(["run", "plan", "apply", "auto"]);

/** One document for --json; run.started, notices and run.finished for --jsonl. */
export function renderEarlyFailure(
  {
    command,
    error,
    notices: timed,
  }: { readonly command: string; readonly error: Failure; readonly notices: readonly TimedNotice[] },
  form: "json" | "jsonl",
  now: Date,
): string {
  if (form === "json") {
    const notices = timed.map(({ notice }) => notice);
    if (runs.has(command)) return renderDocument(failedOutcome(command, error), notices);
    return renderCommandDocument({ command, code: exitCodes[error.code], data: null, notices, error });
  }
  const outcome = failedOutcome(command, error);
  let text = "";
  const sink = createJsonl((line) => {
    text += line;
  });
  const stamp = { run: "", at: now.toISOString() };
  sink({
    type: "run.started",
    v: 1,
    pai: version,
    task: "",
    mode: outcome.mode,
    model: "",
    root: "",
    seq: 1,
    ...stamp,
  });
  for (const { notice, at } of timed) sink({ type: "notice", ...notice, run: "", seq: 2, at });
  sink({ type: "run.finished", outcome, seq: 2, ...stamp });
  return text;
}
