/** What other people do to the files of a run while it works: found by a look at the disk, merged, and told. */
import { type Blob, type Change, sameBlob, squash } from "../../core/change.ts";
import { classOf } from "../../core/closed-names.ts";
import { textOfBlob } from "../../core/diff.ts";
import { digest } from "../../core/digest.ts";
import { PaiError } from "../../core/error.ts";
import { matchLines, splitLines } from "../../core/line-diff.ts";
import type { Outcome } from "../../core/outcome.ts";
import { nameOf, pathWithin, type RelPath } from "../../core/path.ts";
import { type PlanClaim, pathsOfClaim } from "../../core/plan/scope.ts";
import type { Workspace } from "../../core/ports.ts";
import { nameSome } from "../../core/suggest.ts";
import { type Dispute, mergeBlobs, renderDisputes } from "../../core/three-way.ts";
import { ownChanges } from "../checks/checking.ts";
import type { Run } from "../run.ts";
import { metSomebody } from "../stage.ts";
import type { Became, Changing } from "./changing.ts";

const maxByLines = 1024 * 1024;
const linesIn = (blob: Blob | null) => new Set(blob?.kind === "file" ? textOfBlob(blob)?.split("\n") : []);

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

/** Whether nothing of a change is left. */
export const isGone = (how: Became): boolean => how === "undone" || how === "removed";

/** What the path of a change holds now, whatever its size. What cannot be read counts as unchanged. */
const nowAt = ({ read }: Workspace, { path, after }: Change): Promise<Blob | null> =>
  read(path, Number.POSITIVE_INFINITY).catch(() => after);

/** How many files are compared with what is gone, beside those of the same name. */
const maxCompared = 2_000;

/**
 * Where files that are gone lie now: for each the first file that holds the same, if it is not empty. `gone`: by path the
 * digest of what each held. `digestOf`: of what a file holds now, unless it counts as no new place.
 */
export async function findMoved(
  { walk }: Pick<Workspace, "walk">,
  gone: ReadonlyMap<string, string>,
  digestOf: (path: RelPath) => Promise<string | null | undefined>,
): Promise<ReadonlyMap<string, RelPath>> {
  const moved = new Map<string, RelPath>();
  const open = new Map([...gone].filter(([, held]) => held !== digest("")));
  if (open.size === 0) return moved;
  const names = new Set([...open.keys()].map(nameOf));
  let seen = 0;
  for await (const { path, kind } of walk("" as RelPath)) {
    if (kind !== "file" || (++seen > maxCompared && !names.has(nameOf(path)))) continue;
    const now = await digestOf(path);
    const same = [...open.keys()].filter((old) => open.get(old) === now);
    const old = same.find((each) => nameOf(each) === nameOf(path)) ?? same[0];
    if (old !== undefined && open.delete(old)) moved.set(old, path);
    if (open.size === 0) break;
  }
  return moved;
}

/** A change of the run to whose path somebody else has done something since. */
interface Touched {
  readonly path: RelPath;
  readonly how: Became;
  /** Where a moved file lies now. */
  readonly place?: RelPath;
}

/** Those of these changes to whose paths somebody else has done something since. */
async function touchedOf(run: Run, changes: readonly Change[]): Promise<readonly Touched[]> {
  const found: Touched[] = [];
  for (const change of changes) {
    const now = await nowAt(run.workspace, change);
    if (!sameBlob(change.after, now)) found.push({ path: change.path, how: howTouched(change, now) });
  }
  const removed = new Set(found.flatMap(({ path, how }) => (how === "removed" ? [path] : [])));
  const places = await placesOf(
    run,
    changes.filter(({ path }) => removed.has(path)),
  );
  return found.map((each) => {
    const place = places.get(each.path);
    return place === undefined ? each : { path: each.path, how: "moved", place };
  });
}

/** Where files of these removed changes lie now, if somebody moved them as they were. */
async function placesOf({ workspace, begun }: Run, removed: readonly Change[]): Promise<ReadonlyMap<string, RelPath>> {
  const files = removed.flatMap(({ path, after }) => (after?.kind === "file" ? [{ path, bytes: after.bytes }] : []));
  const limit = Math.max(0, ...files.map(({ bytes }) => bytes.length));
  const own = new Set((begun?.changes ?? []).map(({ path }) => path));
  return findMoved(workspace, new Map(files.map(({ path, bytes }) => [path, digest(bytes)])), async (path) => {
    const blob = own.has(path) ? null : await workspace.read(path, limit).catch(() => null);
    return blob?.kind === "file" ? digest(blob.bytes) : null;
  });
}

/** Notes what became of one change. The screen names it where nothing is left of it, or it lies at another place. */
function note({ changing: { merged }, emit }: Run, touched: Touched): void {
  const { path, how, place } = touched;
  const known = merged.get(path);
  if (known !== undefined && (isGone(known.how) || known.how === how)) return;
  merged.set(path, { ...touched, isTold: false });
  const text =
    place === undefined
      ? `${path} was changed by someone else meanwhile: what this run had changed in it is gone`
      : `${path} was moved by someone else meanwhile: ${place} holds the same`;
  if (isGone(how) || how === "moved") emit({ type: "notice", level: "warning", code: "merged", text });
}

