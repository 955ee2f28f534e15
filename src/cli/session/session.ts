/** The interactive session: reads a message, runs the task, shows the result, and repeats. */

import { join } from "node:path";
import { createDialogue } from "../../core/dialogue.ts";
import { exitCodes, PaiError, toPaiError } from "../../core/error.ts";
import type { Outcome } from "../../core/outcome.ts";
import { asksBack, nameRequest, pendingOf } from "../../core/session/session.ts";
import { openInputHistory } from "../../store/input-history.ts";
import { openSessions } from "../../store/sessions.ts";
import { isFirstTime } from "../../store/told.ts";
import { wrap } from "../../ui/layout.ts";
import type { MessageOptions } from "../../ui/prompt/line-reader.ts";
import { isContinue, isNo, readAnswer } from "../../ui/prompt/read-answer.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import { columnsOf, openLog } from "../answer-document.ts";
import { RefusedMention } from "../at-paths.ts";
import type { Context } from "../command.ts";
import { version } from "../commands/version.ts";
import { type Base, composeBase, settleRoot } from "../compose/base.ts";
import { composeModel, spellModels, withModel } from "../compose/compose-model.ts";
import { composeTask } from "../compose/compose-task.ts";
import { expandCustom } from "../compose/custom.ts";
import { openView } from "../compose/view.ts";
import { writeSetting } from "../config/settings.ts";
import { habitInSession } from "../habits.ts";
import { openLab } from "../lab.ts";
import { chooseModel, offerToKeep, readLineOf } from "../onboard/choose-model.ts";
import { completeMessage, openFileNames } from "./complete.ts";
import { editOutside, runOwn } from "./own-command.ts";
import { describeLosses, renderResumed } from "./render-resumed.ts";
import { rewindTalk } from "./rewind.ts";
import { doSlash, isSlash, isSlashLine, listOwn } from "./slash.ts";
import {
  carryOut,
  countInterrupt,
  renderSpent,
  runTurn,
  showQueue,
  type Talk,
  tell,
  usualMode,
  waitingPlan,
} from "./talk.ts";
import { dropAnswers, hold, nextQueued, takeDraft } from "./watch-keys.ts";
import { watchTruth } from "./watch-truth.ts";

const leaving = /^(?:exit|quit|\/(?:exit|quit)(?:\s.*)?)$/is;

