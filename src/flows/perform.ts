/** The only door to effects for the calls of a reply: stage, judge, decide, apply. Enforces scope, policy, guard and budget. */

import { replyCaps } from "../core/caps.ts";
import { type ErrorCode, toPaiError } from "../core/error.ts";
import { spellHidden } from "../core/invisible.ts";
import { mapTexts } from "../core/map-texts.ts";
import { type Call, type CallResult, isFields, type Json } from "../core/model.ts";
import type { RelPath } from "../core/path.ts";
import { type PlanClaim, pathsOfClaim, type Rights } from "../core/plan/scope.ts";
import type { AnyAction, Proposal } from "../core/ports.ts";
import { breathe } from "../core/steps.ts";
import { endedBefore, isRefusal } from "./acting.ts";
import { claimOfCall, pathsOfCall, requireOpened, requireRight, targetOfCall } from "./approval.ts";
import { noteHidden, noteRead } from "./briefing/sources.ts";
import { isVeiled, refuseNames, unveil } from "./changes/allowed.ts";
import { applyDecided, decideStaged, waiting } from "./changes/batch.ts";
import { openSizeCap, type SizeCap } from "./changes/judge.ts";
import { goOnFromNow } from "./changes/meanwhile.ts";
import { learnNamed, renderCommand, renderNotRun, runPlanned } from "./commands/commands.ts";
import { previewCall } from "./rehearse.ts";
import type { Run } from "./run.ts";

/** How one call of a batch went. `text` is worded for the model. */
export interface CallReport extends CallResult {
  readonly input: Json;
  readonly target: string;
  /** null: it worked, or its result was there already, or it is a command (its exit code is in the text). */
  readonly code: ErrorCode | null;
  readonly paths: readonly RelPath[];
  readonly kind: AnyAction["kind"];
  /** A refused request beyond the plan, so the plan does not need it. */
  readonly isBeyond?: boolean;
  /** The person wants it otherwise, and the model is asked for it again. */
  readonly isAnew?: boolean;
}

export interface BatchReport {
  readonly reports: readonly CallReport[];
  /** The batch changed something on disk, or in a dry run on top of it. */
  readonly changed: boolean;
}

/** Both as one, without what the first was to make anew, and without its failures that the second made up for. */
export function joinBatches(first: BatchReport, next: BatchReport): BatchReport {
  const made = new Set(next.reports.flatMap(({ ok, kind, paths }) => (ok && kind === "change" ? paths : [])));
  const isMadeUp = ({ code, paths }: CallReport) =>
    code !== null && paths.length > 0 && paths.every((path) => made.has(path));
  return {
    reports: [...first.reports.filter((report) => report.isAnew !== true && !isMadeUp(report)), ...next.reports],
    changed: first.changed || next.changed,
  };
}

interface Batch {
  readonly run: Run;
  readonly rights: Rights | null;
  readonly actions: ReadonlyMap<string, AnyAction>;
  readonly reports: CallReport[];
  readonly cap: SizeCap;
  waiting: { readonly call: Call; readonly text: string; readonly paths: readonly RelPath[] }[];
  changed: boolean;
  /** What kept the changes before a command from being made: it ends the run, and the command did not fail. */
  end: unknown;
}

interface Result extends Pick<CallReport, "kind" | "code" | "text" | "isBeyond" | "isAnew"> {
  readonly paths?: readonly RelPath[];
  /** A command that may not run here: counted neither as done nor as failed. */
  readonly isNotRun?: boolean;
  /** A command that ran and did not end well: no failure of the call, whose result says it. */
  readonly isRed?: boolean;
  /** A line for the model only: how to write the call so that it is allowed. */
  readonly advice?: string | null;
}

