/** What other people do to the files of a run while it works: found by a look at the disk, merged, and told. */
import { type Blob, type Change, sameBlob, squash } from "../../core/change.ts";
import { classOf } from "../../core/closed-names.ts";
import { textOfBlob } from "../../core/diff.ts";
import { PaiError } from "../../core/error.ts";
import { matchLines, splitLines } from "../../core/line-diff.ts";
import type { Outcome } from "../../core/outcome.ts";
import { pathWithin, type RelPath } from "../../core/path.ts";
import { type PlanClaim, pathsOfClaim } from "../../core/plan/scope.ts";
import type { Workspace } from "../../core/ports.ts";
import { nameSome } from "../../core/suggest.ts";
import { type Dispute, mergeBlobs, renderDisputes } from "../../core/three-way.ts";
import { ownChanges } from "../checks/checking.ts";
import type { Run } from "../run.ts";
import { metSomebody } from "../stage.ts";
import type { Became, Changing } from "./changing.ts";

const maxByLines = 1024 * 1024;
const linesIn = (blob: Blob | null) =>
  new Set(blob?.kind === "file" && blob.bytes.length > 0 ? textOfBlob(blob)?.split("\n") : []);

const emptied = (blob: Blob | null) => (blob?.kind === "file" ? { ...blob, bytes: new Uint8Array() } : null);

/** Whether a line that the run wrote is gone. `base`: what the run made; `ours`: what was there before; `theirs`: what is now. */
function losesOurs(dispute: Dispute): boolean {
  const made = splitLines(dispute.base);
  const keptIn = (text: string) => new Set(matchLines(made, splitLines(text)).map(([at]) => at));
  const [before, now] = [keptIn(dispute.ours), keptIn(dispute.theirs)];
  return made.some((_, at) => !before.has(at) && !now.has(at));
}

/**
 * What somebody else made of a change whose path holds `now`. Large files are not compared line by line, and lines that
 * lie at another place now are there.
 */
export function howTouched({ before, after, from }: Change, now: Blob | null): Became {
  if (after?.kind !== now?.kind) return now === null ? "removed" : "undone";
  const isLarge = [after, before, now].some((blob) => blob?.kind === "file" && blob.bytes.length > maxByLines);
  // All lines of a new file are the run's, but not those of one that it moved.
  const start = before ?? (from === null ? emptied(after) : null);
  const merge = isLarge ? null : mergeBlobs(after, start, now, "beside");
  if (merge?.kind === "disputed") return merge.disputes.some(losesOurs) ? "within" : "beside";
  if (merge?.kind !== "merged") return sameBlob(before, now) ? "undone" : "beside";
  const [made, held] = [linesIn(after).difference(linesIn(start)), linesIn(now)];
  if (sameBlob(merge.blob, now) && made.isDisjointFrom(held)) return "undone";
  return made.isSubsetOf(held) ? "beside" : "within";
}

export const isGone = (how: Became): boolean => how === "undone" || how === "removed";

interface Touched {
  readonly path: RelPath;
  readonly how: Became;
}

async function touchedOf({ workspace }: Run, changes: readonly Change[]): Promise<readonly Touched[]> {
  const found: Touched[] = [];
  for (const change of changes) {
    // What cannot be read counts as unchanged.
    const now = await workspace.read(change.path, Number.POSITIVE_INFINITY).catch(() => change.after);
    if (!sameBlob(change.after, now)) found.push({ path: change.path, how: howTouched(change, now) });
  }
  return found;
}

function note({ changing: { merged }, emit }: Run, { path, how }: Touched): void {
  const known = merged.get(path);
  if (known !== undefined && (isGone(known.how) || known.how === how)) return;
  merged.set(path, { how, isTold: false });
  const text = `${path} was changed by someone else meanwhile: what this run had changed in it is gone`;
  if (isGone(how)) emit({ type: "notice", level: "warning", code: "merged", text });
}

/** Notes which files of the run somebody else has changed since, or a check has emptied of its work; returns the former. */
export async function noteChanged(run: Run): Promise<readonly Touched[]> {
  const { merged } = run.changing;
  const all = run.begun?.changes ?? [];
  for (const [path, known] of merged) {
    if (!isGone(known.how)) continue;
    const own = all.filter((change) => change.path === path);
    const now = await touchedOf(run, own);
    if (!now.some(({ how }) => isGone(how))) merged.set(path, { ...known, how: "beside" });
  }
  const touched = await touchedOf(run, squash(all));
  for (const each of touched) note(run, each);
  const checked = new Set(changedByChecks(run));
  const beneath = squash(ownChanges(run)).filter(({ path }) => checked.has(path));
  for (const each of await touchedOf(run, beneath)) if (isGone(each.how)) note(run, each);
  return touched;
}

