/** What is staged becomes real: judged by the change guard, decided, applied as one. */
import { type Change, invert, squash } from "../core/change.ts";
import { renderChanges, summarizeAll } from "../core/diff.ts";
import { type ErrorCode, PaiError } from "../core/error.ts";
import { describeLater } from "../core/guard/describe-steering.ts";
import { type GuardInput, judge, type Verdict } from "../core/guard/guard.ts";
import type { ChangeSummary } from "../core/outcome.ts";
import type { RelPath } from "../core/path.ts";
import type { Rights } from "../core/plan/scope.ts";
import { listen } from "./breathe.ts";
import type { Run } from "./run.ts";
import { refuseSteering } from "./steering.ts";
import { mayHoldSecrets } from "./unveil.ts";

export interface Refusal {
  readonly code: ErrorCode;
  /** For the model: counts, why, the way out. */
  readonly text: string;
}

type Refusals = Map<RelPath, Refusal>;

/** Asks the person about what the guard leaves to them. False for what it refuses outright. */
async function isAllowed(run: Run, { verdict, text }: Verdict): Promise<boolean> {
  return verdict === "ask" && (await run.ports.decide({ kind: "changes", text })).accept;
}

/**
 * What was announced, for the guard. Without a plan that is the task, and every deletion: each was a call of its own that
 * named its path and was allowed.
 */
function plannedIn(run: Run, rights: Rights | null, changes: readonly Change[]): GuardInput["planned"] {
  if (rights !== null) return { deletes: [...rights.scope.deletes], texts: rights.texts };
  const deletes = changes.filter(({ after }) => after === null).map(({ path }) => path);
  return { deletes, texts: [run.task.text] };
}

/**
 * Paths of the batch that the guard refuses, or asks about and the person says no to. A yes is noted in `allowed`, as
 * "rule path", so that nobody is asked twice.
 */
async function findRefusals(
  run: Run,
  input: Omit<GuardInput, "limits">,
  allowed: Set<string> = new Set(),
): Promise<Refusals> {
  const refused: Refusals = new Map();
  for (const verdict of judge({ ...input, limits: run.options.guard })) {
    const { path, rule, text } = verdict;
    if (refused.has(path) || allowed.has(`${rule} ${path}`)) continue;
    if (rule === "secret" && mayHoldSecrets(run, path)) continue;
    if (await isAllowed(run, verdict)) allowed.add(`${rule} ${path}`);
    else refused.set(path, { code: rule === "secret" ? "secret_refused" : "guard_refused", text });
  }
  return refused;
}

/** Files of these changes that steer and that nobody has allowed. What is deleted steers nobody, nor does a folder without its files. */
async function findSteering(run: Run, changes: readonly Change[]): Promise<Refusals> {
  const refusal = await refuseSteering(
    run,
    changes.flatMap(({ path, after }) => (after === null || after.kind === "folder" ? [] : [path])),
  );
  const { code, message: text } = refusal?.error ?? { code: "path_refused", message: "" };
  return new Map(refusal?.paths.map((path) => [path, { code, text }]));
}

/** A folder that is made, not one that was moved here. */
const isMade = ({ before, after, from }: Change) => before === null && after?.kind === "folder" && from === null;

/**
 * Adds to `refused` what cannot be applied alone: the other paths of a call that is refused (a call is done whole or not at
 * all), and what lies below a refused path. Made folders are left to `findUnneeded`: another call may need them.
 */
function spread(refused: Refusals, staged: readonly Change[], calls: readonly (readonly RelPath[])[]): void {
  const made = new Set(staged.filter(isMade).map(({ path }) => path));
  const above = (path: string) => [...refused].find(([folder]) => path.startsWith(`${folder}/`))?.[1];
  for (let size = -1; size !== refused.size; ) {
    size = refused.size;
    const missing = staged.map(({ path }) => [[path], above(path)] as const);
    const broken = calls.map((paths) => [paths, paths.flatMap((path) => refused.get(path) ?? [])[0]] as const);
    for (const [paths, why] of [...missing, ...broken]) {
      for (const path of paths) if (why !== undefined && !made.has(path) && !refused.has(path)) refused.set(path, why);
    }
  }
}

/** Made folders in which no call that is left puts anything. */
function findUnneeded(refused: Refusals, staged: readonly Change[], calls: readonly (readonly RelPath[])[]): RelPath[] {
  const made = staged.filter(isMade).map(({ path }) => path);
  const wanted = calls.filter((paths) => !paths.some((path) => refused.has(path))).flat();
  return made.filter((folder) => !wanted.some((path) => path === folder || path.startsWith(`${folder}/`)));
}

/**
 * What the run itself has changed so far. What a check of the user changed in a file before the run touched it does not
 * count: for the guard, that is how the run found the file.
 */