function report({ run, rights, reports }: Batch, call: Call, result: Result): void {
  const { kind, code, text, paths = [], isNotRun = false, isRed = false, isBeyond = false, advice = null } = result;
  const { id, name, input } = call;
  const target = targetOfCall(call);
  const entry: CallReport = {
    id,
    name,
    input,
    target,
    ok: code === null && !isRed && !isNotRun,
    text: spellHidden(advice === null ? text : `${text}\n${advice}`),
    code,
    paths,
    kind,
    isBeyond,
    isAnew: rights !== null && result.isAnew === true,
  };
  reports.push(entry);
  if (!isNotRun && !entry.isAnew) run.acting.tally.note(entry);
  run.emit({ type: "call.finished", id, action: name, target, ok: entry.ok, text: lineFor(kind, code, text) });
}

function lineFor(kind: AnyAction["kind"], code: ErrorCode | null, text: string): string {
  if (kind === "look" && code === null) return "";
  return kind === "command" ? (text.split("\n", 1)[0] ?? "") : text;
}

async function flush(batch: Batch): Promise<void> {
  const { run, rights, waiting, reports } = batch;
  const earlier = reports.length;
  batch.waiting = [];
  const calls = waiting.map(({ paths }) => paths);
  const refusals = await decideStaged(run, rights, calls);
  const before = run.begun?.changes.length ?? 0;
  const tell = (isApplied: boolean) => {
    for (const { call, text, paths } of waiting.splice(0)) {
      const refused = paths.flatMap((path) => refusals.get(path) ?? []).at(0);
      if (isApplied || refused) report(batch, call, { kind: "change", code: null, text, ...refused, paths });
    }
  };
  try {
    if (await applyDecided(run, rights, () => tell(true))) batch.changed = true;
    tell(true);
  } finally {
    tell((run.begun?.changes.length ?? 0) > before);
  }
  run.acting.made.push(...reports.slice(earlier).filter(({ ok }) => ok));
}

type Proposed = Extract<Proposal, { kind: "change" }>;

async function takeChanges(batch: Batch, call: Call, { changes: proposed, text }: Proposed, paths: readonly RelPath[]) {
  const { run, rights, waiting } = batch;
  const changes = isVeiled(call.name) ? await unveil(run, rights, proposed) : proposed;
  if ("code" in changes) return report(batch, call, { kind: "change", ...changes, paths });
  const over = batch.cap.take(changes);
  if (over !== null) return report(batch, call, { kind: "change", code: "file_unusable", text: over, paths });
  run.overlay.stage(changes);
  waiting.push({ call, text, paths: [...new Set([...paths, ...changes.map(({ path }) => path)])] });
}

async function take(batch: Batch, call: Call, proposal: Proposal, claim: PlanClaim | null): Promise<void> {
  const { run, rights } = batch;
  const paths = claim === null ? [] : pathsOfClaim(claim);
  if (proposal.kind === "answer") {
    const text = proposal.foreign === true ? await hideForeign(run, call, proposal.text) : proposal.text;
    run.emit({ type: "look.shown", action: call.name, target: targetOfCall(call), text });
    noteHidden(run, `${call.name} ${targetOfCall(call)}`.trim(), text);
    if (rights === null) await noteRead(run, call);
    report(batch, call, { kind: "look", code: null, text, paths });
  } else if (proposal.kind === "change") {
    await takeChanges(batch, call, proposal, paths);
  } else if (!(await decideBefore(batch, call))) await takeCommand(batch, call, proposal, claim);
}

/** What a tool of a server answers may be the content of a file that the call names. */
async function hideForeign(run: Run, { input }: Call, text: string): Promise<string> {
  const texts: string[] = [];
  mapTexts(input, (each) => {
    texts.push(each);
    return each;
  });
  await learnNamed(run, texts.join("\n"));
  return run.veil.hideOutput(text);
}

