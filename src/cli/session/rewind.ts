/** /rewind and /compact: restores an earlier state of a session's files, conversation, or both. */

import { commandWording } from "../../core/approval-wording.ts";
import { type Change, sameBlob, squash } from "../../core/change.ts";
import { startAnew } from "../../core/dialogue.ts";
import { PaiError } from "../../core/error.ts";
import type { Workspace } from "../../core/ports.ts";
import { hideMessage } from "../../core/secrets/veil.ts";
import { renderConversation } from "../../core/session/conversation.ts";
import { renderForSummary } from "../../core/session/past.ts";
import { allTurns, conversationBefore, pendingOf, type Session, type Turn } from "../../core/session/session.ts";
import { nameSome } from "../../core/suggest.ts";
import type { Flow, Run } from "../../flows/run.ts";
import { compactConversation, summarizeText } from "../../flows/tool-loop/compact.ts";
import { counted } from "../../ui/amount.ts";
import { cut } from "../../ui/layout.ts";
import { firstLine, visibleLine } from "../../ui/sanitize.ts";
import type { History, KeptRun } from "../../workspace/journal/run-history.ts";
import { columnsOf } from "../answer-document.ts";
import { tellUndone } from "../commands/history.ts";
import { composeOptions } from "../compose/options.ts";
import { askYes } from "../compose/view.ts";
import { addSpent, type Talk, tell, waitingPlan, whileInterruptible } from "./talk.ts";

const actions = ["both", "code", "conversation", "summary"] as const;
type RewindAction = (typeof actions)[number];
const restored = { both: "files and conversation", code: "files", conversation: "the conversation" } as const;

const clockOf = (at: string) => new Date(at).toTimeString().slice(0, 5);

function renderTurns({ open, context, view }: Talk): string {
  const { turns } = open.session;
  const width = `${turns.length}`.length;
  const rows = turns.map(({ at, request, changed, undone }, n) => {
    const what = undone === true ? "undone" : changed ? "changed files" : "";
    return `${`${n + 1}`.padStart(width)}  ${clockOf(at)}  ${what.padEnd(13)}  ${firstLine(request)}`;
  });
  const fitting = rows.map((row) => cut(row, columnsOf(context.env), view.style.glyphs.more));
  return `${fitting.join("\n")}
go back to before turn N (here the number is enough):
/rewind N               files and conversation
/rewind N code          the files only
/rewind N conversation  the conversation only
/rewind N summary       no files; the turns from N on become a summary
`;
}

const changedSince = (clashes: readonly { readonly path: string }[]) =>
  new PaiError("conflict", `changed since: ${clashes.map(({ path }) => path).join(", ")}`, {
    hint: "nothing was taken back; put these files back to what the run left, or rewind the conversation only",
  });

/** The runs of turns, also of those that a summary tells, whose changes stand; newest first. */
function standingOf(history: History, turns: readonly Turn[]) {
  const runs = new Set(allTurns({ turns }).map(({ run }) => run));
  return history.list().filter(({ id, status, left }) => runs.has(id) && (status === "applied" || left.length > 0));
}

const pathsOf = (runs: readonly KeptRun[]) => [
  ...new Set(
    runs.flatMap(({ status, changes, left }) => (status === "applied" ? changes.map(({ path }) => path) : left)),
  ),
];

/** Throws conflict for what the newest of the runs can no longer take back: nothing newer hides what it left. */
async function requireAsLeft(history: History, [newest]: readonly KeptRun[]): Promise<void> {
  if (newest?.status !== "applied") return;
  const { clashes } = await history.undo(newest.id, { dryRun: true });
  if (clashes.length > 0) throw changedSince(clashes);
}

/** Undoes the runs from turn `from` (from 1) on after a yes, newest first; all of them or none. */
async function rewindCode(talk: Talk, from: number): Promise<number> {
  const { composed, context, open } = talk;
  const { history } = composed.opened;
  const standing = standingOf(history, open.session.turns.slice(from - 1));
  await requireAsLeft(history, standing);
  const paths = pathsOf(standing);
  if (paths.length > 0) await askYes(context, commandWording.rewind(counted(standing.length, "run"), nameSome(paths)));
  const done: KeptRun[] = [];
  try {
    for (const run of standing) {
      const { clashes, lost, changes } = await history.undo(run.id, { dryRun: false });
      for (const text of lost) tell(talk, "owner_lost", text);
      if (clashes.length > 0 && run.status === "applied") throw changedSince(clashes);
      if (clashes.length > 0)
        tell(talk, "left_in_place", `left as somebody else changed it: ${nameSome(clashes.map(({ path }) => path))}`);
      else if (changes.length > 0) done.push(run);
    }
  } catch (thrown) {
    // A redo of a run that was rolled back would bring back all of it.
    const again = done.filter(({ status }) => status === "applied").reverse();
    for (const { id } of again) await history.redo(id, { dryRun: false });
    throw thrown;
  }
  for (const { id } of done) await tellUndone(composed.base, composed.opened, id, "undo");
  return done.length;
}

/** Asks the model for a summary outside any task; it is shown, counted and saved like a run. */
async function askModel(talk: Talk, request: string, work: Flow): Promise<void> {
  const { context, composed, view, mode, model } = talk;
  await whileInterruptible(talk, async (signal) => {
    const task = { text: request, history: [], context: null, conversation: talk.open.session.conversation };
    // A summary changes nothing, so no checks apply.
    const composedOptions = composeOptions(context, composed.base, request, view.interactive);
    const options = { ...composedOptions, checks: [], mode, effort: talk.effort };
    const outcome = await composed.run(work, { task, options, sink: view.sink, signal, decide: view.decide, model });
    talk.spent = addSpent(talk.spent, outcome);
    if (outcome.error !== null) throw new PaiError(outcome.error.code, outcome.error.message);
  });
}

