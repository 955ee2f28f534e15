/** Executes a flow on a task, from `run.started` to the Outcome, whatever happens; stamps and masks every event. */

import { maxShown, roomOf } from "../core/context/shown.ts";
import { copyOf, createDialogue } from "../core/dialogue.ts";
import { PaiError, toFailure, toPaiError } from "../core/error.ts";
import type { Emit, RunEvent } from "../core/event.ts";
import { failedOutcome, type Outcome } from "../core/outcome.ts";
import { minCalls, planPromise, roundsOf } from "../core/plan/promise.ts";
import type { PreparedCommit, Transaction } from "../core/ports.ts";
import type { Decide, Decision } from "../core/question.ts";
import { createVeil, type Veil } from "../core/secrets/veil.ts";
import { listen } from "../core/steps.ts";
import { createActing } from "./acting.ts";
import { createReading } from "./briefing/reading.ts";
import { openAllowed } from "./changes/allowed.ts";
import { createChanging } from "./changes/changing.ts";
import { createChecking } from "./checks/checking.ts";
import { judgeAtLast, openBaseline } from "./checks/checks.ts";
import { createShell } from "./commands/shell.ts";
import { noteEnd } from "./dialogue.ts";
import { readyCommit, requireCommit, requireThen, runThen } from "./ending/afterwards.ts";
import { requireAnswer } from "./ending/answer.ts";
import { createEnding } from "./ending/ending.ts";
import { refuseUndone, settle } from "./ending/settle.ts";
import { createCalling, createLedger } from "./ledger.ts";
import { createPlanning } from "./plans/plan-state.ts";
import type { Flow, Ports, Run, RunOptions, Task } from "./run.ts";
import { createOverlay, createVeiledView } from "./stage.ts";

type StamperOptions = Pick<Ports, "id" | "now" | "sink"> & {
  readonly secrets: Pick<Veil, "cover" | "show" | "pending">;
};

type Delta = Extract<RunEvent, { type: "model.delta" }>;

/** A longer word is no key, and goes out in parts. */
const longestWord = 4096;

/** Index after the last blank of a text that is not over; all of it where its last word is too long to wait for. */
function endOfWords(text: string): number {
  const last = /\S*$/.exec(text.slice(-longestWord))?.[0].length ?? 0;
  return last === longestWord ? text.length : text.length - last;
}

/**
 * Stamps events and hides secrets in them, once for all who get them. Times are UTC, since finding the local zone would take longer than everything else before
 * the first request. Of a reply only whole words go out, and its first piece waits for the next event: a stream may cut a key in two.
 */
export function createStamper({ id, now, sink, secrets }: StamperOptions): Emit {
  let seq = 0;
  const waiting = new Map<Delta["channel"], Delta>();

  function send(event: RunEvent): void {
    seq += 1;
    sink({ ...secrets.show(event), run: id, seq, at: now().toISOString() });
  }

  function sendTo(end: number, piece: Delta): void {
    waiting.set(piece.channel, { ...piece, text: piece.text.slice(end) });
    if (end > 0) send({ ...piece, text: piece.text.slice(0, end) });
  }

  function release(piece: Delta): void {
    waiting.delete(piece.channel);
    if (piece.text !== "") send(piece);
  }

  const endOfKnown = ({ text }: Delta): number => text.length - secrets.pending(text);

  function sendPiece(piece: Delta): void {
    for (const other of waiting.values()) {
      if (other.n === piece.n && other.channel === piece.channel) continue;
      if (other.n !== piece.n || endOfKnown(other) === other.text.length) release(other);
      else sendTo(endOfKnown(other), other);
    }
    const before = waiting.get(piece.channel);
    const whole = { ...piece, text: (before?.text ?? "") + piece.text };
    const end = endOfKnown(whole);
    const ready = secrets.cover(whole.text.slice(0, end));
    const next = { ...piece, text: ready + whole.text.slice(end) };
    if (before === undefined) waiting.set(piece.channel, next);
    else sendTo(Math.min(endOfWords(next.text), ready.length), next);
  }

  return (event) => {
    if (event.type === "model.delta") return sendPiece(event);
    // Progress holds no text of the reply, so half a key can go on waiting.
    if (event.type === "model.progress" && !event.replied) return send(event);
    for (const piece of waiting.values()) release(piece);
    send(event);
  };
}

function sayAnswered({ emit, interactive, invocation, planning }: Run): void {
  if (interactive || planning.asksOnly || invocation.command !== "run") return;
  emit({ type: "notice", level: "info", code: "answered", text: "answered, nothing changed" });
}

const hideTask = (veil: Veil, task: Task): Task => ({
  ...task,
  text: veil.hide(task.text, "plain"),
  history: veil.hideAll(task.history),
  context: task.context === null ? null : veil.hideRaw(task.context, "plain"),
});

const hideWords = (veil: Veil, answer: Decision): Decision =>
  "feedback" in answer && answer.feedback !== null
    ? { ...answer, feedback: veil.hide(answer.feedback, "plain") }
    : answer;

