/** Wraps the ports of a run and records what passes through them, and what it learned about the project: its receipt. */
import { join } from "node:path";
import type { Term } from "../core/context/words.ts";
import { digest } from "../core/digest.ts";
import { toFailure } from "../core/error.ts";
import type { StampedEvent } from "../core/event.ts";
import type { ProjectMemory } from "../core/memory.ts";
import { type Call, type Json, type Model, type ModelEvent, type ModelRequest, partOf } from "../core/model.ts";
import type { AnyAction, PlanCache, Transaction, Workspace } from "../core/ports.ts";
import type { Decide, Notice } from "../core/question.ts";
import { changedContent, changedPath, type Fact, type FactOf } from "../core/receipt.ts";
import { countNames, createVeil, type Veil } from "../core/secrets/veil.ts";
import type { PastTurn } from "../core/session/past.ts";
import { openReceipts, type ReceiptWriter } from "./receipts.ts";

interface Started {
  readonly task: {
    readonly text: string;
    readonly history: readonly PastTurn[];
    readonly context: string | null;
    readonly files?: readonly string[];
    readonly conversation?: { readonly messages: readonly unknown[] } | null;
    readonly dialogue?: { readonly messages: readonly unknown[] };
  };
  readonly options: object;
}

interface Recorded {
  readonly model: Model;
  readonly workspace: Workspace;
  readonly decide: Decide;
  readonly actions: readonly AnyAction[];
}

interface Recorder extends Recorded {
  readonly memory: ProjectMemory | null;
  readonly planCache: PlanCache | null;
  /** Hides secrets. The run must use this one, so that a secret has the same name in the run and in the receipt. */
  readonly veil: Veil;
  readonly sink: (event: StampedEvent) => void;
}

interface RunPorts extends Recorded {
  readonly memory?: ProjectMemory | null;
  readonly planCache?: PlanCache | null;
  readonly now: () => Date;
  readonly veil?: Veil;
}

type Tell = (fact: Fact) => void;

/** Records one run in a receipt. Calls `ended` once, after the last line is written and the receipt is closed. */
export function recordRun(
  receipt: ReceiptWriter,
  { task, options }: Started,
  ports: RunPorts,
  ended: () => void,
): Recorder {
  const { model, workspace, decide, now, veil = createVeil() } = ports;
  const add: Tell = (fact) => receipt.add(veil.cover(fact));
  const tell: Tell = (fact) => add(veil.hideAll(fact));
  let sandboxTold = false;
  const factOfStart = (event: Extract<StampedEvent, { readonly type: "run.started" }>): Fact => {
    // The text as the run has hidden it: a word that only its name tells to be secret is hidden at that place only.
    const { type, run, at, pai, root, mode, task: text } = event;
    const { history, context, files = [], conversation, dialogue } = task;
    const { id, window, maxOutputTokens } = model;
    const earlier = (conversation?.messages.length ?? 0) + (dialogue?.messages.length ?? 0);
    const shown = context === null ? null : veil.hide(context, "plain");
    return {
      ...{ type, v: 1, run, at, pai, root, mode },
      task: { text, history, context: shown, files, earlier },
      options: options as { readonly [name: string]: Json },
      model: { id, window, maxOutputTokens },
      names: { part: veil.part, last: veil.last },
    };
  };
  return {
    veil,
    model: recordModel(model, now, add),
    workspace: {
      ...workspace,
      ...recordRepository(workspace, tell),
      ...recordSurvey(workspace, tell),
      begin: async (run) => recordTransaction(await workspace.begin(run), add, tell, veil),
      async sandbox() {
        const state = await workspace.sandbox();
        if (!sandboxTold) tell({ type: "sandbox", state });
        sandboxTold = true;
        return state;
      },
    },
    actions: ports.actions.map((action) => recordLooks(action, tell)),
    planCache: recordPlans(ports.planCache ?? null, tell),
    memory: recordMemory(ports.memory ?? null, tell),
    async decide(question) {
      const decision = await decide(question);
      const { accept, by, reason } = decision;
      const feedback = decision.accept || decision.feedback === null ? null : veil.hide(decision.feedback, "plain");
      const review = decision.accept && decision.review === true ? { review: true } : {};
      const sha256 = digest(question.text);
      tell({ type: "decision", kind: question.kind, sha256, accept, by, reason, feedback, ...review });
      return decision;
    },
    sink(event) {
      const fact = event.type === "run.started" ? factOfStart(event) : factOf(event);
      if (fact !== null) tell(fact);
      if (event.type !== "run.finished") return;
      receipt.close();
      ended();
    },
  };
}

