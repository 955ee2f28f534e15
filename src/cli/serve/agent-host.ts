/** pai's contract as tools for other agents: plan, apply, undo, and queries. */

import * as z from "zod/mini";
import { flagsToRun, grantsRun } from "../../core/command/run-patterns.ts";
import { digest } from "../../core/digest.ts";
import { PaiError, toFailure, toPaiError } from "../../core/error.ts";
import type { RunEvent, StampedEvent } from "../../core/event.ts";
import type { Fields, Json } from "../../core/model.ts";
import type { Outcome } from "../../core/outcome.ts";
import { didYouMean } from "../../core/suggest.ts";
import type { Flow, RunOptions } from "../../flows/run.ts";
import { followPlan, singleShot } from "../../flows/single-shot.ts";
import type { InputSchema, OfferedTool, ToolAnswer, ToolHost, ToolRequest } from "../../mcp/serve.ts";
import { openPlanCache } from "../../store/plan-cache.ts";
import { counted } from "../../ui/amount.ts";
import { renderDocument } from "../../ui/json.ts";
import { type Context, closeAfter, type Handler } from "../command.ts";
import { contextCommand } from "../commands/context.ts";
import { historyCommand, reverse } from "../commands/history.ts";
import { version } from "../commands/version.ts";
import { composeBase } from "../compose/base.ts";
import { composeTask } from "../compose/compose-task.ts";
import { composeOptions, flowFor, limitTime } from "../compose/options.ts";
import { decideByPolicy } from "../compose/view.ts";
import { onlyFlag, runFlag } from "../flags.ts";
import { addChecks, readPlanFile, renderPlanFile, requireBase } from "../plan-file.ts";

const text = { type: "string" } as const;
const texts = { type: "array", items: text } as const;
const object = (properties: Fields, required: readonly string[] = []): InputSchema => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const reads = { readOnlyHint: true, openWorldHint: false } as const;
const changes = { readOnlyHint: false, destructiveHint: true, openWorldHint: false } as const;
const task = { ...text, description: "What to do, in the words of the user" } as const;
const narrowing = {
  only: { ...texts, description: "Globs; nothing outside them may change" },
  checks: {
    ...texts,
    description: "Commands that must pass afterwards; they run only if pai was started with --allow-run",
  },
} as const;

const tools: readonly OfferedTool[] = [
  {
    name: "plan",
    title: "Plan a change",
    description:
      "Plans a change of this project and changes nothing. Returns the plan, the model calls it will take, and an id for `apply`.",
    inputSchema: object({ task, ...narrowing }, ["task"]),
    annotations: { ...reads, openWorldHint: true },
  },
  {
    name: "apply",
    title: "Carry out a plan",
    description:
      "Carries out a plan made by `plan`: nothing that it does not list. Refuses when a file has changed since. A second call returns the first outcome.",
    inputSchema: object({ id: { ...text, description: "From `plan`" } }, ["id"]),
    annotations: { ...changes, idempotentHint: true },
  },
  {
    name: "undo",
    title: "Take a run back",
    description: "Takes back what a run changed. Refuses when a file has changed since.",
    inputSchema: object({ run: { ...text, description: "Id of the run, from `apply` or `history`" } }, ["run"]),
    annotations: changes,
  },
  {
    name: "history",
    title: "What was done here",
    description: "The runs of this project, newest first: how each ended, what it changed and what it cost.",
    inputSchema: object({}),
    annotations: reads,
  },
  {
    name: "context",
    title: "What a task would send",
    description: "The files and tokens that the first model call of a task would contain. Sends nothing.",
    inputSchema: object({ task }, ["task"]),
    annotations: reads,
  },
];

const runTool: OfferedTool = {
  name: "run",
  title: "Plan and carry out",
  description: "Plans a change and carries it out at once: `plan` and `apply` in one.",
  inputSchema: object({ task, ...narrowing }, ["task"]),
  annotations: { ...changes, openWorldHint: true },
};

interface Planned {
  /** As `pai plan -o` writes it, with the state of every file. */
  readonly saved: string;
  /** Groups of globs: a path must match one of each. */
  readonly only: readonly (readonly string[])[];
  readonly checks: readonly string[];
  /** The result of applying it; null: not applied yet. */
  readonly outcome: ToolAnswer | null;
}

const plannedShape = z.object({
  saved: z.string(),
  only: z.array(z.array(z.string())),
  checks: z.array(z.string()),
  outcome: z.nullable(z.object({ ok: z.boolean(), text: z.string(), data: z.json() })),
});