function earlierOf({ begun, record, options }: Run): readonly Change[] {
  const touched = new Set<RelPath>();
  return (options.dryRun ? record.staged : (begun?.changes ?? [])).filter((change) => {
    if (record.byUser.has(change) && !touched.has(change.path)) return false;
    touched.add(change.path);
    return true;
  });
}

/**
 * Judges what is staged and drops what is refused, whole calls at a time; `calls` are the paths of each. A file that
 * drops out may be where others moved their lines to, so the rest is judged again until nothing more drops out.
 */
export async function judgeStaged(
  run: Run,
  rights: Rights | null,
  calls: readonly (readonly RelPath[])[],
): Promise<ReadonlyMap<RelPath, Refusal>> {
  const refused: Refusals = new Map();
  const allowed = new Set<string>();
  for (;;) {
    const staged = run.overlay.staged();
    const earlier = earlierOf(run);
    const planned = plannedIn(run, rights, [...earlier, ...staged]);
    const found = await findRefusals(run, { planned, earlier, batch: staged }, allowed);
    // At a terminal without a plan people see the changes first: decideBatch asks then.
    const steering = rights === null && run.options.interactive ? [] : await findSteering(run, staged);
    if (found.size === 0 && [...steering].length === 0) return refused;
    for (const [path, why] of [...found, ...steering]) refused.set(path, why);
    spread(refused, staged, calls);
    run.overlay.drop(new Set([...refused.keys(), ...findUnneeded(refused, staged, calls)]));
  }
}

/**
 * Takes back what a command of the plan has changed when the guard refuses any of it; null: the changes stay. `closed`: why some
 * of what it changed was put back already.
 */
export async function judgeCommand(
  run: Run,
  rights: Rights | null,
  changes: readonly Change[],
  closed: Refusal | null = null,
): Promise<Refusal | null> {
  if (changes.length === 0) return closed && takenBack(closed);
  const transaction = await run.transaction();
  const earlier = transaction.changes.filter((change) => !changes.includes(change));
  const refusals = await findRefusals(run, { planned: plannedIn(run, rights, []), earlier, batch: changes });
  const found = closed === null ? [...refusals.values(), ...(await findSteering(run, changes)).values()] : [closed];
  const [refused] = found;
  if (refused === undefined) return null;
  const back = invert(changes);
  await transaction.apply(back);
  run.overlay.learn(back);
  return takenBack(refused);
}

const takenBack = ({ code, text }: Refusal): Refusal => ({
  code,
  text: `what the command changed was taken back. ${text}`,
});

/** Why what a command proposes is refused as a whole; null: it is not. A command announces nothing. */
export async function judgeProposal(
  run: Run,
  rights: Rights | null,
  changes: readonly Change[],
): Promise<Refusal | null> {
  const planned = plannedIn(run, rights, []);
  const refusals = await findRefusals(run, { planned, earlier: earlierOf(run), batch: changes });
  // At a terminal people see the changes first: decideBatch asks then.
  const steering = run.options.interactive ? [] : (await findSteering(run, changes)).values();
  const [refused] = [...refusals.values(), ...steering];
  return refused ?? null;
}

/** Tells of files with other names (hard links): a file is changed by replacing it, so they keep the old content. */
function noteNames({ ports, emit }: Run, changes: readonly Change[]): void {
  for (const { path, before, after } of changes) {
    const others = before?.kind === "file" && after !== null ? ports.workspace.names(path) - 1 : 0;
    if (others < 1) continue;
    const what =
      others === 1 ? "another name (hard link), which keeps" : `${others} other names (hard links), which keep`;
    emit({ type: "notice", level: "warning", code: "other_names", text: `${path} has ${what} the old content` });
  }
}

/** Why a change deserves a second look: it is not text but code to whoever starts a tool here. */
const laterOf = ({ ports }: Run, change: Change): string | null =>
  change.after === null ? null : (ports.workspace.concern(change.path) ?? describeLater(change));

function noteLater(run: Run, changes: readonly Change[]): void {
  for (const change of changes) {
    const later = laterOf(run, change);
    if (later === null) continue;
    run.emit({ type: "notice", level: "warning", code: "runs_later", text: `${change.path}: ${later}` });
  }
}

/** Whose work changes are: actions of the plan (or of a reply where there is none), or a command's. */
type Origin = "plan" | "command";

const applyQuestion = { plan: "Apply these changes?", command: "Apply what the command changed?" } as const;

/** Tells what is staged, with what is to be noticed in it; `asked`: it is decided on now. */
function propose(run: Run, origin: Origin, asked: boolean): void {
  const changes = run.overlay.staged();
  const summaries = summarizeAll(changes, () => origin);
  const told = { batch: run.record.batches, changes: summaries, diff: renderChanges(changes) };
  run.emit({ type: "changes.proposed", ...told, ...(asked ? { asked } : {}) });
  noteNames(run, changes);
  noteLater(run, changes);
}

