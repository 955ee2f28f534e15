/** Shows the staged changes, has them approved, and applies them as one. */
import { approvalWording } from "../../core/approval-wording.ts";
import { type Change, squash } from "../../core/change.ts";
import { noteWork } from "../../core/dialogue.ts";
import { renderChanges, renderSteps, summarizeAll, summarizeSteps } from "../../core/diff.ts";
import { PaiError } from "../../core/error.ts";
import type { ChangeSummary } from "../../core/outcome.ts";
import type { RelPath } from "../../core/path.ts";
import type { Rights } from "../../core/plan/scope.ts";
import type { Decision } from "../../core/question.ts";
import { isQuestion } from "../../core/script/prose.ts";
import { cutDiff, quoteWords } from "../../core/session/became.ts";
import { listen, pace } from "../../core/steps.ts";
import { nameSome } from "../../core/suggest.ts";
import type { Run } from "../run.ts";
import type { Refusal } from "./changing.ts";
import { type Calls, dropRefused, findUnallowed, judgeStaged, type Refusals } from "./judge.ts";
import { mergeStaged } from "./meanwhile.ts";

/** Warns about hard links: pai replaces a file to change it, so its other names keep the old content. */
function noteNames({ emit, workspace }: Run, changes: readonly Change[]): void {
  for (const { path, before, after } of changes) {
    const others = before?.kind === "file" && after !== null ? workspace.names(path) - 1 : 0;
    if (others < 1) continue;
    const what =
      others === 1 ? "another name (hard link), which keeps" : `${others} other names (hard links), which keep`;
    emit({ type: "notice", level: "warning", code: "other_names", text: `${path} has ${what} the old content` });
  }
}

/** Why a change deserves attention: it may run code later or steer agents. null: it does not. */
const laterOf = ({ workspace }: Run, { path, after }: Change): string | null =>
  after === null ? null : workspace.concern(path);

function noteLater(run: Run, changes: readonly Change[]): void {
  for (const change of changes) {
    const later = laterOf(run, change);
    if (later === null) continue;
    run.emit({ type: "notice", level: "warning", code: "runs_later", text: `${change.path}: ${later}` });
  }
}

type Origin = "plan" | "command";

/** Reports changes, with warnings about them. `asked`: the user decides about them now. Returns the report. */
async function propose(run: Run, changes: readonly Change[], origin: Origin, asked: boolean) {
  const steps = summarizeSteps(changes, () => origin);
  const summaries = await pace(steps, run.signal);
  const diff = await pace(renderSteps(changes, run.veiled.hideChange), run.signal);
  const proposed = { batch: run.changing.batches, changes: summaries, diff };
  const seen = isSeen(run) ? ({ seen: true } as const) : {};
  run.emit({ type: "changes.proposed", ...proposed, ...(asked ? { asked } : {}), ...seen });
  noteNames(run, changes);
  noteLater(run, changes);
  return { summaries, diff };
}

function tellDecision(
  { emit, changing }: Run,
  changes: readonly ChangeSummary[],
  { accept, by, ...said }: Pick<Decision, "accept" | "by"> & { readonly feedback?: string | null },
): void {
  const words = said.feedback == null ? {} : { words: said.feedback };
  emit({ type: "changes.decided", batch: changing.batches, changes, accept, by, ...words });
}

/** The folder that the person may allow for good; null: the root, or a change deletes or is asked about. */
function folderOf(run: Run, changes: readonly Change[]): RelPath | null {
  if (changes.some((change) => change.after === null || laterOf(run, change) !== null)) return null;
  const parents = changes.map(({ path, after }) => path.split("/").slice(0, after?.kind === "folder" ? undefined : -1));
  const [first = []] = parents;
  const shared = first.findIndex((part, at) => parents.some((parts) => parts[at] !== part));
  const folder = (shared === -1 ? first : first.slice(0, shared)).join("/") as RelPath;
  return folder === "" ? null : folder;
}

const maxNamed = 5;

const lineOf = ({ path, op, from }: ChangeSummary) => `${op} ${from === null ? "" : `${from} → `}${path}`;

/** Whether a person said yes to exactly what is staged, when it was shown with its plan. */
const isSeen = ({ planning, veiled, overlay }: Run): boolean =>
  planning.seenDiff !== null && renderChanges(veiled.hideChanges(overlay.staged())) === planning.seenDiff;

/** Whether a batch is asked about before it is applied: always without a plan, else where the user reviews. */
export const isAsked = (run: Run, rights: Rights | null): boolean =>
  rights === null || ((run.changing.review || run.planning.wantsReview) && !run.changing.dryRun && !isSeen(run));