/**
 * Notes which files of the run somebody else has changed since, and returns them; those where a check, or somebody while it
 * ran, left nothing of the run's own work are noted, too. What the run has made again since is not gone.
 */
export async function noteChanged(run: Run): Promise<readonly Touched[]> {
  const { merged } = run.changing;
  const all = run.begun?.changes ?? [];
  for (const [path, known] of merged) {
    if (!isGone(known.how)) continue;
    const now = await touchedOf(
      run,
      all.filter((change) => change.path === path),
    );
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

/**
 * Files that somebody else changed, too: of what was kept, or of a run of which nothing was, and those that the model was
 * told of. `isGone`: they took back all.
 */
export function showMerged(
  changing: Readonly<Changing>,
  { changes, isGone: isAll = false }: { readonly changes: readonly Change[]; readonly isGone?: boolean },
): Pick<Outcome, "merged" | "overwritten" | "lost"> {
  const lost = lostOf(changing);
  const own = new Set(changes.map(({ path }) => path));
  // The next turn names the place of a moved file, as it does for one that is moved between turns.
  const kept = [...changing.merged].flatMap(([path, { how, isTold }]) =>
    how !== "moved" && ((isTold && !isGone(how)) || own.size === 0 || own.has(path)) ? [path] : [],
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

/**
 * Tells the model which files somebody else, or a check of the user, changed, too: those that it was not told of, or
 * all; "": none. `shown`: those of whose change by somebody else the same message shows a diff. The first request of a
 * run names none of these: it tells what has happened since the last turn.
 */
export async function tellMeanwhile(
  run: Run,
  { all = false, shown = [] }: { readonly all?: boolean; readonly shown?: readonly RelPath[] } = {},
): Promise<string> {
  await noteChanged(run);
  const { merged, stays, staged } = run.changing;
  // Nobody compares what checks build.
  const mayBeBuilt = (path: RelPath) => run.checking.ranAt.size > 0 && classOf(path) === "built";
  const isOfCommand = (path: RelPath) => mayBeBuilt(path) || [...stays].some((each) => pathWithin(path, each) !== null);
  const news = run.ledger.sent === 0 ? [] : shown.filter((path) => !isOfCommand(path));
  for (const path of news) tellNews(run, path);
  const own = new Set([...(run.begun?.changes ?? []), ...staged].map(({ path }) => path));
  const told = [...merged].filter(([, { isTold }]) => all || !isTold);
  for (const [path, known] of told) merged.set(path, { ...known, isTold: true });
  const theirs = "what of it is not your edit is theirs, and stays.";
  const became: Readonly<Record<Became, (place?: string) => string>> = {
    beside: () => `somebody else changed it meanwhile, too; ${theirs}`,
    within: () => `somebody else changed it meanwhile, too, also lines that you wrote; ${theirs}`,
    undone: () => `somebody else changed it meanwhile, too, and what you had changed in it by then is gone; ${theirs}`,
    removed: () => "somebody else deleted or moved it meanwhile, with what you had changed in it.",
    moved: (place) => `somebody else moved it meanwhile: ${place} holds the same.`,
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
    ...told.flatMap(([path, { how, place }]) => (own.has(path) ? [`${path}: ${became[how](place)}`] : [])),
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

/** Shows both sides of the lines in question to the person, and throws conflict. */
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

/**
 * Merges staged changes of files with what somebody else has made of them since. Returns the merged paths. Throws
 * conflict where both touch the same lines or neighbours, and for what is not merged by lines.
 */
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

/** Tells once that work on a file goes on from what it holds now. */
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

/**
 * Looks at the paths that a plan promised to change. Where somebody else has changed a text since, the work starts from
 * it as it is now. `seen`: the files of a diff that the person has seen; the edits of that diff start from it, too. Throws
 * conflict for anything else that has changed.
 */
export async function acceptMeanwhile(
  run: Run,
  claims: readonly PlanClaim[],
  seen: ReadonlySet<RelPath> = new Set(),
): Promise<void> {
  const edited = claims.filter(({ kind }) => kind === "content").flatMap(pathsOfClaim);
  const texts = (await findMeanwhile(run, edited)).filter(({ mayMerge }) => mayMerge);
  const known = new Set(texts.map(({ path }) => path));
  await run.overlay.refuseConflict(claims.flatMap(pathsOfClaim).filter((path) => !known.has(path)));
  for (const { path, bytes, isNews } of texts) {
    if (isNews) tellNews(run, path);
    if (isNews && seen.has(path)) run.overlay.show(path, bytes, "part");
  }
}

/**
 * After an edit that did not match, or changed nothing: lets edits of these files start from what they hold now. Returns
 * whether that is another text than before, so that the edit may match now. Throws conflict as `mergeStaged`, and for other
 * changes by somebody else.
 */
export async function goOnFromNow(run: Run, paths: readonly RelPath[]): Promise<boolean> {
  const merged = await mergeStaged(run);
  await run.overlay.refuseUnknown(paths);
  const news = (await findMeanwhile(run, paths)).filter(({ isNews }) => isNews);
  for (const { path, bytes, mayMerge } of news) {
    if (!mayMerge) await run.overlay.refuseConflict([path]);
    run.overlay.show(path, bytes, "part");
    tellNews(run, path);
  }
  return news.length > 0 || paths.some((path) => merged.includes(path));
}
