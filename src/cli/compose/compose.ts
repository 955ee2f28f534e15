/** The composition root: builds every adapter a task needs from the context. It knows everybody and decides nothing. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { PaiError } from "../../core/error.ts";
import type { StampedEvent } from "../../core/event.ts";
import { type Json, type Model, textOf } from "../../core/model.ts";
import type { Workspace } from "../../core/ports.ts";
import type { Decide } from "../../core/question.ts";
import { type Mask, maskHeld } from "../../core/secrets/held-keys.ts";
import { createVeil, findNames, type Veil } from "../../core/secrets/veil.ts";
import type { Ports, RunOptions, Task } from "../../flows/run.ts";
import { openAudit } from "../../store/audit.ts";
import { openPlanCache } from "../../store/plan-cache.ts";
import type { Settings } from "../../store/settings.ts";
import type { ProjectIndex } from "../../workspace/index/project-index.ts";
import type { History } from "../../workspace/journal/history.ts";
import { openWorkspace } from "../../workspace/open.ts";
import type { SandboxSettings } from "../../workspace/sandbox/settings.ts";
import type { Context } from "../command.ts";
import { version } from "../commands/version.ts";
import { commitFlag, envFlag, onlyFlag, runFlag, secretFlag, steeringFlag } from "../flag-values.ts";
import { type Base, openPlaces } from "./base.ts";
import { type ComposedModel, composeModel, type Face, priceOf } from "./compose-model.ts";
import { describeEnvironment } from "./environment.ts";
import { openProjectMemory } from "./project-memory.ts";
import type { StartTool } from "./start-server.ts";
import type { TeamLink } from "./team.ts";
import { tellSkills } from "./tell-skills.ts";

export interface ComposedWorkspace {
  readonly workspace: Workspace;
  readonly history: History;
  /** Where this workspace's journal and sessions are kept; null: nowhere. */
  readonly stateFolder: string | null;
  /** null: none is kept here. */
  readonly index: ProjectIndex | null;
  readonly startTool: StartTool;
}

/**
 * Opens the folder to work in, takes back what a run that was cut off left there, and tells that and which protections
 * this system lacks. Throws root_refused.
 */
export async function composeWorkspace(
  context: Context,
  base: Base,
  notify: Face["notify"],
): Promise<ComposedWorkspace> {
  const { settings, places } = base;
  const ephemeral = context.flags.ephemeral === true;
  const opened = await openWorkspace({
    root: base.root,
    stateDir: ephemeral ? null : places.stateDir,
    own: [places.configDir, places.stateDir].filter((folder) => folder !== null),
    home: places.home,
    force: settings.forceRoot,
    policy: settings.policy,
    env: context.env,
    commandEnv: [...settings.commands.env, ...envFlag(context.flags)],
    umask: process.umask(),
    keep: settings.keep,
    sandbox: composeSandbox(context, settings),
  });
  const { workspace, history, stateFolder, index, startTool } = opened;
  const homeless = places.stateDir === null && !ephemeral;
  const lacks = homeless ? ["undo is off: no home folder is known to keep anything in"] : [];
  for (const text of [...opened.recovered, ...opened.warnings, ...lacks])
    notify({ level: "warning", code: "workspace", text });
  return { workspace, history, stateFolder, index, startTool };
}

/** What flags and settings ask of the sandbox of commands. */
export function composeSandbox({ flags }: Context, settings: Settings): SandboxSettings {
  return {
    choice: settings.sandbox,
    network: flags.allowNet === true,
    checkNetwork: flags.noCheckNet !== true && settings.checkNetwork,
    writable: [...settings.commands.writable, ...(flags.allowWrite ?? [])],
    readable: flags.allowRead ?? [],
    git: flags.allowGit === true,
  };
}

/**
 * UTC time to the millisecond and 16 random bits: ids sort by time, and two of one millisecond are the same once in
 * 65,536.
 */