/** Asks about the staged changes and drops what is not wanted; returns why, by path. Throws declined where nothing is left. */
async function reviewBatch(run: Run, rights: Rights | null, calls: Calls): Promise<Refusals> {
  const { changing, overlay } = run;
  const staged = overlay.staged();
  const refused: Refusals = new Map();
  if (staged.length === 0 || !isAsked(run, rights)) return refused;
  changing.batches += 1;
  for (const part of partsOf(run, staged)) {
    const refusal = changing.wish === null ? await decideSome(run, part) : waiting;
    if (refusal === null) continue;
    for (const { path } of part) refused.set(path, refusal);
  }
  for (const folder of neededBeside(refused, staged)) refused.delete(folder);
  dropRefused(run, refused, staged, calls);
  const isNo = rights !== null && refused.size > 0 && changing.wish === null;
  if (isNo && overlay.staged().length === 0) throw declinedAll(refused);
  return refused;
}

/** Folders in which there is something wanted: with --review a folder is shown with the first file in it alone. */
function neededBeside(refused: ReadonlyMap<RelPath, Refusal>, staged: readonly Change[]): readonly RelPath[] {
  const wanted = staged.filter(({ path }) => !refused.has(path));
  const folders = staged.filter(({ after }) => after?.kind === "folder").map(({ path }) => path);
  return folders.filter((folder) => wanted.some(({ path }) => path.startsWith(`${folder}/`)));
}

export const waiting: Refusal = {
  ...{ code: "declined", isAnew: true },
  text: "the user wants the changes before it made anew",
};

function declinedAll(refused: ReadonlyMap<RelPath, Refusal>): PaiError {
  const texts = new Set([...refused.values()].map(({ text }) => text));
  const [first = ""] = texts;
  return new PaiError("declined", texts.size === 1 ? first : sayDeclined([...refused.keys()]));
}

const sayDeclined = (paths: readonly string[]): string =>
  `the user declined the changes to ${nameSome(paths, maxNamed)}`;

/** All changes as one; with --review one by one, a moved file with its old name, a new folder with the first file in it. */
function partsOf({ changing, interactive }: Run, changes: readonly Change[]): readonly (readonly Change[])[] {
  if (changing.review !== "change" || !interactive) return [changes];
  const groups = new Map<RelPath, readonly Change[]>();
  for (const change of changes) {
    const isIn = ({ path, after }: Change) => after?.kind !== "folder" && path.startsWith(`${change.path}/`);
    const whose = change.after?.kind === "folder" ? (changes.find(isIn) ?? change) : change;
    const key = whose.from ?? whose.path;
    groups.set(key, [...(groups.get(key) ?? []), change]);
  }
  return [...groups.values()];
}

/** Shows what a command changed on its copy, asks, and drops it after a no. null: it may be applied. Throws approval_needed. */
export async function decideCommand(run: Run, ended: string): Promise<Refusal | null> {
  const { changing, overlay } = run;
  const changes = overlay.staged();
  if (changes.length === 0) return null;
  changing.batches += 1;
  const refusal = await decideSome(run, changes, "command", ended);
  if (refusal !== null) overlay.drop(new Set(changes.map(({ path }) => path)));
  const last = changing.wish ?? changing.declined.at(-1);
  // A model without a plan has not seen what the person saw.
  if (refusal?.code !== "declined" || run.planning.plan !== null || last === undefined) return refusal;
  return { ...refusal, text: `${refusal.text}\nThe changes:\n${cutDiff(last.diff)}` };
}

const namesOf = ({ path, from }: Pick<ChangeSummary, "path" | "from">) => (from === null ? [path] : [from, path]);

function noteNo(
  { changing, planning }: Run,
  proposed: readonly ChangeSummary[],
  diff: string,
  words: string | null,
): Refusal {
  const files = proposed.filter(({ op }) => op !== "mkdir");
  const paths = (files.length === 0 ? proposed : files).flatMap(namesOf);
  if (words !== null && changing.takesWords) {
    changing.wish = { words, diff };
    // Without a plan nothing makes sure that a reply follows them.
    if (planning.plan === null) changing.declined = [...changing.declined, { paths, diff, isWish: true }];
    changing.corrections = [...changing.corrections, words];
    const head = isQuestion(words)
      ? "the user asks about these changes, which are not applied: "
      : "the user wants these changes otherwise: ";
    return { code: "declined", text: head + quoteWords(words), isAnew: true };
  }
  changing.declined = [...changing.declined, { paths, diff }];
  return { code: "declined", text: words === null ? sayDeclined(paths) : `the user declined: ${quoteWords(words)}` };
}

