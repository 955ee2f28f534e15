/** A whole run on a real folder with a model that plays a script: what every test of a flow starts from. */
import { expect } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { allActions } from "../../src/actions/registry.ts";
import type { Dialogue } from "../../src/core/dialogue.ts";
import { PaiError } from "../../src/core/error.ts";
import type { RunEvent, StampedEvent } from "../../src/core/event.ts";
import type { Call, Json, Message, Model, ModelRequest, StopReason, Usage } from "../../src/core/model.ts";
import type { Outcome } from "../../src/core/outcome.ts";
import type { RelPath } from "../../src/core/path.ts";
import type { Commits, PlanCache } from "../../src/core/ports.ts";
import type { Decision, Question } from "../../src/core/question.ts";
import { createVeil } from "../../src/core/secrets/veil.ts";
import type { Conversation } from "../../src/core/session/conversation.ts";
import type { PastTurn } from "../../src/core/session/past.ts";
import type { Allowance } from "../../src/core/spending/allowance.ts";
import type { Price } from "../../src/core/spending/cost.ts";
import { eightStep } from "../../src/flows/eight-step.ts";
import type { Flow, Ports, RunOptions } from "../../src/flows/run.ts";
import { runTask } from "../../src/flows/run-task.ts";
import { singleShot } from "../../src/flows/single-shot.ts";
import { toolLoop } from "../../src/flows/tool-loop/tool-loop.ts";
import { parseReplay } from "../../src/models/open.ts";
import type { WorkspaceOptions } from "../../src/workspace/open.ts";
import { defaultSandbox, type SandboxSettings } from "../../src/workspace/sandbox/settings.ts";
import { newFolder } from "../grounds.ts";
import { openBare } from "../workspace/bare.ts";

export const usage: Usage = { input: 100, cached: 0, output: 50, thought: 0 };

/** One reply: its text, or more of it; `before` runs while the model is "thinking". */
export type Line =
  | string
  | {
      readonly text: string;
      /** Native calls beside the text. */
      readonly calls?: readonly Call[];
      readonly stop?: StopReason;
      readonly usage?: Usage;
      readonly before?: () => void | Promise<void>;
      /** Thrown after the text, instead of the rest of the reply. */
      readonly fail?: Error;
    };

export interface ScriptedModel extends Model {
  readonly requests: readonly ModelRequest[];
}

const isEmpty = (message: Message) =>
  message.role !== "tools" && message.text.trim() === "" && (message.role === "user" || message.calls.length === 0);

/** What a provider would refuse: unanswered calls, a side that speaks twice in a row, nothing said or asked. */
export function faultOf(messages: readonly Message[]): string | null {
  let open: readonly string[] = [];
  for (const [at, message] of messages.entries()) {
    const isOurs = message.role !== "assistant";
    if (isOurs !== (at % 2 === 0)) return `message ${at + 1} is ${message.role}`;
    if (isEmpty(message)) return `message ${at + 1} is empty`;
    const answered = message.role === "tools" ? message.results.map(({ id }) => id) : [];
    if (open.join() !== answered.join()) return `calls ${open.join()}, answers ${answered.join()}`;
    open = message.role === "assistant" ? message.calls.map(({ id }) => id) : [];
  }
  return messages.at(-1)?.role === "assistant" ? "nothing is asked" : null;
}

/** Plays its lines in order; a request beyond the last one fails the test. */
export function scriptModel(lines: readonly Line[], window = 1_000_000): ScriptedModel {
  const requests: ModelRequest[] = [];
  return {
    id: "test:model",
    provider: "test",
    name: "model",
    address: null,
    window,
    maxOutputTokens: Math.min(8192, Math.floor(window / 4)),
    requests,
    async *stream(request, signal) {
      const line = lines[requests.length];
      requests.push(structuredClone(request));
      if (line === undefined) throw new Error(`the script has ${lines.length} lines and is asked for one more`);
      const fault = faultOf(request.messages);
      if (fault !== null) throw new Error(`request ${requests.length}: ${fault}`);
      const {
        text,
        calls = [],
        stop = calls.length > 0 ? "calls" : "end",
        usage: used = usage,
        before,
        fail,
      } = typeof line === "string" ? { text: line } : line;
      await before?.();
      signal.throwIfAborted();
      for (let at = 0; at < text.length; at += 700) {
        signal.throwIfAborted();
        yield { type: "text", text: text.slice(at, at + 700) };
      }
      if (fail !== undefined) throw fail;
      for (const call of calls) yield { type: "call", call };
      yield { type: "done", stop, usage: used, served: "model-1", key: "k1", native: null };
    },
  };
}

export type Files = Readonly<Record<string, string>>;
/** Answers to questions in their order; `yes` for all. `review`: a yes to a plan that wants to see its changes. */
export type Answers = "yes" | readonly ("yes" | "review" | "no" | "policy no" | { readonly feedback: string })[];