/** Shortens what the present mode sends: tool-loop its conversation, the others their dialogue, which takes no call. */
export async function compactTalk(talk: Talk): Promise<void> {
  const { open, mode, dialogue } = talk;
  const { messages } = mode === "tool-loop" ? open.session.conversation : dialogue;
  if (messages.length < 3) return tell(talk, "compact", "nothing to compact yet: earlier turns take little room");
  if (mode !== "tool-loop") {
    startAnew(dialogue);
    const of = "of each turn it tells what was asked and answered, and what became of it";
    return tell(talk, "compact", `the next message begins anew: ${of}`);
  }
  await askModel(talk, "compact", async (run) => {
    run.ledger.promise({ expected: 1, at_most: 2 });
    await compactConversation(run);
    open.add({ type: "conversation.replaced", messages: run.conversation.messages });
  });
  tell(talk, "compact", "the conversation is a summary now");
}

async function summarizeFrom(talk: Talk, from: number): Promise<void> {
  const { open, context } = talk;
  const { turns, pending, conversation } = open.session;
  const before = conversationBefore(open.session, from - 1);
  const isPart = before.messages.every((message, at) => message === conversation.messages[at]);
  const messages = isPart ? conversation.messages.slice(before.messages.length) : [];
  const textFor = ({ veil }: Run) => {
    const said = renderConversation(messages.map((message) => hideMessage(veil, message)));
    return renderForSummary({ turns: turns.slice(from - 1), pending }, said);
  };
  await askModel(talk, "summarize", async (run) => {
    run.ledger.promise({ expected: 1, at_most: 2 });
    const summary = await summarizeText(run, textFor(run));
    startAnew(talk.dialogue);
    open.add({ type: "session.summarized", at: context.now().toISOString(), from, summary });
  });
}

export async function rewindTalk(talk: Talk, words: string): Promise<void> {
  const { open, context } = talk;
  const { turns } = open.session;
  if (turns.length === 0) throw new PaiError("usage", "no turn to go back to");
  const [number = "", what = "both"] = words.split(/\s+/);
  talk.turnsListed = number === "";
  if (talk.turnsListed) return void context.err(renderTurns(talk));
  const from = Number(number);
  const action = actions.find((each) => each === what);
  if (!Number.isInteger(from) || from < 1 || from > turns.length)
    throw new PaiError("usage", `unknown turn: ${number}`, { hint: "see /rewind" });
  if (action === undefined)
    throw new PaiError("usage", `/rewind cannot restore ${what}`, { hint: `one of ${actions.join(", ")}` });
  await rewind(talk, from, action);
}

async function rewind(talk: Talk, from: number, action: RewindAction): Promise<void> {
  const { open, context } = talk;
  if (action === "summary") {
    await summarizeFrom(talk, from);
    return tell(talk, "rewind", `turns from ${from} on are a summary now; files were not touched`);
  }
  const taken = action === "conversation" ? 0 : await rewindCode(talk, from);
  if (action !== "code") {
    const gone = open.session.turns.slice(from - 1);
    startAnew(talk.dialogue);
    open.add({ type: "session.rewound", at: context.now().toISOString(), turns: from - 1 });
    await talk.truth.lookAnew(open);
    const paths = pathsOf(standingOf(talk.composed.opened.history, gone));
    const text = `the user took the conversation back to here; files that you changed later are left as they are: ${nameSome(paths)}`;
    if (paths.length > 0)
      open.add({ type: "session.noted", at: context.now().toISOString(), what: "end", run: null, text });
  }
  const back = `${counted(taken, "run")} taken back; bring back with: /redo${taken === 1 ? "" : ", once for each"}`;
  const code = taken === 0 ? "no files were taken back" : back;
  tell(talk, "rewind", `${restored[action]} went back to before turn ${from}: ${code}`);
  const waiting = waitingPlan(talk)?.task ?? pendingOf(open.session)[0];
  if (waiting !== undefined) tell(talk, "rewind", `y carries on with: ${visibleLine(waiting)}`);
}

/** What the runs of a session changed, and not what somebody else wrote between: a path may come twice. */
export function changesOfSession(history: History, { turns }: Session): readonly Change[] {
  const parts: Change[][] = [[]];
  const applied = standingOf(history, turns).filter(({ status }) => status === "applied");
  for (const { id } of applied.toReversed()) {
    const [work, last] = [history.work(id) ?? [], parts.at(-1) ?? []];
    const left = new Map(last.map(({ path, after }) => [path, after]));
    const goesOn = work.every(({ path, before }) => !left.has(path) || sameBlob(left.get(path) ?? null, before));
    if (goesOn) last.push(...work);
    else parts.push([...work]);
  }
  return parts.flatMap(squash);
}

/** "changed since: a.py": those of these paths that no longer hold what the session left in them; "": none. */
export async function sayChangedSince({ read }: Workspace, changes: readonly Change[]): Promise<string> {
  const left = new Map(changes.map(({ path, after }) => [path, after]));
  const others: string[] = [];
  for (const [path, after] of left)
    if (!sameBlob(after, await read(path, Number.POSITIVE_INFINITY).catch(() => after))) others.push(path);
  return others.length === 0 ? "" : `changed since: ${nameSome(others)}`;
}