/** A slash command, valid or mistyped; lines that begin with // or /* are tasks. */
const command = /^\/(?![/*])/;

/** Next steps as a task: all for a yes, one for its number; null: neither. Throws usage for an unknown number. */
function renderPending(pending: readonly string[], line: string): string | null {
  if (pending.length === 0) return null;
  if (isContinue(line) && pending.length === 1) return pending[0] ?? null;
  if (isContinue(line))
    return `Do these steps in order:\n${pending.map((step, at) => `${at + 1}. ${step}`).join("\n")}`;
  if (!/^\d+$/.test(line)) return null;
  const step = pending[Number(line) - 1];
  if (step !== undefined) return step;
  throw new PaiError("usage", `no next step ${line}`, { hint: `there are ${pending.length}; see above` });
}

async function sayFailure({ context, ahead }: Talk, line: string, work: Promise<unknown>): Promise<void> {
  await work.catch((thrown) => {
    const error = toPaiError(thrown);
    if (error instanceof RefusedMention) {
      ahead.lines.unshift(line);
      hold(ahead);
    }
    if (error.code === "interrupted") hold(ahead);
    openLog(context).fail(error);
  });
}

/** Throws usage for a line that is a command here, in a shell or of other agents, before it costs a call. */
function requireTask({ open }: Talk, line: string): void {
  const word = line.toLowerCase();
  const hint = isSlash(word) ? `did you mean /${word}?` : asksBack(open.session) ? null : habitInSession(word);
  if (hint !== null) throw new PaiError("usage", `${word} is not a task`, { hint });
  const name = /^pai\s+([a-z]+)$/.exec(word)?.[1];
  if (name === undefined) return;
  const here = isSlash(name) ? `; here: /${name}` : "";
  throw new PaiError("usage", `${word} is for a shell${here}`, { hint: "see /help" });
}

async function runTask(talk: Talk, line: string, pending: string | null): Promise<void> {
  if (pending === null) requireTask(talk, line);
  const turn = { typed: pending === null ? line : "" };
  const first = await runTurn(talk, pending ?? line, turn);
  const outcome = (await takeSuccessor(talk, first)) ? await runTurn(talk, pending ?? line, turn) : first;
  const { context, composed, view } = talk;
  if (talk.model === undefined) await offerToKeep(context, composed.base, outcome, readLineOf(view));
}

/** Runs the task of a custom command; false: the line names none. */
async function runCustom(talk: Talk, line: string): Promise<boolean> {
  if (isSlashLine(line)) return false;
  const { base, opened } = talk.composed;
  const task = expandCustom(line, { places: base.places, root: opened.workspace.root });
  if (task === null) return false;
  await runTask(talk, task, null);
  return true;
}

/** Takes a no to a plan that waits (null: to next steps) as nothing to do, and has the next request told of it. */
function takeNo(talk: Talk, planned: Talk["planned"]): void {
  const text = `the user said no to ${planned === null ? "your next steps" : `the plan for ${nameRequest({ request: planned.task })}`}`;
  talk.open.add({ type: "session.noted", at: talk.context.now().toISOString(), what: "end", run: null, text });
  tell(talk, "session", "nothing was done");
}

async function doLine(talk: Talk, line: string): Promise<void> {
  talk.truth.sync(talk.open);
  const isTurn = talk.turnsListed && /^\d+(?:\s+[a-z]+)?$/i.test(line);
  talk.turnsListed = false;
  if (isTurn) return rewindTalk(talk, line);
  if (command.test(line)) return (await runCustom(talk, line)) ? undefined : doSlash(talk, line);
  if (line.startsWith("!")) return runOwn(talk, line.slice(1).trim());
  const [planned, steps] = [waitingPlan(talk), pendingOf(talk.open.session)];
  if (isNo(line) && (planned !== null || steps.length > 0)) return takeNo(talk, planned);
  if (isContinue(line) && planned !== null) return carryOut(talk, planned);
  const pending = renderPending(steps, line);
  if (isContinue(line) && pending === null && !asksBack(talk.open.session))
    return tell(talk, "session", "nothing to continue");
  await runTask(talk, line, pending);
}

/** Waits until a slow terminal has shown everything; Ctrl+C then only skips the rest. */
async function showAll({ shown, onInterrupt }: Context): Promise<void> {
  onInterrupt(() => {});
  await shown();
  onInterrupt(null);
}

function takeInterrupt(talk: Talk, thrown: unknown): void {
  const error = toPaiError(thrown);
  if (error.code !== "interrupted" || talk.context.signal.aborted) throw thrown;
  const meant = countInterrupt(talk);
  if (meant === "leave") throw error;
  if (meant === "ask") tell(talk, "leave", "press Ctrl+C again to leave");
}

async function readMessage(talk: Talk): Promise<string | null> {
  const { context, view } = talk;
  const keep = (text: string) => talk.input.add(talk.composed.cover(text));
  const prompt = view.style.paint("change", "pai> ");
  const { ahead } = talk;
  const dropped = ahead.isHeld ? [] : dropAnswers(ahead);
  if (dropped.length > 0) tell(talk, "ahead", `typed before the turn ended, so not sent: ${dropped.join(", ")}`);
  const queued = nextQueued(ahead);
  if (queued !== null) {
    context.err(`\n${prompt}${visibleLine(queued)}\n`);
    keep(queued);
    return queued;
  }
  const prompter = await view.prompter();
  await showAll(context);
  const options: MessageOptions = {
    prompt,
    history: talk.input.entries,
    complete: (before) =>
      completeMessage(talk.composed.opened.workspace, before, { own: listOwn(talk), files: talk.files }),
    pressed() {
      talk.interruptedAt = 0;
    },
    keep(draft) {
      if (!keep(draft)) tell(talk, "draft", "what you typed is not kept: copy it from above");
    },
    async editOutside(text) {
      try {
        return await editOutside(context, talk.composed.opened.workspace.root, text);
      } catch (thrown) {
        view.notify({ level: "warning", code: "editor", text: toPaiError(thrown).message });
        return text;
      }
    },
  };
  for (;;) {
    try {
      context.err("\n");
      const text = takeDraft(ahead);
      showQueue(talk);
      const line = await prompter.readMessage({ ...options, text });
      if (line !== null && line.trim() !== "") keep(line);
      talk.interruptedAt = 0;
      return line === null ? null : line.trim();
    } catch (thrown) {
      takeInterrupt(talk, thrown);
    }
  }
}

function requireTerminal(context: Context): void {
  if (context.tty.stdin) return;
  throw new PaiError("usage", "the interactive session needs a terminal", {
    hint: 'usage without one: pai "TASK" [FLAGS], echo TASK | pai -, or pai COMMAND [FLAGS]; see: pai help',
  });
}

/** Said once of a model that nobody chose, and whose name tells that its maker has a greater one. */
const noteOf = ({ origins, places, settings }: Base) =>
  origins["model"] === "default" &&
  /-(?:lite|mini|nano)\b/.test(settings.model) &&
  isFirstTime(places.stateDir, "small-model")
    ? "; this is a small model, /model shows others"
    : "";

/** Opens a session at the terminal with all its parts; `resume` null: a new conversation. */
async function openTalk(called: Context, resume: { readonly id: string | null } | null): Promise<Talk> {
  const given = composeBase(called);
  const { context } = given;
  const view = await openView(context, context.signal, "session");
  const warn = (code: string) => (text: string) => view.notify({ level: "warning", code, text });
  given.warnings.forEach(warn("settings"));
  const settled = await settleRoot(given, { task: null, readLine: view.interactive ? readLineOf(view) : null });
  const base = await chooseModel(context, settled, view);
  const composed = await composeTask(base, view);
  const { workspace, stateFolder } = composed.opened;
  const sessions = openSessions(stateFolder, workspace.root);
  const { folder } = sessions;
  if (resume !== null && folder !== null && base.settings.storeUrl !== null) {
    const { fetchTeamSession } = await openLab();
    const said = await fetchTeamSession(base, folder, { root: workspace.root, wanted: resume.id });
    if (said !== null) warn("store")(said);
  }
  const loaded = resume === null ? null : sessions.load(resume.id);
  const open = sessions.open(loaded?.session ?? null, context.now, warn("session"));
  const input = openInputHistory(stateFolder === null ? null : join(stateFolder, "input.jsonl"));
  const columns = columnsOf(context.env);
  const banner = visibleLine(`pai ${version}  ${spellModels(base.settings)}  ${workspace.root}`);
  context.err(`${wrap(`${banner}\nType a task; /help shows more${noteOf(base)}`, columns).join("\n")}\n`);
  const truth = watchTruth(composed.opened, context.now);
  truth.sync(open);
  if (loaded !== null) {
    context.err(renderResumed(open.session, view.style, columns));
    describeLosses(loaded, spellModels(base.settings)).forEach(warn("session"));
  }
  const talk: Talk = {
    ...{ context, view, composed, sessions, open, input, truth, mode: usualMode(base) },
    effort: base.settings.effort,
    model: undefined,
    interruptedAt: 0,
    stoppedAt: 0,
    spent: { calls: 0, tokens: 0, cost: 0 },
    told: new Map(),
    outputs: [],
    ahead: { lines: [], text: "", isHeld: false },
    files: openFileNames(workspace),
    dialogue: createDialogue(),
    planned: null,
    turnsListed: false,
  };
  composed.followSession(() => (folder === null ? null : { folder, id: talk.open.session.id, root: workspace.root }));
  return talk;
}

function sayFarewell(talk: Talk): void {
  const { context, sessions, open } = talk;
  if (talk.spent.calls === 0) return;
  // One without a turn, as /clear leaves it, has no file.
  const named = open.session.turns.length === 0 ? "--list" : open.session.id;
  const way = sessions.folder === null ? "" : `; go on with: pai resume ${named}`;
  context.err(`${wrap(`${renderSpent(talk)}${way}`, columnsOf(context.env)).join("\n")}\n`);
}

export async function talkAt(context: Context, resume: { readonly id: string | null } | null): Promise<number> {
  requireTerminal(context);
  const talk = await openTalk(context, resume);
  try {
    for (let line = await readMessage(talk); line !== null; line = await readMessage(talk)) {
      if (leaving.test(line)) break;
      if (line !== "") await sayFailure(talk, line, doLine(talk, line));
      if (context.signal.aborted) throw toPaiError(context.signal.reason);
    }
  } catch (thrown) {
    const error = toPaiError(thrown);
    if (error.code !== "interrupted" || context.signal.aborted) throw error;
    // No message after the second Ctrl+C, since the user knows why the session ends.
    return exitCodes.interrupted;
  } finally {
    sayFarewell(talk);
    await talk.truth.saved();
    talk.open.close();
    await talk.composed.close();
  }
  return 0;
}

/** Whether the session now has the successor of its model, which its server refused as unknown, after the user's yes. */
async function takeSuccessor(talk: Talk, { error }: Pick<Outcome, "error">): Promise<boolean> {
  const { composed, view } = talk;
  const { base } = composed;
  const next = talk.model === undefined && error?.code === "model_unknown" ? composed.successor() : null;
  if (next === null) return false;
  const said = await readLineOf(view)(`use ${next} instead of ${base.settings.model}, from now on? y or n: `);
  if (readAnswer(said, { feedback: false }) !== "yes") return false;
  talk.model = await composeModel(withModel(base, next), view, talk.composed.learn);
  if (base.places.configDir === null) return true;
  const file = writeSetting(base.places, "model", next);
  tell(talk, "model_saved", `saved in ${file}; another one: pai config set model NAME`);
  return true;
}
