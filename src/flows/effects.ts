/** Judges what a command did to the workspace, by one set of rules, and keeps all of it or nothing. */

import { approvalWording } from "../core/approval-wording.ts";
import type { Change, Effects, Refused } from "../core/change.ts";
import { classOf } from "../core/closed-names.ts";
import { spellAllow } from "../core/command/quote.ts";
import { noteWork } from "../core/dialogue.ts";
import { summarizeAll } from "../core/diff.ts";
import { PaiError } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import type { Rights } from "../core/plan/scope.ts";
import type { CommandResult } from "../core/ports.ts";
import { listen } from "../core/steps.ts";
import { nameSome } from "../core/suggest.ts";
import { isAllowed, refuseUnallowed, withinOnly } from "./changes/allowed.ts";
import { acceptBatch, applyBatch, decideCommand, isAsked } from "./changes/batch.ts";
import type { Refusal } from "./changes/changing.ts";
import { judgeCommand, refusePath, touchedBy } from "./changes/judge.ts";
import type { Run } from "./run.ts";

export interface Ended extends CommandResult {
  readonly command: string;
}

export function describeEnd({ exit, timedOut }: Pick<CommandResult, "exit" | "timedOut">): string {
  if (timedOut) return "ended by the time limit";
  return exit === null ? "ended by a signal" : `exit ${exit}`;
}

export const hasEffects = ({ changes, carried, refused }: Effects): boolean =>
  changes.length + carried.length + refused.length > 0;

/** Keeps all effects of a command of the model or none, and reports what stays. Returns why none was kept; null: they were. */
export async function settleEffects(run: Run, rights: Rights | null, ended: Ended): Promise<Refusal | null> {
  const { effects, held } = ended;
  if (!hasEffects(effects)) {
    if (held.isCopy) await dropEffects(run, effects, null);
    return null;
  }
  let isSettled = false;
  try {
    const refusal = (await refuse(run, rights, ended)) ?? (held.isCopy ? await decide(run, rights, ended) : null);
    if (refusal === null) {
      await keep(run, ended);
      isSettled = true;
      return null;
    }
    if (!held.isCopy) tellStays(run, ended, await dropEffects(run, effects, null));
    const back = held.isCopy ? "nothing that the command changed was kept" : "what the command changed was taken back";
    return { ...refusal, text: `${back}. ${refusal.text}` };
  } finally {
    if (held.isCopy) run.overlay.drop(new Set(effects.changes.map(({ path }) => path)));
    if (held.isCopy && !isSettled) await dropEffects(run, effects, null);
  }
}

/**
 * Judges what a check of the user did in place: they typed the command, but not what it does, and it may have run code
 * that the model wrote. What is asked about is taken back unless somebody allows it; the rest stays. Reports both.
 */
export async function settleCheck(run: Run, ended: Ended): Promise<void> {
  const { command, effects } = ended;
  const tell = (code: string, text: string) =>
    run.emit({ type: "notice", level: "warning", code, text: `${command}: ${text}` });
  const { changes, carried, refused } = effects;
  const forbidden = refused.find(({ why }) => why !== null);
  if (forbidden !== undefined) {
    tellStays(run, ended, await dropEffects(run, effects, null));
    return tell("path_refused", `what it changed was taken back: ${forbidden.why}`);
  }
  const asked = (await refuseUnallowed(run, [...touchedBy(changes), ...largeOf(effects)]))?.paths ?? [];
  const isBack = ({ path, runsUnasked }: Refused) => !run.interactive && runsUnasked && !isAllowed(run.changing, path);
  const unwanted = [...asked, ...refused.filter(isBack).map(({ path }) => path)];
  const unkept = unwanted.length === 0 ? [] : await dropEffects(run, effects, new Set(unwanted));
  const back = unwanted.filter((path) => !unkept.includes(path));
  const closed = refused.filter((each) => !isBack(each)).map(({ path }) => path);
  if (back.length > 0) {
    const way = asked.length === 0 ? "" : `; ${asked.map(spellAllow).join(" ")} allows it`;
    const text = `it changed what may run code later or steer agents, which was taken back: ${nameSome(back)}${way}`;
    tell("path_refused", text);
  }
  if (closed.length > 0) {
    const text = `it changed files that are closed to pai, and that go back if the run fails: ${nameSome(closed)}`;
    tell("command_left", text);
  }
  const stays = carried.flatMap(({ path }) => (back.includes(path) ? [] : [path]));
  tellStays(run, ended, stays);
}