async function takeCommand(
  batch: Batch,
  call: Call,
  proposal: Extract<Proposal, { kind: "command" }>,
  claim: PlanClaim | null,
): Promise<void> {
  const { run, rights } = batch;
  const promised = claim?.kind === "command" ? claim.command : proposal.command;
  const ran = await runPlanned(run, rights, { ...proposal, action: call.name, promised });
  if (ran !== null && ran.refused === null && ran.effects.changes.length > 0) batch.changed = true;
  report(batch, call, {
    kind: "command",
    // It ran, though a person keeps nothing of what it changed.
    code: ran?.refused?.code === "declined" && run.interactive ? null : (ran?.refused?.code ?? null),
    text: ran === null ? renderNotRun(run) : renderCommand(ran),
    paths: ran?.refused ? ran.effects.changes.map(({ path }) => path) : [],
    isNotRun: ran === null,
    isRed: ran !== null && ran.exit !== 0,
  });
}

/** Decides about earlier changes before a command, which may run them. True: the person wants them otherwise, so it waits. */
async function decideBefore(batch: Batch, call: Call): Promise<boolean> {
  await flush(batch).catch((thrown) => {
    batch.end = thrown;
    throw thrown;
  });
  if (batch.run.changing.wish === null) return false;
  report(batch, call, { kind: "command", ...waiting });
  return true;
}

/**
 * What an action proposes. Where it finds a mistake, or an edit nothing to do, somebody else may have changed the files while
 * the model worked: an edit is tried once more on what they hold now, and any other action meets a conflict. Throws conflict.
 */
async function proposeOn(run: Run, paths: readonly RelPath[], isEdit: boolean, propose: () => Looked): Looked {
  const proposal = await propose();
  const isNothing = proposal.kind === "change" && proposal.changes.length === 0;
  if (proposal.kind !== "complaint" && !isNothing) return proposal;
  if (isEdit) return (await goOnFromNow(run, paths)) ? propose() : proposal;
  if (!isNothing) await run.overlay.refuseConflict(paths);
  return proposal;
}

async function performOne(batch: Batch, call: Call, looked: Looked | null): Promise<void> {
  const { run, rights, actions } = batch;
  const action = actions.get(call.name);
  if (action === undefined) {
    return report(batch, call, { kind: "look", code: "nothing_done", text: `unknown action: ${call.name}` });
  }
  let claim: PlanClaim | null = null;
  try {
    // Without a plan the next question is about the command itself.
    if (action.kind === "command" && rights === null && (await decideBefore(batch, call))) return;
    claim = claimOfCall(run, call);
    refuseNames(run, claim);
    if (claim !== null) {
      await requireRight(run, claim, rights, call, () => previewCall(run, call));
      await requireOpened(run, claim);
    }
    const isEdit = action.kind === "change" && isVeiled(call.name);
    const stage = isEdit ? run.veiled.editStage() : isVeiled(call.name) ? run.veiled.stage() : run.overlay;
    const paths = claim === null ? [] : pathsOfClaim(claim);
    const propose = () => looked ?? action.propose(call.input, stage, run.signal);
    const proposal = await proposeOn(run, paths, isEdit, propose);
    if (proposal.kind !== "complaint") return await take(batch, call, proposal, claim);
    report(batch, call, { kind: action.kind, code: proposal.code, text: proposal.text, paths });
  } catch (thrown) {
    const isBeyond = claim !== null && rights?.refusalOf(claim) != null;
    reportRefused(batch, call, action.kind, thrown, isBeyond);
  }
}

/** A refusal, or a file that cannot be used, becomes the result of its call; everything else ends the run. */
function reportRefused(batch: Batch, call: Call, kind: AnyAction["kind"], thrown: unknown, isBeyond: boolean): void {
  const { run } = batch;
  const { code, message, hint } = toPaiError(thrown);
  const isUnusable = code === "file_unusable" || (kind === "look" && code === "permission_denied");
  const isResult = isRefusal({ code }) || isUnusable;
  if (run.signal.aborted || !isResult || thrown === batch.end) throw thrown;
  // For a path the hint says how to write it.
  const text = code === "path_refused" && hint !== null ? `${message}; ${hint}` : message;
  const advice = code === "scope_refused" ? hint : null;
  report(batch, call, { kind, code, text, paths: pathsOfCall(run, call), isBeyond, advice });
}