/** The failure of a run whose work somebody took back before its end. null: some of it is left, or it made none. */
export async function whyGone(run: Run, own: readonly Change[], failure: PaiError | null): Promise<PaiError | null> {
  const gone = (await touchedOf(run, own)).filter(({ how }) => isGone(how));
  if (own.length === 0 || gone.length < own.length) return null;
  const isRemoved = gone.every(({ how }) => how === "removed");
  const text = `what this run changed is no longer there: somebody ${isRemoved ? "deleted or moved it" : "took it back"} before the run ended`;
  const hint = "find out who else works in this folder, then run it again";
  if (failure === null || failure.code === "partial") return new PaiError("conflict", text, { hint });
  return new PaiError(failure.code, `${failure.message}; ${text}`, { hint });
}

/** Files in which somebody else took back what the run had changed by then. `untold`: those that the model's last words do not know of. */
export const lostOf = ({ merged }: Readonly<Changing>, untold = false): readonly RelPath[] =>
  [...merged].flatMap(([path, { how, isTold }]) => (isGone(how) && !(untold && isTold) ? [path] : []));

/** Files that somebody else changed, too, and those that the model was told of. `isGone`: they took back all. */
export function showMerged(
  changing: Readonly<Changing>,
  { changes, isGone: isAll = false }: { readonly changes: readonly Change[]; readonly isGone?: boolean },
): Pick<Outcome, "merged" | "overwritten" | "lost"> {
  const lost = lostOf(changing);
  const own = new Set(changes.map(({ path }) => path));
  const kept = [...changing.merged].flatMap(([path, { how, isTold }]) =>
    (isTold && !isGone(how)) || own.size === 0 || own.has(path) ? [path] : [],
  );
  const overwritten = kept.filter((path) => changing.merged.get(path)?.how === "within");
  return {
    ...(kept.length > 0 && { merged: kept }),
    ...(overwritten.length > 0 && { overwritten }),
    ...(lost.length > 0 && (changes.length > 0 || isAll) && { lost }),
  };
}

/** Paths that the user's checks, or somebody else while they ran, have changed since change `from`. */
export const changedByChecks = ({ begun, changing, checking }: Run, from = 0): readonly RelPath[] =>
  squash((begun?.changes ?? []).slice(from).filter((change) => checking.byUser.has(change)))
    .map(({ path }) => path)
    .filter((path) => !changing.ignored.has(path));

/** Those of these paths that tools make, by their name where the project ignores them: nobody compares what checks build. */
export async function findBuilt({ walk }: Pick<Workspace, "walk">, paths: readonly string[]) {
  const built = new Set(paths.filter((path) => classOf(path) === "built"));
  if (built.size > 0) for await (const { path } of walk("" as RelPath)) built.delete(path);
  return built;
}

/** Tells which files others or checks changed, but for what was told (`all`: too). `shown`: those with a diff beside it. */
export async function tellMeanwhile(
  run: Run,
  { all = false, shown = [] }: { readonly all?: boolean; readonly shown?: readonly RelPath[] } = {},
): Promise<string> {
  await noteChanged(run);
  const { merged, stays, staged } = run.changing;
  const built = run.checking.ranAt.size === 0 ? null : await findBuilt(run.workspace, shown);
  const isOfCommand = (path: RelPath) =>
    built?.has(path) === true || [...stays].some((each) => pathWithin(path, each) !== null);
  const news = run.ledger.sent === 0 ? [] : shown.filter((path) => !isOfCommand(path));
  for (const path of news) tellNews(run, path);
  const own = new Set([...(run.begun?.changes ?? []), ...staged].map(({ path }) => path));
  const told = [...merged].filter(([, { isTold }]) => all || !isTold);
  for (const [path, known] of told) merged.set(path, { ...known, isTold: true });
  const theirs = "what of it is not your edit is theirs, and stays.";
  const became: Readonly<Record<Became, string>> = {
    beside: `somebody else changed it meanwhile, too; ${theirs}`,
    within: `somebody else changed it meanwhile, too, also lines that you wrote; ${theirs}`,
    undone: `somebody else changed it meanwhile, too, and what you had changed in it by then is gone; ${theirs}`,
    removed: "somebody else deleted or moved it meanwhile, with what you had changed in it.",
  };
  const checked = changedByChecks(run, all ? 0 : run.changing.toldAt);
  run.changing.toldAt = run.begun?.changes.length ?? 0;
  const formatted = [...run.checking.formatted];
  run.checking.formatted.clear();
  const others = told.flatMap(([path]) => (own.has(path) ? [] : [path]));
  const say = (how: string, paths: readonly string[]) =>
    paths.length === 0 ? [] : [`changed ${how}, and not by you: ${nameSome(paths)}`];
  return [
    ...say("since it was shown", [...others, ...news.filter((path) => !told.some((each) => each[0] === path))]),
    ...told.flatMap(([path, { how }]) => (own.has(path) ? [`${path}: ${became[how]}`] : [])),
    ...say("while checks ran", checked),
    ...formatted,
  ].join("\n");
}