/** Plans that wait for `apply`: some agents start a server for each call, so they outlive the process. */
function openPlanned(given: Context) {
  const here = new Map<string, Planned>();
  function kept(id: string) {
    const { context, places, root } = composeBase(given);
    const isKept = places.stateDir !== null && context.flags.ephemeral !== true;
    const cache = isKept ? openPlanCache(places.stateDir, context.now) : null;
    return { cache, key: digest(`mcp ${root} ${id}`) };
  }
  return {
    load(id: string): Planned | null {
      const { cache, key } = kept(id);
      return here.get(id) ?? plannedShape.safeParse(cache?.load(key)).data ?? null;
    },
    save(id: string, planned: Planned): void {
      const { cache, key } = kept(id);
      here.set(id, planned);
      cache?.save(key, planned as unknown as Json);
    },
  };
}

/** Throws usage for an argument that the tool does not have: what it would have narrowed must not be done without it. */
function requireKnown({ name, inputSchema }: OfferedTool, input: Fields): void {
  const names = Object.keys(inputSchema.properties);
  const unknown = Object.keys(input).find((each) => !names.includes(each));
  if (unknown === undefined) return;
  throw new PaiError("usage", `${name} takes no ${JSON.stringify(unknown)}; nothing was done`, {
    hint: didYouMean(unknown, names) ?? (names.length === 0 ? "it takes no arguments" : `it takes ${names.join(", ")}`),
  });
}

function readText(input: Fields, name: string): string {
  const value = input[name];
  if (typeof value === "string" && value.trim() !== "") return value.trim();
  throw new PaiError("usage", `${name} must be a text`);
}

function readTexts(input: Fields, name: string): readonly string[] {
  const value = input[name] ?? [];
  if (Array.isArray(value) && value.every((each) => typeof each === "string" && each.trim() !== "")) return value;
  throw new PaiError("usage", `${name} must be a list of texts`);
}

const documentOfOutcome = (outcome: Outcome) => JSON.parse(renderDocument(outcome, [])) as Fields;

const answerWith = (data: Json): ToolAnswer => ({ ok: true, text: JSON.stringify(data), data });

const answerOf = (outcome: Outcome): ToolAnswer => ({ ...answerWith(documentOfOutcome(outcome)), ok: outcome.ok });

function failureOf(thrown: unknown): ToolAnswer {
  const { code, message, hint } = toFailure(toPaiError(thrown));
  const text = hint === null ? message : `${message}; ${hint}`;
  return { ok: false, text, data: { error: { code, message, hint } } };
}

/** An event in a few words, for a client that waits; null: nothing to report. Never contains file content. */
function describeEvent(event: RunEvent): string | null {
  switch (event.type) {
    case "plan.ready":
      return `planned: expected ${counted(event.promise.expected, "call")}, at most ${event.promise.at_most}`;
    case "model.started":
      return `asking ${event.model}: ${event.purpose}`;
    case "changes.applied":
      return `changed ${counted(event.changes.length, "path")}`;
    case "changes.rolled_back":
      return event.changes.length === 0 ? null : `took back ${counted(event.changes.length, "path")}`;
    case "check.finished":
      return `check ${event.when} the change: ${event.passed === true ? "passed" : "did not pass"}`;
    case "notice":
      return event.text;
    default:
      return null;
  }
}