/** Takes what the person agrees to now out of what they said no to before. */
function noteYes({ changing }: Run, changes: readonly Change[]): void {
  const agreed = new Set<string>(changes.flatMap(namesOf));
  changing.declined = changing.declined.flatMap(({ paths, diff, isWish }) => {
    const left = paths.filter((path) => !agreed.has(path));
    return isWish === true || left.length === 0 ? [] : [{ paths: left, diff }];
  });
}

/** Shows some changes and asks about them. null: they may be applied. Throws approval_needed. */
async function decideSome(run: Run, changes: readonly Change[], origin: Origin = "plan", ended = "") {
  const { summaries: proposed, diff } = await propose(run, changes, origin, !run.changing.dryRun);
  const lines = proposed.map(lineOf);
  const decision = run.changing.dryRun
    ? ({ accept: true, by: "policy" } as const)
    : await run.decide({
        kind: "batch",
        text: approvalWording.changes(origin, lines, ended),
        folder: folderOf(run, changes),
        diffOnAsk: diff,
        ...(!run.changing.takesWords && { takesWords: false }),
      });
  const unallowed: Refusals = decision.accept ? await findUnallowed(run, changes) : new Map();
  tellDecision(run, proposed, unallowed.size > 0 ? { accept: false, by: "user" } : decision);
  if (decision.accept && unallowed.size === 0) {
    noteYes(run, changes);
    return null;
  }
  const [declined] = unallowed.values();
  if (declined !== undefined) return declined;
  if (decision.by === "policy") {
    throw new PaiError("approval_needed", "these changes need approval", { hint: "approve changes with -y" });
  }
  return noteNo(run, proposed, diff, "feedback" in decision ? decision.feedback : null);
}

/** Merges, judges and asks, again if a file changed meanwhile. Returns why paths are refused. Throws conflict, declined. */
export async function decideStaged(run: Run, rights: Rights | null, calls: Calls): Promise<Refusals> {
  const refusals: Refusals = new Map();
  await mergeStaged(run);
  for (;;) {
    for (const [path, why] of await judgeStaged(run, rights, calls)) refusals.set(path, why);
    for (const [path, why] of await reviewBatch(run, rights, calls)) refusals.set(path, why);
    if ((await mergeStaged(run)).length === 0) return refusals;
  }
}

/** Accepts what was approved with its plan, and applies what was decided as `applyBatch`; true when there was anything. */
export async function applyDecided(run: Run, rights: Rights | null, onDone = () => {}): Promise<boolean> {
  if (!isAsked(run, rights)) await acceptBatch(run);
  return applyBatch(run, "plan", onDone);
}

/** Applies the staged changes of a saved plan, which no model makes anew. Throws the first refusal by scope, policy or guard. */
export async function applyFinished(run: Run, rights: Rights, calls: Calls): Promise<void> {
  run.changing.takesWords = false;
  await mergeStaged(run);
  for (const { code, text } of (await judgeStaged(run, rights, calls)).values()) throw new PaiError(code, text);
  await reviewBatch(run, rights, calls);
  await applyDecided(run, rights);
}

export async function acceptBatch(run: Run, origin: Origin = "plan"): Promise<void> {
  if (run.overlay.staged().length === 0) return;
  run.changing.batches += 1;
  const { summaries } = await propose(run, run.overlay.staged(), origin, false);
  tellDecision(run, summaries, { accept: true, by: "policy" });
}

/** Applies the accepted changes as one; true: there were any. Throws what Transaction.apply throws: conflict, disk_full … */
export async function applyBatch(run: Run, origin: Origin = "plan", onDone = () => {}): Promise<boolean> {
  const { overlay, emit, changing } = run;
  const changes = overlay.staged();
  if (changing.dryRun) {
    changing.staged = squash([...changing.staged, ...changes]);
    overlay.settle(null);
    noteWork(run.dialogue, changes, run.veiled.hide);
  } else if (changes.length > 0) {
    const transaction = await run.transaction();
    const earlier = transaction.changes.length;
    await listen(run.signal);
    await transaction.apply(changes, origin, run.signal);
    onDone();
    // A signal that came while many files were written must end the run, so that nothing of it stays.
    await listen(run.signal);
    emit({ type: "changes.applied", batch: changing.batches, changes: summarizeAll(changes, () => origin) });
    // Not the staged ones: the umask may have changed their modes.
    const done = transaction.changes.slice(earlier);
    overlay.settle(done);
    noteWork(run.dialogue, done, run.veiled.hide);
  }
  return changes.length > 0;
}