function createRun(task: Task, options: RunOptions, ports: Ports, { emit, veil }: Pick<Run, "emit" | "veil">): Run {
  const room = Math.min(maxShown, roomOf(ports.model.window));
  const asked = { text: task.text, at: ports.now() };
  const overlay = createOverlay(ports.workspace, room, options.mode === "tool-loop" ? "tools" : "script", asked);
  let begun: Promise<Transaction> | null = null;
  let transaction: Transaction | null = null;
  const { command, mode, interactive, caps, outputSchema } = options;
  return {
    id: ports.id,
    task,
    invocation: { command, mode },
    workspace: ports.workspace,
    signal: ports.signal,
    now: ports.now,
    emit,
    interactive,
    decide: ports.decide,
    ledger: createLedger(caps, ports.price, planPromise(roundsOf(mode, caps.calls)), outputSchema == null ? 0 : 1),
    overlay,
    veiled: createVeiledView(overlay, veil),
    veil,
    planning: createPlanning(options, ports.planCache, caps.calls),
    reading: createReading(options),
    calling: createCalling(options, ports),
    acting: createActing(options, ports.actions),
    changing: createChanging(options),
    checking: createChecking(options),
    shell: createShell(options),
    ending: createEnding(options, ports),
    dialogue: copyOf(task.dialogue ?? createDialogue()),
    conversation: task.conversation ?? { messages: [], tasks: [] },
    async transaction() {
      begun ??= ports.workspace.begin({ id: ports.id, task: task.text });
      transaction = await begun;
      return transaction;
    },
    get begun() {
      return transaction;
    },
  };
}

function requireCalls({ caps, mode, command, planOnly, approved }: RunOptions): void {
  if (caps.calls === null || command === "context") return;
  const isPart = planOnly || command === "apply" || command === "ask" || command === "plan" || approved?.steps === null;
  const fewest = minCalls(mode, isPart);
  if (caps.calls >= fewest) return;
  throw new PaiError("usage", `--max-calls ${caps.calls} is too few: ${mode} takes at least ${fewest}`, {
    hint: mode === "eight-step" ? "raise it, or work with --mode single-shot" : "raise it",
  });
}

const mayChange = ({ command, planOnly, dryRun, asksOnly = false }: RunOptions): boolean =>
  !planOnly && !dryRun && !asksOnly && command !== "context";

async function finish(run: Run): Promise<PreparedCommit | null> {
  const { outputSchema, commit } = run.ending;
  await judgeAtLast(run);
  if (outputSchema != null) await requireAnswer(run);
  refuseUndone(run);
  await runThen(run);
  return commit == null ? null : readyCommit(run);
}

/** Asks like `ask`, and adds up how long questions wait for their answers. */
function timeAnswers(ask: Decide): { readonly decide: Decide; readonly waitedMs: () => number } {
  let sum = 0;
  return {
    async decide(question) {
      const asked = performance.now();
      try {
        return await ask(question);
      } finally {
        sum += performance.now() - asked;
      }
    },
    waitedMs: () => sum,
  };
}

/** Runs a flow to its end. Never rejects. */
export async function runTask(flow: Flow, given: Task, options: RunOptions, outer: Ports): Promise<Outcome> {
  const veil = outer.veil ?? createVeil();
  const { decide, waitedMs } = timeAnswers(async (question) =>
    hideWords(veil, await outer.decide(veil.show(question))),
  );
  const ports: Ports = { ...outer, decide };
  const task = hideTask(veil, given);
  const emit = createStamper({ ...ports, secrets: veil });
  const { command, mode, version: pai } = options;
  const { model, workspace } = ports;
  emit({ type: "run.started", v: 1, pai, task: task.text, mode, model: model.id, root: workspace.root });
  ports.onNotice?.((notice) => emit({ type: "notice", ...notice }));
  const began = performance.now();
  let run: Run | null = null;
  let failure: PaiError | null = null;
  let commit: PreparedCommit | null = null;
  try {
    requireCalls(options);
    if (mayChange(options)) workspace.requireRoom?.();
    if (options.commit != null) await requireCommit(options, ports);
    run = createRun(task, options, ports, { emit, veil });
    openAllowed(run);
    requireThen(run);
    // A saved plan is compared with the files first, so its checks begin later, when it is carried out.
    if (options.checks.length > 0 && command !== "apply") await openBaseline(run);
    await flow(run);
    await listen(ports.signal);
    commit = await finish(run);
  } catch (thrown) {
    failure = ports.signal.aborted ? toPaiError(ports.signal.reason) : toPaiError(thrown);
    if (ports.signal.aborted && failure.code === "internal") failure = new PaiError("interrupted", "interrupted");
  }
  await run?.checking.baseline?.stop();
  const settled =
    run === null
      ? { ...failedOutcome(command, toFailure(failure)), run: ports.id, mode }
      : await settle(run, failure, commit);
  commit?.close();
  if (run !== null && settled.status === "answered") sayAnswered(run);
  if (run !== null) await noteEnd(run, settled);
  const outcome = veil.show({ ...settled, ms: Math.round(performance.now() - began - waitedMs()) });
  emit({ type: "run.finished", outcome });
  return outcome;
}