export interface Setup extends Partial<Pick<Ports, "now" | "actions">> {
  readonly files?: Files;
  readonly lines: readonly Line[];
  readonly task?: string;
  /** Id of the run; "r1" if left out. */
  readonly id?: string;
  readonly context?: string;
  readonly history?: readonly PastTurn[];
  readonly options?: Partial<RunOptions>;
  readonly answers?: Answers;
  readonly price?: Price;
  readonly planCache?: PlanCache;
  readonly allowance?: Allowance;
  readonly flow?: Flow;
  readonly conversation?: Conversation;
  /** What earlier tasks of the session have told the model. */
  readonly dialogue?: Dialogue;
  /** Files the person named. */
  readonly mentioned?: readonly string[];
  readonly window?: number;
  readonly signal?: AbortSignal;
  /** Instead of the one that plays `lines`. */
  readonly model?: Model;
  /** Instead of what the workspace says of its repository. */
  readonly commits?: Commits;
  /** The user's rules for paths; none if left out. */
  readonly policy?: WorkspaceOptions["policy"];
  /** What holds commands, instead of the best there is. */
  readonly sandbox?: Partial<SandboxSettings>;
  /** Called with every question before it is answered. */
  readonly onQuestion?: (question: Question) => unknown;
  /** Called with every piece of text that arrives. */
  readonly onDelta?: () => void;
  /** Called with every event. */
  readonly onEvent?: (event: StampedEvent) => unknown;
}

export interface Ran {
  readonly outcome: Outcome;
  readonly events: readonly StampedEvent[];
  readonly requests: readonly ModelRequest[];
  readonly questions: readonly Question[];
  readonly files: Files;
  /** Purposes of all requests, in order. */
  readonly purposes: string;
  eventsOf<T extends RunEvent["type"]>(type: T): readonly Extract<StampedEvent, { type: T }>[];
  /** The last user message of the n-th request, from 1. */
  asked(n: number): string;
  /** All user messages of the n-th request, from 1. */
  told(n: number): string;
  /** The steps of the plan that was shown first, "WRITE a.py". */
  planned(): readonly string[];
  /** The texts of the notices, of all or of this code. */
  notices(code?: string): readonly string[];
}

/** Every file below a folder; empty folders end in a slash, and links are left out. */
export function filesIn(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  const look = (below: string) => {
    for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
      const name = join(below, entry.name);
      if (entry.isFile()) found[name] = readFileSync(join(folder, name), "utf8");
      else if (entry.isDirectory() && readdirSync(join(folder, name)).length === 0) found[`${name}/`] = "";
      else if (entry.isDirectory()) look(name);
    }
  };
  look("");
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function placeFiles(folder: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    if (name.endsWith("/")) mkdirSync(path, { recursive: true });
    else {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
  }
}

const noCaps = { calls: null, tokens: null, cost: null };
/** A cap on calls alone. */
export const capOf = (calls: number) => ({ caps: { ...noCaps, calls } });
const off = { noWorse: false, interactive: false, allowDelete: false, allowRun: false, strict: false, dryRun: false };
export const defaults: RunOptions = {
  ...{ ...off, keep: false, review: false, planOnly: false, baseline: true },
  ...{ command: "run", mode: "single-shot", version: "0.0.0", temperature: 0 },
  ...{ caps: noCaps, guard: { lines: 500 }, maxActions: 15, only: [], checks: [], allow: [] },
  ...{ checkTimeoutMs: 20_000, checkWaitMs: 20_000, commandTimeoutMs: 20_000 },
};

/** Headless answers beyond a yes to the plan come from the policy, as with `-y`. */
function decider({ answers, onQuestion }: Setup, questions: Question[]) {
  return async (question: Question): Promise<Decision> => {
    onQuestion?.(question);
    const answer = Array.isArray(answers) ? answers[questions.length] : answers;
    questions.push(question);
    if (answer === undefined && answers !== undefined) throw new Error(`nobody answers: ${question.text}`);
    const given = answer === "yes" || answer === "review";
    const yes = answer === undefined ? ["plan", "amend", "batch"].includes(question.kind) : given;
    const by = answer === undefined || answer === "policy no" ? "policy" : "user";
    if (yes) return { accept: true, by, reason: "yes", review: answer === "review" };
    return { accept: false, by, reason: "no", feedback: typeof answer === "object" ? answer.feedback : null };
  };
}

export interface Place {
  readonly root: string;
  /** pai's own state. */
  readonly state: string;
  remove(): void;
}

/** A folder in memory, so that a sync costs nothing. */
export function makeFolder(files: Files = {}): Place {
  const base = realpathSync(newFolder("memory", "flow"));
  const root = join(base, "work");
  mkdirSync(root);
  placeFiles(root, files);
  return { root, state: join(base, "state"), remove: () => rmSync(base, { recursive: true, force: true }) };
}