/** Tells how what is staged was decided. */
function tellDecision(run: Run, { accept, by }: { accept: boolean; by: "user" | "policy" }, origin: Origin): void {
  const summaries = summarizeAll(run.overlay.staged(), () => origin);
  run.emit({ type: "changes.decided", batch: run.record.batches, changes: summaries, accept, by });
}

/** The folder a yes may be given for once and for all: never the root, nor where something is deleted or runs or steers later. */
function folderOf(run: Run, changes: readonly Change[]): RelPath | null {
  if (changes.some((change) => change.after === null || laterOf(run, change) !== null)) return null;
  const parents = changes.map(({ path, after }) => path.split("/").slice(0, after?.kind === "folder" ? undefined : -1));
  const [first = []] = parents;
  const shared = first.findIndex((part, at) => parents.some((parts) => parts[at] !== part));
  const folder = (shared === -1 ? first : first.slice(0, shared)).join("/") as RelPath;
  return folder === "" ? null : folder;
}

const lineOf = ({ path, op, from }: ChangeSummary) => `${op} ${from === null ? "" : `${from} → `}${path}`;

/**
 * Whether a batch is asked about before it is applied: always in a mode without a plan, else where the user wants to
 * review. What is only staged is not.
 */
export const isAsked = ({ options, record }: Run, rights: Rights | null): boolean =>
  rights === null || ((options.review || record.review) && !options.dryRun);

/**
 * Decides what is staged, by asking or by the plan it belongs to; null: it may be applied. Throws declined for a no to
 * what a plan had promised: a run does all of it or nothing.
 */
export async function reviewBatch(run: Run, rights: Rights | null): Promise<Refusal | null> {
  const refusal = isAsked(run, rights) ? await decideBatch(run) : null;
  if (refusal !== null && rights !== null) throw new PaiError(refusal.code, refusal.text);
  return refusal;
}

/**
 * Shows what is staged, asks, and drops it after a no. Null: it may be applied. Throws approval_needed when nobody is
 * there to say yes.
 */
export async function decideBatch(run: Run, origin: Origin = "plan"): Promise<Refusal | null> {
  const changes = run.overlay.staged();
  if (changes.length === 0) return null;
  run.record.batches += 1;
  propose(run, origin, !run.options.dryRun);
  const lines = summarizeAll(changes, () => origin).map(lineOf);
  const decision = run.options.dryRun
    ? ({ accept: true, by: "policy" } as const)
    : await run.ports.decide({
        kind: "batch",
        text: `${applyQuestion[origin]}\n${lines.join("\n")}`,
        folder: folderOf(run, changes),
      });
  const steering = decision.accept ? await findSteering(run, changes) : new Map<RelPath, Refusal>();
  tellDecision(run, steering.size > 0 ? { accept: false, by: "user" } : decision, origin);
  if (decision.accept && steering.size === 0) return null;
  run.overlay.drop(new Set(changes.map(({ path }) => path)));
  const [declined] = steering.values();
  if (declined !== undefined) return declined;
  if (decision.by === "policy") {
    throw new PaiError("approval_needed", "these changes need approval", { hint: "approve changes with -y" });
  }
  const said = "feedback" in decision && decision.feedback !== null ? `: ${decision.feedback}` : "";
  return { code: "declined", text: `the user declined these changes${said}` };
}

/** With a plan every batch was approved with it: it is shown, and accepted by policy. */
export function acceptBatch(run: Run, origin: Origin = "plan"): void {
  if (run.overlay.staged().length === 0) return;
  run.record.batches += 1;
  propose(run, origin, false);
  tellDecision(run, { accept: true, by: "policy" }, origin);
}

/**
 * Applies what is staged and accepted as one; true when there was anything. In a dry run it stays staged.
 * Throws what Transaction.apply throws: conflict, disk_full …
 */
export async function applyBatch(run: Run, origin: Origin = "plan"): Promise<boolean> {
  const { overlay, options, record, emit } = run;
  const changes = overlay.staged();
  if (options.dryRun) {
    record.staged = squash([...record.staged, ...changes]);
    overlay.settle(null);
  } else if (changes.length > 0) {
    const transaction = await run.transaction();
    const earlier = transaction.changes.length;
    await listen(run.signal);
    await transaction.apply(changes, origin, run.signal);
    // A signal that came while many files were written takes them back: nothing of an interrupted run stays.
    await listen(run.signal);
    emit({ type: "changes.applied", batch: record.batches, changes: summarizeAll(changes, () => origin) });
    // The umask has had its say: modes are not as they were staged.
    overlay.settle(transaction.changes.slice(earlier));
  }
  return changes.length > 0;
}