/** `given`: the call of `pai mcp`. Its folder is the root, its flags are the rights of every call. */
export function openAgentHost(given: Context): ToolHost {
  const planned = openPlanned(given);
  // Standard input belongs to the protocol.
  const flags = { ...given.flags, json: true, noInput: true, noStdin: true };

  async function doRun(
    { signal, progress }: ToolRequest,
    text: string,
    options: Partial<RunOptions> & Pick<RunOptions, "command">,
    flow: Flow,
    onEvent: (event: RunEvent) => void = () => {},
  ): Promise<Outcome> {
    return closeAfter(given, async (context) => {
      const base = composeBase(context);
      const notify = ({ text: said }: { readonly text: string }) => progress(said);
      const composed = await composeTask(base, { notify, confirm: null });
      const limited = limitTime(AbortSignal.any([given.signal, signal]), base.settings.limits.timeout);
      const sink = (event: StampedEvent) => {
        onEvent(event);
        const said = describeEvent(event);
        if (said !== null) progress(said);
      };
      try {
        const task = composed.tellTools({ text, history: [], context: null });
        const usual = composeOptions(given, base, options.command, false);
        const all = { ...usual, mode: "single-shot", ...options } as const;
        // Calling the tool is the approval.
        const decide = decideByPolicy(true);
        return await composed.run(flow, { task, options: all, sink, signal: limited.signal, decide });
      } finally {
        limited.end();
        await composed.close();
      }
    });
  }

  async function documentOf(command: Handler, words: readonly string[], signal: AbortSignal): Promise<ToolAnswer> {
    let printed = "";
    const out = (said: string) => {
      printed += said;
    };
    const called = { ...given, words, flags: { ...flags, yes: true }, signal, out, err: () => {} };
    await closeAfter(called, command);
    const { data } = JSON.parse(printed) as { readonly data: Json };
    return answerWith(data);
  }

  /** Without the diff: it shows what files hold, and what the other agent may read of them is not for pai to say. */
  async function undo({ input, signal }: ToolRequest): Promise<ToolAnswer> {
    const command: Handler = (context) => reverse(context, "undo");
    const { diff: _, ...others } = (await documentOf(command, [readText(input, "run")], signal)).data as Fields;
    return answerWith(others);
  }

  const narrowedBy = (input: Fields) =>
    [onlyFlag({ only: [...readTexts(input, "only")] }), onlyFlag(given.flags)].filter((globs) => globs.length > 0);

  async function makePlan(request: ToolRequest): Promise<ToolAnswer> {
    const { input } = request;
    const words = readText(input, "task");
    const only = narrowedBy(input);
    const checks = readTexts(input, "checks");
    let saved = "";
    let promise: Json = null;
    const flow: Flow = async (run) => {
      await singleShot(run);
      if (run.planning.plan?.intent !== "task") return;
      saved = await renderPlanFile(run, false, given.now());
    };
    const outcome = await doRun(request, words, { command: "plan", planOnly: true, only }, flow, (event) => {
      if (event.type === "plan.ready") promise = { ...event.promise };
    });
    if (!outcome.ok || saved === "" || outcome.run === null) return answerOf(outcome);
    planned.save(outcome.run, { saved, only, checks, outcome: null });
    const { plan } = documentOfOutcome(outcome);
    return answerWith({ id: outcome.run, plan: plan ?? null, promise });
  }

  async function applyPlan(request: ToolRequest): Promise<ToolAnswer> {
    const id = readText(request.input, "id");
    const found = planned.load(id);
    if (found === null) throw new PaiError("usage", `unknown plan: ${id}`, { hint: "make one with the tool plan" });
    if (found.outcome !== null) return found.outcome;
    const saved = readPlanFile(found.saved, `plan ${id}`);
    const only = [...found.only, onlyFlag(given.flags)].filter((globs) => globs.length > 0);
    const outcome = await doRun(request, saved.file.task, { command: "apply", only }, async (run) => {
      await requireBase(run.workspace, saved, false);
      await followPlan(addChecks(saved.plan, found.checks), null)(run);
    });
    const answer = answerOf(outcome);
    // A failed run was rolled back, so the plan may be tried again.
    if (answer.ok) planned.save(id, { ...found, outcome: answer });
    return answer;
  }

  async function runAtOnce(request: ToolRequest): Promise<ToolAnswer> {
    const { input } = request;
    const { mode, checks: own } = composeBase(given).settings;
    const text = readText(input, "task");
    const checks = readTexts(input, "checks");
    const refused = checks.filter((check) => !grantsRun(runFlag(given.flags), check));
    if (refused.length > 0)
      throw new PaiError("command_refused", `pai mcp may not run these checks: ${refused.join("; ")}`, {
        hint: `nothing was done; it has to be started with ${flagsToRun(refused)}`,
      });
    // Another agent's checks are no more the user's than those of a project.
    const held = checks.length > 0 ? { checkRights: { weakest: null, byProject: true, inSystem: false } } : {};
    const options = { command: "run", mode, only: narrowedBy(input), checks: [...own, ...checks], ...held };
    return answerOf(await doRun(request, text, options, await flowFor(mode)));
  }

  const work: Readonly<Record<string, (request: ToolRequest) => Promise<ToolAnswer>>> = {
    plan: makePlan,
    apply: applyPlan,
    run: runAtOnce,
    undo,
    history: ({ signal }) => documentOf(historyCommand, [], signal),
    context: ({ input, signal }) => documentOf(contextCommand, [readText(input, "task")], signal),
  };

  const offered = given.flags.yes === true ? [...tools, runTool] : tools;
  return {
    version,
    tools: offered,
    async call(request) {
      try {
        const tool = offered.find(({ name }) => name === request.name);
        const carryOut = work[request.name];
        if (tool === undefined || carryOut === undefined) throw new PaiError("usage", `unknown tool: ${request.name}`);
        requireKnown(tool, request.input);
        return await carryOut(request);
      } catch (thrown) {
        return failureOf(thrown);
      }
    },
  };
}
