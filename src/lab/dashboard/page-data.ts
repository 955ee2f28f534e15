/** Data of the dashboard: runs from the index, details from receipts and journals, resting keys. */

import { join } from "node:path";
import { orNull } from "../../core/error.ts";
import { type Fact, factsOf } from "../../core/receipt.ts";
import type { TeamRun } from "../../core/run-summary.ts";
import { renderHidden } from "../../core/secrets/veil.ts";
import { openKeyState } from "../../store/key-state.ts";
import { openReceipts } from "../../store/receipts.ts";
import { readWork } from "../../workspace/journal/run-history.ts";
import { type IndexedRun, readRuns } from "../run-index.ts";

type RunDetails = ReturnType<typeof factsOfRun> & { readonly diff: string };
export type PageData = ReturnType<typeof readPageData>;

export const maxRuns = 10_000;
/** Runs of a static page that include details, and the size limit of these. */
const maxDetailed = 100;
const maxDetailBytes = 4 * 1024 * 1024;
const maxDiffChars = 200_000;

const shape = { folder: /^[^/\0]{1,255}$/, id: /^\d{8}-\d{9}-[0-9a-f]{4}$/ };

/** What the page shows of a run; `why`: why it failed, "": it did not. */
function factsOfRun(facts: readonly Fact[]) {
  const plan = factsOf(facts, "plan").at(-1)?.plan.execution_plan?.steps ?? [];
  const outcome = factsOf(facts, "run.finished").at(-1)?.outcome;
  return {
    answer: outcome?.text ?? "",
    why: outcome?.error?.message ?? "",
    plan: plan.map(({ action, target, purpose }) => ({ action, target, purpose })),
    checks: factsOf(facts, "check").map(({ when, command, exit, ms, passed }) => ({ when, command, exit, ms, passed })),
    calls: factsOf(facts, "call").map(({ purpose, model, key, usage, error }) => ({
      purpose,
      model,
      key,
      tokens: usage === null ? 0 : usage.input + usage.output,
      error: error?.message ?? null,
    })),
  };
}

const toldIn = (stateFolder: string, id: string) =>
  orNull(() => {
    const { facts } = openReceipts(join(stateFolder, "runs")).read(id);
    return { root: factsOf(facts, "run.started")[0]?.root ?? "", details: factsOfRun(facts) };
  });

/** Where runs are kept, and the secrets that are known in a folder. */
interface KeptPage {
  readonly stateDir: string;
  readonly known: (root: string) => readonly string[];
}

/** Details of one run; null: nothing is kept of it, or the names are invalid. */
export function readDetails({ stateDir, known }: KeptPage, folder: string, id: string): RunDetails | null {
  if (!shape.folder.test(folder) || folder.startsWith(".") || !shape.id.test(id)) return null;
  const stateFolder = join(stateDir, folder);
  const told = toldIn(stateFolder, id);
  const changes = readWork(stateFolder, id) ?? [];
  const hidden = changes.length === 0 ? "" : renderHidden(changes, known(told?.root ?? ""));
  const diff = hidden.slice(0, maxDiffChars);
  if (told !== null) return { ...told.details, diff };
  return diff === "" ? null : { answer: "", why: "", plan: [], checks: [], calls: [], diff };
}

function readMany(kept: KeptPage, runs: readonly IndexedRun[]): Readonly<Record<string, RunDetails>> {
  const found: Record<string, RunDetails> = {};
  let bytes = 0;
  for (const { folder, id } of runs.slice(0, maxDetailed)) {
    const details = readDetails(kept, folder, id);
    if (details === null) continue;
    bytes += JSON.stringify(details).length;
    if (bytes > maxDetailBytes) break;
    found[`${folder}/${id}`] = details;
  }
  return found;
}

/**
 * All data of the page: `where` says whose runs these are, details are by folder and id, `live`: a server provides them.
 * `team`: the team's runs, newest first; null: this machine's runs.
 */
export function readPageData(
  source: KeptPage & { now: Date; version: string; live: boolean; team: readonly TeamRun[] | null },
) {
  const { stateDir, now, version, live, team } = source;
  const all = team?.map((run) => ({ ...run, root: `${run.folder}:${run.root}` })) ?? readRuns(stateDir);
  const runs = all.slice(0, maxRuns);
  const { cursor, resting } = openKeyState(stateDir).load();
  const used = Object.entries(cursor).map(([provider, id]) => `${provider}/${id}`);
  const names = [...new Set([...used, ...Object.keys(resting)])].sort();
  return {
    version,
    made: now.toISOString(),
    where: team === null ? "the runs of all folders" : "the runs of the team",
    live,
    runs,
    details: live ? {} : readMany(source, runs),
    keys: names.map((name) => {
      const until = resting[name] ?? 0;
      return { name, until: until > now.getTime() ? until : null };
    }),
  };
}