export const keyOfTerms = (terms: readonly Term[]) => digest(JSON.stringify(terms)).slice(0, 16);

function recordSurvey({ survey }: Workspace, tell: Tell): Pick<Workspace, "survey"> {
  if (survey === undefined) return {};
  return {
    survey(terms) {
      const inner = survey(terms);
      return {
        ...inner,
        finish(ranking, found) {
          tell({ type: "ranking", key: keyOfTerms(found), ...ranking });
          inner.finish(ranking, found);
        },
      };
    },
  };
}

/** The fact for an event; null for most, since model, workspace and decisions are recorded where they are called. */
function factOf(event: StampedEvent): Fact | null {
  switch (event.type) {
    case "context.sent":
      return { type: event.type, files: event.files };
    case "plan.ready":
      return { type: "plan", plan: event.plan, promise: event.promise, cached: event.cached };
    case "plan.amended": {
      const { action, path, destination, why, accept, by } = event;
      return { type: "amendment", action, path, destination, why, accept, by };
    }
    case "check.finished": {
      const { when, command, by, exit, ms, passed } = event;
      return { type: "check", when, command, by, exit, ms, passed };
    }
    case "run.finished": {
      const { plan: _plan, diff: _diff, rolled_back: _back, ...outcome } = event.outcome;
      return { type: event.type, at: event.at, outcome };
    }
    default:
      return null;
  }
}

const withoutNative = (key: string, value: unknown) => (key === "native" ? undefined : value);

/** The request as the receipt records it: as JSON, without provider-specific parts of earlier replies. */
export function describeRequest(request: ModelRequest): Pick<FactOf<"call">, "sha256" | "bytes" | "masked"> {
  const json = JSON.stringify(request, withoutNative);
  return { sha256: digest(json), bytes: Buffer.byteLength(json), masked: countNames(json) };
}

function recordModel(model: Model, now: () => Date, add: Tell): Model {
  return {
    ...model,
    get window() {
      return model.window;
    },
    get maxOutputTokens() {
      return model.maxOutputTokens;
    },
    async *stream(request, signal, refit) {
      const at = now().toISOString();
      const events = model.stream(request, signal, refit)[Symbol.asyncIterator]();
      let next = events.next();
      const described = describeRequest(request);
      let text = "";
      const calls: Call[] = [];
      let done: Extract<ModelEvent, { type: "done" }> | null = null;
      let error: FactOf<"call">["error"] = null;
      try {
        for (let step = await next; step.done !== true; step = await next) {
          const event = step.value;
          if (event.type === "text") text += event.text;
          else if (event.type === "call") calls.push(event.call);
          else if (event.type === "done") done = event;
          yield event;
          next = events.next();
        }
      } catch (thrown) {
        error = toFailure(thrown);
        throw thrown;
      } finally {
        await events.return?.();
        const { served = null, key = null, usage = null, stop = null } = done ?? {};
        const { purpose, job } = request;
        const reply = { served, key, usage, stop, text, calls, error };
        add({ type: "call", at, purpose, ...described, model: partOf(model, job).id, ...reply });
      }
    },
  };
}