type Looked = ReturnType<AnyAction["propose"]>;

/** How many looks are done at the same time: a search starts its own threads. */
const looksAtOnce = 8;

/** Starts the calls of a batch of looks side by side; their answers are still taken in order. Empty for any other batch. */
function lookAtOnce({ run, actions }: Batch, calls: readonly Call[]): readonly Looked[] {
  if (calls.length < 2) return [];
  const found = calls.map(({ name }) => actions.get(name));
  if (!found.every((action) => action?.kind === "look")) return [];
  const started: Promise<unknown>[] = [];
  return calls.map((call, at) => {
    const turn = started[at - 1] ?? Promise.resolve();
    const look = async (): Looked => {
      await started[at - looksAtOnce];
      run.signal.throwIfAborted();
      return (
        found[at]?.propose(call.input, run.veiled.stage(turn), run.signal) ?? Promise.reject(new Error("no action"))
      );
    };
    const looked = look();
    started.push(looked.catch(() => {}));
    return looked;
  });
}

const blocksOf = (call: Call | undefined): number => {
  const edits = isFields(call?.input) ? call.input["edits"] : null;
  return Array.isArray(edits) ? edits.length : 0;
};

function capOf(calls: readonly Call[], at: number): string | null {
  if (at >= replyCaps.actions)
    return `not done: one reply may hold ${replyCaps.actions} actions; send the rest in the next`;
  const blocks = calls.slice(0, at + 1).reduce((sum, call) => sum + blocksOf(call), 0);
  return blocksOf(calls[at]) > 0 && blocks > replyCaps.blocks
    ? `not done: one reply may hold ${replyCaps.blocks} edits; send the rest in the next`
    : null;
}

/** Performs the calls of one reply as one batch. `takesWords` false: no reply can follow words. Throws conflict, disk_full. */
export async function perform(
  run: Run,
  calls: readonly Call[],
  rights: Rights | null,
  takesWords = true,
): Promise<BatchReport> {
  const actions = new Map(run.acting.actions.map((action) => [action.name, action]));
  const fresh = { reports: [], waiting: [], changed: false, end: null };
  const batch: Batch = { run, rights, actions, cap: openSizeCap(), ...fresh };
  // The reply was made with what the person said before.
  run.changing.wish = null;
  run.changing.takesWords = takesWords;
  await performAll(batch, calls).catch((thrown) => {
    const reported = new Set(batch.reports.map(({ id }) => id));
    const code = isRefusal(toPaiError(thrown)) ? "declined" : "nothing_done";
    for (const call of calls) {
      const { id, name } = call;
      if (reported.has(id) || batch.actions.get(name)?.kind === "look") continue;
      const [target, paths] = [targetOfCall(call), pathsOfCall(run, call)];
      run.acting.tally.note({ kind: "change", name, target, paths, text: endedBefore, code });
    }
    throw thrown;
  });
  return { reports: batch.reports, changed: batch.changed };
}

async function performAll(batch: Batch, calls: readonly Call[]): Promise<void> {
  const { run } = batch;
  const looked = lookAtOnce(batch, calls);
  for (const [at, call] of calls.entries()) {
    await breathe(run.signal);
    if (run.changing.wish !== null) {
      report(batch, call, { kind: batch.actions.get(call.name)?.kind ?? "look", ...waiting });
      continue;
    }
    const over = capOf(calls, at);
    if (over !== null) {
      report(batch, call, { kind: "look", code: "nothing_done", text: over });
      continue;
    }
    run.emit({ type: "call.started", id: call.id, action: call.name, target: targetOfCall(call) });
    await performOne(batch, call, looked[at] ?? null);
  }
  await flush(batch);
}
