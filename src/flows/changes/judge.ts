/** Refuses staged changes: by the change guard, for want of a yes of their own, or because their call is refused. */

import { replyCaps } from "../../core/caps.ts";
import { type Blob, type Change, losesFile } from "../../core/change.ts";
import { toPaiError } from "../../core/error.ts";
import { type GuardInput, judgeSteps, type Verdict } from "../../core/guard/guard.ts";
import { type PathUse, parentOf, type RelPath, resolveFrom } from "../../core/path.ts";
import type { Rights } from "../../core/plan/scope.ts";
import { pace } from "../../core/steps.ts";
import type { Run } from "../run.ts";
import { mayHoldSecrets, refuseUnallowed, typedFor, withinOnly } from "./allowed.ts";
import type { Refusal } from "./changing.ts";

export type Refusals = Map<RelPath, Refusal>;
/** The paths that each call of a reply changes. */
export type Calls = readonly (readonly RelPath[])[];

/** Whether a person allows what the guard leaves to them; lost lines are only told where nobody can be asked. */
async function isAllowed(run: Run, { verdict, rule, text }: Verdict): Promise<boolean> {
  if (verdict !== "ask") return false;
  if (rule !== "deletion" || run.interactive) return (await run.decide({ kind: "changes", text })).accept;
  run.emit({ type: "notice", level: "warning", code: "lines_lost", text });
  return true;
}

/** What was announced; without a plan the task's words and every deletion, as each was a call that was allowed. */
function plannedIn(run: Run, rights: Rights | null, changes: readonly Change[]): GuardInput["planned"] {
  if (rights !== null) {
    return { by: "plan", deletes: [...rights.scope.deletes], texts: rights.texts, isTyped: typedFor(run, rights) };
  }
  const deletes = changes.filter(({ after }) => after === null).map(({ path }) => path);
  return { by: "task", deletes, texts: [run.task.text] };
}

/** A file that may hold secrets is never opened to more people, and no link leads to what is asked about. */
function refuseSetting({ changing, workspace }: Run, { path, before, after, from }: Change): Refusal | null {
  if (after?.kind === "link" && from === null) {
    const target = after.target.startsWith("/") ? (after.target as RelPath) : resolveFrom(parentOf(path), after.target);
    const why = target === null ? null : (workspace.whyClosed(target) ?? workspace.concern(target));
    return why === null ? null : { code: "path_refused", text: `${path} may not lead to ${target}: ${why}` };
  }
  if (after?.kind !== "file" || before?.kind !== "file" || (after.mode & ~before.mode & 0o777) === 0) return null;
  if (workspace.whyClosed(path) === null && !mayHoldSecrets(changing, path)) return null;
  return { code: "path_refused", text: `${path} may hold secrets: its mode is never made wider` };
}

/** What the guard, or the person whom it asks, refuses. `allowed` holds what got a yes, as "rule path". */
async function findRefusals(run: Run, input: Omit<GuardInput, "limits">, allowed: Set<string> = new Set()) {
  const refused: Refusals = new Map();
  for (const verdict of await pace(judgeSteps({ ...input, limits: run.changing.guard }), run.signal)) {
    const { path, rule, text } = verdict;
    if (refused.has(path) || allowed.has(`${rule} ${path}`)) continue;
    if (rule === "secret" && mayHoldSecrets(run.changing, path)) continue;
    if (await isAllowed(run, verdict)) allowed.add(`${rule} ${path}`);
    else refused.set(path, { code: rule === "secret" ? "secret_refused" : "guard_refused", text });
  }
  return refused;
}

/** Files that these changes leave behind: deleted files and folders alone run and steer nothing. */
export const touchedBy = (changes: readonly Change[]): readonly RelPath[] =>
  changes.filter(({ after }) => after !== null && after.kind !== "folder").map(({ path }) => path);

export async function findUnallowed(run: Run, changes: readonly Change[]): Promise<Refusals> {
  const refusal = await refuseUnallowed(run, touchedBy(changes));
  const { code, message: text } = refusal?.error ?? { code: "path_refused", message: "" };
  return new Map(refusal?.paths.map((path) => [path, { code, text }]));
}

const isMade = ({ before, after, from }: Change) => before === null && after?.kind === "folder" && from === null;