const largeOf = ({ carried }: Effects): readonly RelPath[] =>
  carried.filter(({ isIgnored }) => !isIgnored).map(({ path }) => path);

async function refuse(run: Run, rights: Rights | null, { effects, held }: Ended): Promise<Refusal | null> {
  const { changes, refused } = effects;
  if (refused.length > 0) return { code: "path_refused", text: sayRefused(refused) };
  const large = largeOf(effects);
  for (const path of large) {
    const refusal = refusePath(run, path, "write");
    if (refusal !== null) return refusal;
  }
  const unallowed = await refuseUnallowed(run, large);
  if (unallowed !== null) return { code: unallowed.error.code, text: unallowed.error.message };
  // On a copy people at a terminal see the changes first, and decideCommand then asks.
  const isShown = held.isCopy && run.interactive;
  const judged = changes.filter(({ isIgnored }) => !isIgnored);
  return (await judgeCommand(run, rights, judged, isShown)) ?? refuseLost(run, effects, held.isCopy);
}

function sayRefused(refused: readonly Refused[]): string {
  const why = refused.find((each) => each.why !== null)?.why ?? null;
  if (why !== null) return why;
  const way = refused.some(({ path }) => /(^|\/)\.git(\/|$)/.test(path))
    ? "; --allow-write .git lets commands write it"
    : "";
  return `${nameSome(refused.map(({ path }) => path))} may not be changed${way}`;
}

/** Deletions that cannot be undone need a yes of their own, headless --allow-delete. `isCopy`: they can be prevented. */
async function refuseLost(run: Run, { carried }: Effects, isCopy: boolean): Promise<Refusal | null> {
  const { changing, decide, interactive } = run;
  const lost = carried.flatMap((each) => each.lost);
  if (lost.length === 0 || changing.allowDelete || changing.dryRun) return null;
  const named = nameSome(lost);
  if (!interactive) {
    const does = isCopy ? `it deletes ${named}, ignored and` : `it deleted ${named}, which`;
    return { code: "delete_refused", text: `${does} cannot be restored: headless that needs --allow-delete` };
  }
  if (!isCopy) return null;
  if ((await decide({ kind: "changes", text: approvalWording.lostFiles(lost) })).accept) return null;
  return { code: "declined", text: `the user declined to delete ${named}` };
}

const isMadeFolder = ({ before, after }: Change): boolean => before === null && after?.kind === "folder";

/** Accepts proposed changes if the plan promised every path, or if they are new folders; else shows them and asks. */
async function decide(run: Run, rights: Rights | null, ended: Ended): Promise<Refusal | null> {
  const changes = ended.effects.changes.filter(({ isIgnored }) => !isIgnored);
  if (changes.length === 0) return null;
  run.overlay.stage(changes, true);
  const isPlanned = rights !== null && changes.every((change) => isPromised(rights, change));
  if (changes.every(isMadeFolder) || (isPlanned && !isAsked(run, rights))) {
    await acceptBatch(run, "command");
    return null;
  }
  try {
    return await decideCommand(run, describeEnd(ended));
  } catch (thrown) {
    if (thrown instanceof PaiError && thrown.code === "approval_needed" && rights !== null) {
      return { code: "declined", text: "they were not in the plan, and nobody could be asked" };
    }
    throw thrown;
  }
}