/** A command's approval was for the files as they were then, so those that changed since are left to `refuseConflict`. */
function mayMergeHere({ workspace, shell }: Run, path: RelPath, now: Blob | null): boolean {
  const bound = shell.bound.get(path);
  return workspace.mayMerge?.(path) === true && (bound === undefined || sameBlob(bound, now));
}

function tellMerged({ changing, emit }: Run, path: RelPath, what: string): void {
  changing.merged.set(path, { how: "beside", ...changing.merged.get(path), isTold: false });
  const text = `${path} was changed by someone else meanwhile: ${what}`;
  emit({ type: "notice", level: "info", code: "merged", text });
}

function refuseTouched(run: Run, change: Change, now: Change["before"]): never {
  const { path, before, after } = change;
  const [base, ours, theirs] = [before, after, now].map((blob) => run.veiled.hide(path, blob));
  const merge = mergeBlobs(base ?? null, ours ?? null, theirs ?? null);
  if (merge.kind === "disputed" && mayMergeHere(run, path, now)) {
    const text = renderDisputes(path, merge.disputes, { ours: "what pai would write", theirs: "what is there now" });
    run.emit({ type: "notice", level: "warning", code: "both_sides", text });
  }
  throw metSomebody(path, before, now);
}

/** Merges staged changes with what others have made of their files since; returns the paths. Throws conflict. */
export async function mergeStaged(run: Run): Promise<readonly RelPath[]> {
  const { overlay } = run;
  const hidden = new Set(overlay.kept().map(({ path }) => path));
  const merged: RelPath[] = [];
  await noteChanged(run);
  for (const change of overlay.staged()) {
    const { path, before, after, from } = change;
    if (before?.kind !== "file" || after?.kind !== "file" || from !== null || hidden.has(path)) continue;
    const now = await overlay.readNow(path);
    if (sameBlob(before, now)) continue;
    const merge = mergeBlobs(before, after, now);
    if (merge.kind !== "merged" || !mayMergeHere(run, path, now)) return refuseTouched(run, change, now);
    overlay.restage({ ...change, before: now, after: merge.blob });
    tellMerged(run, path, sameBlob(merge.blob, now) ? "the edit is in it already" : "merged with this edit");
    merged.push(path);
  }
  return merged;
}

function tellNews(run: Run, path: RelPath): void {
  if (!run.changing.merged.has(path)) tellMerged(run, path, "pai works with what it holds now");
}

/** The texts among these files that somebody else has changed, as they are now. `isNews`: edits do not start from that yet. */
async function findMeanwhile(run: Run, paths: readonly RelPath[]) {
  const { overlay } = run;
  const found = [];
  for (const path of paths) {
    if (!(await overlay.isChanged(path))) continue;
    const [start, now] = [await overlay.readStart(path), await overlay.readNow(path)];
    if (now?.kind !== "file" || start?.kind !== "file" || textOfBlob(start) === null || textOfBlob(now) === null)
      continue;
    const mayMerge = mayMergeHere(run, path, now);
    found.push({ path, bytes: now.bytes, isNews: !sameBlob(start, now), mayMerge });
  }
  return found;
}

/** Lets edits of the texts among these files that somebody else has changed start from what they hold now. */
export async function startFromNow(run: Run, paths: readonly RelPath[]): Promise<void> {
  for (const { path, bytes, isNews, mayMerge } of await findMeanwhile(run, paths)) {
    if (!isNews || !mayMerge) continue;
    run.overlay.show(path, bytes, "part");
    tellNews(run, path);
  }
}

/** Lets the work start from texts as they are now. `seen`: files of a diff that the person saw. Throws conflict for the rest. */
export async function acceptMeanwhile(run: Run, claims: readonly PlanClaim[], seen: ReadonlySet<RelPath> = new Set()) {
  const edited = claims.filter(({ kind }) => kind === "content").flatMap(pathsOfClaim);
  const texts = (await findMeanwhile(run, edited)).filter(({ mayMerge }) => mayMerge);
  const known = new Set(texts.map(({ path }) => path));
  await run.overlay.refuseConflict(claims.flatMap(pathsOfClaim).filter((path) => !known.has(path)));
  for (const { path, bytes, isNews } of texts) {
    if (isNews) tellNews(run, path);
    if (isNews && seen.has(path)) run.overlay.show(path, bytes, "part");
  }
}

/** After an edit that did not match: whether these files hold another text now, from which edits then start. Throws conflict. */
export async function goOnFromNow(run: Run, paths: readonly RelPath[]): Promise<boolean> {
  const merged = await mergeStaged(run);
  await run.overlay.refuseConflict(paths, true);
  const news = (await findMeanwhile(run, paths)).filter(({ isNews }) => isNews);
  for (const { path, bytes, mayMerge } of news) {
    if (!mayMerge) await run.overlay.refuseConflict([path]);
    run.overlay.show(path, bytes, "part");
    tellNews(run, path);
  }
  return news.length > 0 || paths.some((path) => merged.includes(path));
}