export function makeRunId(now: Date): string {
  const stamp = now.toISOString().replace(/[-:Z]/g, "").replace("T", "-").replace(".", "");
  return `${stamp}-${Buffer.from(crypto.getRandomValues(new Uint8Array(2))).toString("hex")}`;
}

/** Aborts with `timeout` after the time limit, or with the process's signal. */
export function limitTime(
  signal: AbortSignal,
  seconds: number | null,
): { readonly signal: AbortSignal; readonly end: () => void } {
  if (seconds === null) return { signal, end: () => {} };
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new PaiError("timeout", `the time limit of ${seconds} s is over`)),
    seconds * 1000,
  );
  return { signal: AbortSignal.any([signal, controller.signal]), end: () => clearTimeout(timer) };
}

/** The options of a run as flags and settings say them; a command may replace some. */
export function composeOptions(
  context: Context,
  settings: Settings,
  command: string,
  interactive: boolean,
): RunOptions {
  const { flags } = context;
  const kept = { stateDir: flags.ephemeral === true ? null : openPlaces(context.env).stateDir, now: context.now() };
  return {
    command,
    mode: settings.mode,
    version,
    temperature: settings.temperature,
    caps: { calls: settings.limits.calls, tokens: settings.limits.tokens, cost: settings.limits.cost },
    guard: settings.guard,
    maxActions: settings.actions,
    environment: describeEnvironment(context.env, resolve(context.cwd, flags.cwd ?? "."), kept),
    only: [onlyFlag(flags)].filter((globs) => globs.length > 0),
    checks: settings.checks,
    checkTimeoutMs: 600_000,
    baseline: flags.noBaseline !== true,
    checkWaitMs: settings.checkWait * 1000,
    noWorse: flags.noWorse === true,
    commandTimeoutMs: Math.min(120, settings.commands.timeout) * 1000,
    interactive,
    allowDelete: flags.allowDelete === true,
    allowRun: runFlag(flags),
    commit: commitFlag(flags),
    allowSecret: secretFlag(flags),
    allowSteering: steeringFlag(flags),
    strict: settings.strict,
    dryRun: flags.dryRun === true,
    throwawayChecks: settings.checkThrowaway,
    keep: flags.keep === true,
    review: flags.review === true,
    planOnly: false,
  };
}

export interface Composed {
  readonly base: Base;
  readonly opened: ComposedWorkspace;
  /** Ports of one run; each run has its own id, sink and signal. */
  readonly portsFor: (run: {
    readonly task: Task;
    readonly options: RunOptions;
    readonly sink: (event: StampedEvent) => void;
    readonly signal: AbortSignal;
    readonly decide: Decide;
    /** Another model than the one of the settings. */
    readonly model?: ComposedModel | undefined;
  }) => Ports;
  /** The task, with the tools of connected servers that it may call. */
  readonly tellTools: (task: Task) => Task;
  /** Tokens that the settings' model holds. */
  readonly window: number;
  /** Takes the keys of the settings' model out of what is written down; every secret that a run has met goes by its name. */
  readonly cover: Mask;
  /** The session that the team is told of beside its runs; does nothing without a store. */
  readonly followSession: TeamLink["followSession"];
  /** Resolves when the team was told of the runs, or the time for it is over. */
  readonly close: () => Promise<void>;
}

/** What a resumed session holds of earlier runs: the names of secrets in it are taken. */
const earlierTexts = ({ conversation, history }: Task): readonly string[] => [
  ...history.flatMap(({ request, answer }) => [request, answer]),
  ...(conversation?.messages ?? []).map(textOf),
];

/** null: neither a store nor a cap of a day is set. */
async function openTeamLink(base: Base, ephemeral: boolean, notify: Face["notify"]): Promise<TeamLink | null> {
  const { user, team } = base.settings.limits.day;
  const isCapped = [user, team].some((caps) => Object.values(caps).some((cap) => cap !== null));
  if (base.settings.storeUrl === null && !isCapped) return null;
  return (await import("./team.ts")).linkTeam(base, { ephemeral, now: base.context.now, notify });
}