function recordTransaction(transaction: Transaction, add: Tell, tell: Tell, veil: Veil): Transaction {
  const recordApplied = async <T>(work: () => Promise<T>): Promise<T> => {
    const from = transaction.changes.length;
    const done = await work();
    const applied = transaction.changes.slice(from);
    if (applied.length > 0) tell({ type: "changes", changes: applied.map(changedPath), error: null });
    return done;
  };
  return {
    ...transaction,
    get changes() {
      return transaction.changes;
    },
    async apply(changes, by, signal) {
      const from = transaction.changes.length;
      try {
        await transaction.apply(changes, by, signal);
      } catch (thrown) {
        tell({ type: "changes", changes: changes.map(changedPath), error: toFailure(thrown) });
        throw thrown;
      }
      tell({ type: "changes", changes: transaction.changes.slice(from).map(changedPath), error: null });
    },
    async run(command, options) {
      const nothing = { exit: null, timedOut: false, ms: 0, output: "", notes: [], changes: [] };
      const { by } = options;
      try {
        const result = await transaction.run(command, options);
        const { exit, timedOut, ms, effects, held: confined } = result;
        const { notes } = effects;
        const sha256 = digest(result.output);
        const held = { level: confined.level, proposed: confined.isCopy, wall: confined.wall };
        const output = veil.hideOutput(result.output);
        const ended = { type: "command", command, by, exit, timedOut, ms, output, sha256, notes, error: null } as const;
        const contents = (isIgnored: boolean) =>
          effects.changes.filter((change) => change.isIgnored === isIgnored).map(changedContent);
        const ignored = contents(true);
        const content = { changes: contents(false), ...(ignored.length > 0 && { ignored }) };
        add({ ...veil.hideAll({ ...ended, ...held, changes: [] }), ...content });
        return result;
      } catch (thrown) {
        tell({ type: "command", command, by, ...nothing, sha256: digest(""), error: toFailure(thrown) });
        throw thrown;
      }
    },
    keep: (...kept) => recordApplied(() => transaction.keep(...kept)),
    drop: (...dropped) => recordApplied(() => transaction.drop(...dropped)),
    async rollback() {
      const report = await transaction.rollback();
      tell({ type: "rolled_back", restored: report.restored.map(({ path }) => path), left: report.left });
      return report;
    },
  };
}

/**
 * Returns a function that begins the receipt of each run in a workspace. `stateFolder` is that of the workspace; null:
 * no receipt is kept. `keep`: the number of receipts to keep. If a receipt cannot be kept, one notice says so and the run
 * continues. `ended` gets the facts of each run that has ended.
 */
export function keepReceipts(
  stateFolder: string | null,
  given: {
    readonly keep: number;
    readonly now: () => Date;
    readonly notify: (notice: Notice) => void;
    readonly ended: (facts: readonly Fact[]) => void;
  },
): (id: string, started: Started, ports: Omit<RunPorts, "now">) => Recorder {
  const { keep, now, notify, ended } = given;
  const receipts = stateFolder === null ? null : openReceipts(join(stateFolder, "runs"));
  return (id, started, ports) => {
    const facts: Fact[] = [];
    const receipt = receipts?.begin(id, (text) => notify({ level: "warning", code: "receipt", text }));
    const writer: ReceiptWriter = {
      add(fact) {
        facts.push(fact);
        receipt?.add(fact);
      },
      close: () => receipt?.close(),
    };
    return recordRun(writer, started, { ...ports, now }, () => {
      ended(facts);
      receipts?.prune(now(), keep);
    });
  };
}

function recordLooks(action: AnyAction, tell: Tell): AnyAction {
  if (action.kind !== "look") return action;
  return {
    ...action,
    async propose(input, stage, signal) {
      const found = await action.propose(input, stage, signal);
      if (found.kind === "answer" || found.kind === "complaint") {
        const code = found.kind === "complaint" ? found.code : null;
        tell({ type: "look", action: action.name, input, code, text: found.text });
      }
      return found;
    },
  };
}

function recordMemory(memory: ProjectMemory | null, tell: Tell): ProjectMemory | null {
  if (memory === null) return null;
  const learns = memory.learn !== null;
  return {
    ...memory,
    async recall(task) {
      const text = await memory.recall(task);
      if (text !== "" || learns) tell({ type: "memory", text, learns });
      return text;
    },
  };
}

function recordPlans(cache: PlanCache | null, tell: Tell): PlanCache | null {
  if (cache === null) return null;
  return {
    ...cache,
    load(key) {
      const plan = cache.load(key);
      tell({ type: "cached", plan });
      return plan;
    },
  };
}

function recordRepository({ repository }: Workspace, tell: Tell): Pick<Workspace, "repository"> {
  if (repository === undefined) return {};
  return {
    async repository(signal) {
      const text = await repository(signal);
      if (text !== "") tell({ type: "repository", text });
      return text;
    },
  };
}