function isPromised({ scope }: Rights, { path, after }: Change): boolean {
  if (after === null) return [...scope.deletes].some((each) => path === each || path.startsWith(`${each}/`));
  return after.kind === "folder" ? scope.folders.has(path) : scope.content.has(path);
}

/** Applies what was proposed, and keeps of ignored paths what --only names. */
async function keep(run: Run, { command, effects, held: { isCopy } }: Ended): Promise<void> {
  const { overlay, emit, signal, changing } = run;
  if (isCopy) await applyBatch(run, "command");
  else emitApplied(run, effects.changes);
  if (changing.dryRun) return void (await dropEffects(run, effects, null));
  const isKept = (path: RelPath) => withinOnly(changing.only, path);
  const ignored = effects.changes.filter(({ isIgnored }) => isIgnored).map(({ path }) => path);
  const carried = effects.carried.map(({ path }) => path);
  overlay.release([...ignored, ...carried]);
  const transaction = await run.transaction();
  const from = transaction.changes.length;
  await listen(signal);
  const stays = await transaction.keep(effects, isKept, signal);
  await listen(signal);
  const applied = transaction.changes.slice(from);
  overlay.learn(applied);
  noteWork(run.dialogue, applied, run.veiled.hide);
  for (const path of ignored.filter(isKept)) changing.ignored.add(path);
  if (isCopy) emitApplied(run, applied);
  tellStays(run, { command, effects }, stays);
  const left = [...ignored, ...(isCopy ? carried : [])].filter((path) => !isKept(path));
  if (left.length === 0) return;
  const text = `${command}: ${nameSome(left)} ${left.length === 1 ? "is ignored: it was" : "are ignored: they were"} not kept, as --only ${changing.only.flat().join(" ")} leaves it out`;
  emit({ type: "notice", level: "info", code: "command_left", text });
}

function emitApplied({ emit, changing }: Run, changes: readonly Change[]): void {
  if (changes.length === 0) return;
  emit({ type: "changes.applied", batch: changing.batches, changes: summarizeAll(changes, () => "command") });
}

const isCache = (path: string) => classOf(path) === "built" && /cache/i.test(path);

/** Reports paths whose change no undo takes back, and counts those that are ignored; caches of tools are neither. */
function tellStays(run: Run, { command, effects }: Pick<Ended, "command" | "effects">, stays: readonly RelPath[]) {
  const open = new Set(largeOf(effects));
  const tell = (paths: readonly RelPath[], what: string): void => {
    if (paths.length === 0) return;
    const text = `${command}: ${nameSome(paths)} ${what}`;
    run.emit({ type: "notice", level: "info", code: "command_left", text });
  };
  // A cache of a tool is nobody's work: it is not worth a line in every run.
  const ignored = stays.filter((path) => !open.has(path) && !isCache(path));
  for (const path of ignored) run.changing.stays.add(path);
  const [one, more] = ["is ignored: no undo takes its change back", "are ignored: no undo takes their changes back"];
  tell(ignored, ignored.length === 1 ? one : more);
  const uncopied = stays.filter((path) => open.has(path));
  tell(uncopied, "changed, and no copy was kept: no undo takes it back");
}

/** Takes effects back; `paths` null: all. Returns the paths that stay as they are, as there was no copy of them. */
export async function dropEffects(run: Run, effects: Effects, paths: ReadonlySet<RelPath> | null) {
  const transaction = await run.transaction();
  const from = transaction.changes.length;
  const { left, stays } = await transaction.drop(effects, paths);
  const back = transaction.changes.slice(from);
  run.overlay.learn(back);
  noteWork(run.dialogue, back, run.veiled.hide);
  for (const path of left) {
    const text = `${path} was changed by someone else meanwhile and was left as it is`;
    run.emit({ type: "notice", level: "warning", code: "left_in_place", text });
  }
  return stays;
}