/** Everything for one or more runs in one workspace. `given` is the model, where it is not the one of the settings. */
export async function composeTask(
  context: Context,
  base: Base,
  { notify, confirm }: Face,
  given: Model | null = null,
): Promise<Composed> {
  const { settings, places } = base;
  const ephemeral = context.flags.ephemeral === true;
  /** Where notices of the model go: to the sink of the run under way, before the first one to the face. */
  let tell = notify;
  const loading = ephemeral ? null : import("../../store/recorder.ts");
  const opening = composeWorkspace(context, base, notify);
  const [opened, own] = await Promise.all([
    opening,
    given === null
      ? composeModel(context, base, { notify: (notice) => tell(notice), confirm }).catch(async (thrown) => {
          // What was taken back in the folder is told, though no model can be asked.
          await opening;
          throw thrown;
        })
      : { model: given, price: () => priceOf(given.id, settings, context.now()), mask: maskHeld([]) },
  ]);
  const warn = (message: string) => notify({ level: "warning", code: "audit", text: message });
  const audit = ephemeral
    ? null
    : openAudit({
        root: opened.workspace.root,
        historyDir: settings.historyDir,
        stateDir: places.stateDir,
        now: context.now,
        keep: settings.keep,
        warn,
      });
  const believed = opened.stateFolder === null ? null : places.stateDir;
  const cacheDir = ephemeral || context.flags.noPlanCache === true ? null : believed;
  const planCache = cacheDir === null ? null : openPlanCache(cacheDir, context.now);
  const kept = opened.stateFolder === null ? null : await loading;
  const receipts = kept?.keepReceipts(opened.stateFolder ?? "", settings.keep, context.now, notify) ?? null;
  const hasServers = settings.mcpServers.length > 0 || existsSync(join(base.root, ".mcp.json"));
  const tools = hasServers
    ? (await import("./connect-tools.ts")).connectTools(base, opened.workspace, opened.startTool)
    : null;
  const told = await tellSkills(places, opened.workspace.root);
  const team = await openTeamLink(base, ephemeral, (notice) => tell(notice));
  /** One for all runs: what a conversation names, its later turns know. */
  let veil: Veil | null = null;
  return {
    base,
    opened,
    portsFor: ({ sink, signal, decide, model: { model, price, mask } = own, ...started }) => {
      const id = makeRunId(context.now());
      veil ??= createVeil({ known: mask.keys, ...findNames(earlierTexts(started.task)) });
      const actions = async () => {
        const { allActions } = await import("../../actions/proposals.ts");
        return tools?.offer(allActions) ?? allActions;
      };
      const memory = openProjectMemory(opened, {
        run: id,
        learns: settings.memory,
        isSeen: started.options.interactive,
        now: context.now,
      });
      const workspace = tools?.workspace ?? opened.workspace;
      const plans = planCache && {
        ...planCache,
        save: (name: string, plan: Json) => planCache.save(name, cover(mask(plan))),
      };
      const doors = { model, workspace, decide, actions, memory, planCache: plans, mask, veil };
      const { cover } = veil;
      const recorder = receipts?.(id, started, doors) ?? null;
      return {
        id,
        ...doors,
        ...recorder,
        get price() {
          return price();
        },
        onNotice: (listener) => {
          tell = listener;
        },
        sink: (event) => {
          recorder?.sink(event);
          audit?.sink(event);
          team?.sink(event);
          sink(event);
        },
        signal,
        now: context.now,
        allowance: team?.allowance ?? null,
      };
    },
    tellTools(task) {
      const parts = [task.context, told, tools?.describe(task.text) ?? null].filter((part) => part !== null);
      return parts.length === 0 ? task : { ...task, context: parts.join("\n\n") };
    },
    window: own.model.window,
    cover: (value) => veil?.cover(own.mask(value)) ?? own.mask(value),
    followSession: (place) => team?.followSession(place),
    async close() {
      tools?.close();
      audit?.close();
      await team?.close();
    },
  };
}