/** The workspace of a place, without a home. */
export const openHere = (
  { root, state }: Pick<Place, "root" | "state">,
  sandbox: Partial<SandboxSettings> = {},
  policy: WorkspaceOptions["policy"] = { allow: [], deny: [] },
) => openBare(root, state, { env: { PATH: process.env["PATH"] }, sandbox: { ...defaultSandbox, ...sandbox }, policy });

const flows: Readonly<Record<string, Flow>> = { "eight-step": eightStep, "tool-loop": toolLoop };

/** What a folder of test/scenarios asks for; its options may name a mode. */
export function readScenario(folder: string): Pick<Setup, "lines" | "options" | "flow"> & { readonly task: string } {
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const options = existsSync(join(folder, "options.json")) ? JSON.parse(read("options.json")) : {};
  const lines = parseReplay(read("replies.jsonl"), folder).map(
    ({ text = "", calls = [], stop = calls.length > 0 ? "calls" : "end" }): Line => ({ text, calls, stop }),
  );
  return { task: read("task.md").trim(), lines, options, flow: flows[options.mode] ?? singleShot };
}

/** A signal, and what interrupts a run by it. */
export function stopper(): { readonly signal: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, stop: () => controller.abort(new PaiError("interrupted", "interrupted")) };
}

/** A turn that went before. */
export const past = (request: string, answer: string, became = "answered; nothing was changed"): PastTurn => ({
  ...{ run: request, since: "", request, answer, became, diff: "", mode: "single-shot" },
});

/** Runs a flow in an existing folder. */
export async function playIn(place: Pick<Place, "root" | "state">, setup: Setup): Promise<Ran> {
  const opened = (await openHere(place, setup.sandbox, setup.policy)).workspace;
  const workspace = setup.commits === undefined ? opened : { ...opened, commits: setup.commits };
  const { id = "r1" } = setup;
  const scripted = scriptModel(setup.lines, setup.window);
  const events: StampedEvent[] = [];
  const questions: Question[] = [];
  const outcome = await runTask(
    setup.flow ?? singleShot,
    {
      text: setup.task ?? "do it",
      history: setup.history ?? [],
      context: setup.context ?? null,
      conversation: setup.conversation ?? null,
      ...(setup.dialogue !== undefined && { dialogue: setup.dialogue }),
      files: (setup.mentioned ?? []).map((path) => path as RelPath),
    },
    { ...defaults, ...setup.options },
    {
      id,
      model: setup.model ?? scripted,
      price: () => setup.price ?? null,
      workspace,
      actions: setup.actions ?? allActions,
      decide: decider(setup, questions),
      sink: (event) => {
        setup.onEvent?.(event);
        events.push(event);
        if (event.type === "model.delta") setup.onDelta?.();
      },
      signal: setup.signal ?? new AbortController().signal,
      now: setup.now ?? (() => new Date(0)),
      planCache: setup.planCache ?? null,
      allowance: setup.allowance ?? null,
      veil: createVeil({ part: "k3f9" }),
    },
  );
  if (outcome.error?.code === "internal") throw new Error(outcome.error.message);
  const { requests } = scripted;
  expect(outcome.calls.made).toBeLessThanOrEqual(outcome.calls.at_most);
  return {
    outcome,
    events,
    requests,
    questions,
    files: filesIn(place.root),
    purposes: requests.map(({ purpose }) => purpose).join(" "),
    eventsOf: (type) => events.filter((event) => event.type === type) as never,
    asked: (n) => {
      const last = requests[n - 1]?.messages.at(-1);
      return last?.role === "user" ? last.text : "";
    },
    planned: () => {
      const ready = events.find((event) => event.type === "plan.ready");
      return (ready?.plan.execution_plan?.steps ?? []).map(({ action, target }) => `${action} ${target}`);
    },
    notices: (code) =>
      events.flatMap((event) =>
        event.type === "notice" && (code === undefined || event.code === code) ? event.text : [],
      ),
    told: (n) =>
      (requests[n - 1]?.messages ?? []).flatMap((each) => (each.role === "user" ? [each.text] : [])).join("\n\n"),
  };
}

/** Runs a flow in a fresh folder and throws the folder away. */
export async function play(setup: Setup): Promise<Ran> {
  const place = makeFolder(setup.files);
  try {
    return await playIn(place, setup);
  } finally {
    place.remove();
  }
}

/** A plan cache in memory. */
export function openCache(): PlanCache & { readonly saved: Map<string, Json> } {
  const saved = new Map<string, Json>();
  return {
    saved,
    load: (key) => saved.get(key) ?? null,
    save: (key, made) => {
      saved.set(key, made as unknown as Json);
    },
  };
}
