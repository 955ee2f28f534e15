/** What the person wants changed in the changes that they were shown: it goes to the model, which makes them anew. */

import { fence } from "../core/data-fence.ts";
import type { Rights } from "../core/plan/scope.ts";
import type { BatchReport } from "./perform.ts";
import {
  askForScript,
  keepFinish,
  performScript,
  type ScriptQuestion,
  type ScriptReply,
  type ScriptWork,
} from "./replies.ts";
import type { Run } from "./run.ts";

/** Characters of the diff that the model is shown again. */
const maxOfDiff = 12_000;

/** A call that is left, or one more than was promised, which is told. */
function takeCall({ emit, ledger }: Run): void {
  if (ledger.spare || ledger.capped) return;
  ledger.promiseOneMore();
  const text = `one more call: at most ${ledger.promised.at_most} now`;
  emit({ type: "notice", level: "info", code: "one_more_call", text });
}

function renderWish(words: string, diff: string): string {
  const shown = diff.length > maxOfDiff ? `${diff.slice(0, maxOfDiff)}\n[… the rest of the diff is not shown]` : diff;
  return [
    "The user saw this diff, and nothing of it was applied:",
    fence("diff", {}, shown),
    `The user says: ${words}`,
    "Make these changes anew, as the user wants them: an action script of all that is not done yet, ended with FINISH.",
  ].join("\n");
}

/** The reports of both replies, without those of the first that the person wanted otherwise. */
const join = (first: BatchReport, next: BatchReport): BatchReport => ({
  reports: [...first.reports.filter(({ code }) => code !== "declined"), ...next.reports],
  changed: first.changed || next.changed,
  changes: [...first.changes, ...next.changes],
});

/**
 * Performs a reply. Where the person answers its diff with words, asks for the changes anew with them, as often as that
 * happens. Returns the last reply, and the work of all. Throws what `ask` and `perform` throw, declined for a plain no.
 */
export async function performAsWished(
  run: Run,
  first: ScriptReply,
  question: ScriptQuestion,
  how: { readonly rights: Rights; readonly prefix: string; readonly planned: number },
): Promise<{ readonly asked: ScriptReply; readonly work: ScriptWork }> {
  let asked = first;
  // Before anything is performed: a run that ends there must know what was claimed.
  keepFinish(run.ending, asked.script);
  let work = await performScript(run, asked.script, how);
  for (let n = 1; run.changing.wish !== null; n += 1) {
    const { words, diff } = run.changing.wish;
    run.changing.wish = null;
    run.planning.corrections = [...run.planning.corrections, words];
    takeCall(run);
    asked = await askForScript(run, {
      ...question,
      messages: [...asked.messages, { role: "user", text: renderWish(words, diff) }],
    });
    keepFinish(run.ending, asked.script);
    const next = await performScript(run, asked.script, { ...how, prefix: `${how.prefix}.${n}` });
    work = { ...next, batch: join(work.batch, next.batch), notes: [...work.notes, ...next.notes] };
  }
  return { asked, work };
}
