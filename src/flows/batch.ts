/** What is staged becomes real: judged by the change guard, decided, applied as one. */
import { squash } from "../core/change.ts";
import { renderChanges, summarize } from "../core/diff.ts";
import type { ErrorCode } from "../core/error.ts";
import { judge, type Verdict } from "../core/guard.ts";
import type { RelPath } from "../core/path.ts";
import type { Scope } from "../core/scope.ts";
import type { Run } from "./run.ts";

/** What a batch may do; a mode without a plan has none. */
export interface Rights {
  readonly scope: Scope;
  /** The plan's own words, one text a step, so that the guard sees what was announced. */
  readonly texts: readonly string[];
}

export interface Refusal {
  readonly code: ErrorCode;
  /** For the model: counts, why, the way out. */
  readonly text: string;
}

function judgeNow(run: Run, rights: Rights | null): readonly Verdict[] {
  const batch = run.overlay.staged();
  const since = squash([...(run.begun?.changes ?? run.record.staged), ...batch]);
  const planned = { deletes: [...(rights?.scope.deletes ?? [])], texts: rights?.texts ?? [] };
  return judge({ since, batch: batch.map(({ path }) => path), limits: run.options.guard, planned });
}

/** True when the person at the terminal allows what the guard only asks about. */
async function isAllowed(run: Run, { path, verdict, text }: Verdict): Promise<boolean> {
  return verdict === "ask" && (await run.ports.decide({ kind: "changes", text: `${path}: ${text}` })).accept;
}

/**
 * Judges what is staged and drops what is refused. A file that drops out may be where others moved their lines to,
 * so the rest is judged again until nothing more drops out.
 */
export async function judgeStaged(run: Run, rights: Rights | null): Promise<ReadonlyMap<RelPath, Refusal>> {
  const refused = new Map<RelPath, Refusal>();
  const allowed = new Set<string>();
  const isOpen = ({ path, rule }: Verdict) => !refused.has(path) && !allowed.has(`${rule} ${path}`);
  for (let open = judgeNow(run, rights); open.length > 0; open = judgeNow(run, rights).filter(isOpen)) {
    for (const verdict of open.filter(isOpen)) {
      if (await isAllowed(run, verdict)) allowed.add(`${verdict.rule} ${verdict.path}`);
      else
        refused.set(verdict.path, {
          code: verdict.rule === "secret" ? "secret_refused" : "guard_refused",
          text: verdict.text,
        });
    }
    run.overlay.drop(new Set(refused.keys()));
  }
  return refused;
}

/** Applies what is staged as one; true when anything changed. In a dry run it stays staged. Throws conflict, disk_full … */
export async function applyBatch(run: Run): Promise<boolean> {
  const { overlay, options, record, emit } = run;
  const changes = overlay.staged();
  if (changes.length > 0) {
    record.batches += 1;
    const batch = record.batches;
    const summaries = changes.map((change) => summarize(change, "plan"));
    emit({ type: "changes.proposed", batch, changes: summaries, diff: renderChanges(changes) });
    emit({ type: "changes.decided", batch, changes: summaries, accept: true, by: "policy" });
    if (options.dryRun) record.staged = squash([...record.staged, ...changes]);
    else {
      await (await run.transaction()).apply(changes);
      emit({ type: "changes.applied", batch, changes: summaries });
    }
  }
  overlay.settle(options.dryRun);
  return changes.length > 0;
}