/** Adds to `refused` the rest of each refused call and what lies below a refused path, but no new folders. */
function spread(refused: Refusals, staged: readonly Change[], calls: Calls): void {
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

function findUnneeded(refused: Refusals, staged: readonly Change[], calls: Calls): RelPath[] {
  const made = staged.filter(isMade).map(({ path }) => path);
  const wanted = calls.filter((paths) => !paths.some((path) => refused.has(path))).flat();
  return made.filter((folder) => !wanted.some((path) => path === folder || path.startsWith(`${folder}/`)));
}

/** Drops what is refused of the staged changes, whole calls at a time, and adds to `refused` what goes with it. */
export function dropRefused({ overlay }: Run, refused: Refusals, staged: readonly Change[], calls: Calls): void {
  spread(refused, staged, calls);
  overlay.drop(new Set([...refused.keys(), ...findUnneeded(refused, staged, calls)]));
}

/** The run's own changes so far, but for those of checks to files that it had not touched yet. */
function earlierOf({ begun, changing, checking }: Run): readonly Change[] {
  const touched = new Set<RelPath>();
  return (changing.dryRun ? changing.staged : (begun?.changes ?? [])).filter((change) => {
    if (checking.byUser.has(change) && !touched.has(change.path)) return false;
    touched.add(change.path);
    return true;
  });
}

/** Drops what is refused, whole calls at a time, until nothing more drops out: lines may have moved to a file that did. */
export async function judgeStaged(run: Run, rights: Rights | null, calls: Calls): Promise<Refusals> {
  const refused: Refusals = new Map();
  const allowed = new Set<string>();
  for (;;) {
    const staged = run.overlay.staged();
    const earlier = earlierOf(run);
    const planned = plannedIn(run, rights, [...earlier, ...staged]);
    const found = await findRefusals(run, { planned, earlier, batch: staged }, allowed);
    // At a terminal without a plan, people see the changes first, and reviewBatch then asks.
    const unallowed = rights === null && run.interactive ? [] : await findUnallowed(run, staged);
    for (const change of staged) {
      const why = refuseSetting(run, change);
      if (why !== null) found.set(change.path, why);
    }
    if (found.size === 0 && [...unallowed].length === 0) return refused;
    for (const [path, why] of [...found, ...unallowed]) refused.set(path, why);
    dropRefused(run, refused, staged, calls);
  }
}

/** Why policy or --only forbids to change this path; null: they allow it. */
export function refusePath({ changing: { only }, overlay }: Run, path: RelPath, use: PathUse): Refusal | null {
  try {
    overlay.path(path, use);
  } catch (thrown) {
    const { code, message } = toPaiError(thrown);
    return { code, text: message };
  }
  if (withinOnly(only, path)) return null;
  return { code: "scope_refused", text: `${path} is outside --only ${only.flat().join(" ")}` };
}

/** Refuses, headless and without --allow-delete, that a command deletes what existed before the run. null: allowed. */
function refuseDeleted(
  { changing, interactive }: Run,
  earlier: readonly Change[],
  changes: readonly Change[],
): Refusal | null {
  if (interactive || changing.allowDelete || changing.dryRun) return null;
  const made = new Set(earlier.filter(({ before }) => before === null).map(({ path }) => path));
  const isDeleted = (change: Change) => losesFile(change) || (change.before !== null && change.after === null);
  const deleted = changes.find((change) => isDeleted(change) && !made.has(change.path));
  if (deleted === undefined) return null;
  const how =
    deleted.after === null ? `deletes ${deleted.path}` : `replaces ${deleted.path} by a ${deleted.after.kind}`;
  return { code: "delete_refused", text: `it ${how}: headless that needs --allow-delete` };
}

const useOfChange = ({ after }: Change): PathUse =>
  after === null ? "delete" : after.kind === "folder" ? "folder" : "write";

/** Why the changes of a command are refused as a whole; null: they are not. `isShown`: people are asked about them after this. */
export async function judgeCommand(run: Run, rights: Rights | null, changes: readonly Change[], isShown: boolean) {
  for (const change of changes) {
    const refusal = refusePath(run, change.path, useOfChange(change));
    if (refusal !== null) return refusal;
  }
  const earlier = earlierOf(run).filter((change) => !changes.includes(change));
  const deleted = refuseDeleted(run, earlier, changes);
  if (deleted !== null) return deleted;
  const refusals = await findRefusals(run, { planned: plannedIn(run, rights, []), earlier, batch: changes });
  const unallowed = isShown ? [] : (await findUnallowed(run, changes)).values();
  const [refused] = [...refusals.values(), ...unallowed];
  return refused ?? null;
}

export type SizeCap = ReturnType<typeof openSizeCap>;

const bytesOf = (blob: Blob | null): number => (blob?.kind === "file" ? blob.bytes.length : 0);

export function openSizeCap() {
  let paths = 0;
  let written = 0;
  let removed = 0;
  return {
    /** Counts these changes; a text: why they are too much, and they are not counted. */
    take(changes: readonly Change[]): string | null {
      let [more, less] = [0, 0];
      for (const { before, after } of changes) {
        if (after === null) less += bytesOf(before);
        else more += bytesOf(after);
      }
      if (paths + changes.length > replyCaps.paths) return `not done: one reply may change ${replyCaps.paths} paths`;
      if (Math.max(written + more, removed + less) > replyCaps.bytes)
        return `not done: one reply may write or remove ${replyCaps.bytes / 1024 / 1024} MiB; send the rest in the next`;
      paths += changes.length;
      written += more;
      removed += less;
      return null;
    },
  };
}
