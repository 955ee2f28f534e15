/** The composition root: builds every adapter of a task from the context. Of decisions only what is kept and shared: log, cached plans, team. */

import { join } from "node:path";
import { allActions } from "../../actions/registry.ts";
import type { StampedEvent } from "../../core/event.ts";
import { type Json, type Model, textOf } from "../../core/model.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { PlanCache } from "../../core/ports.ts";
import type { Decide } from "../../core/question.ts";
import { createVeil, type Veil } from "../../core/secrets/veil.ts";
import { textsOf } from "../../core/session/past.ts";
import { hasCaps } from "../../core/spending/allowance.ts";
import type { Flow, RunOptions, Task } from "../../flows/run.ts";
import { runTask } from "../../flows/run-task.ts";
import type { TeamLink } from "../../lab/door.ts";
import { openAudit } from "../../store/audit.ts";
import { openPlanCache } from "../../store/plan-cache.ts";
import { openReceipts } from "../../store/receipts.ts";
import { keepReceipts } from "../../store/record-receipt.ts";
import { type OpenedWorkspace, openWorkspace } from "../../workspace/open.ts";
import { openLog } from "../answer-document.ts";
import { askUntilShown } from "../at-paths.ts";
import type { Context } from "../command.ts";
import { allowFlag, alsoFlag, envFlag, shownFlag } from "../flags.ts";
import { openLab } from "../lab.ts";
import { openProjectMemory } from "../remember.ts";
import { type Base, composeBase, knownSecrets } from "./base.ts";
import { type ComposedModel, composeModel, type Face } from "./compose-model.ts";
import { describeSkills } from "./custom.ts";
import { connectTools } from "./mcp-tools.ts";
import { priceOf } from "./model-facts.ts";
import { composeSandbox, makeRunId } from "./options.ts";

type Notify = Face["notify"];

interface RunStart {
  readonly task: Task;
  readonly options: RunOptions;
  readonly sink: (event: StampedEvent) => void;
  readonly signal: AbortSignal;
  readonly decide: Decide;
  readonly model?: ComposedModel | undefined;
  /** The plan to begin with, instead of asking for one. */
  readonly shown?: Plan | undefined;
}

export type Composed = Awaited<ReturnType<typeof composeTask>>;

/** Texts of a resumed session: names of secrets that occur in them must not be given to other secrets. */
const earlierTexts = ({ conversation, history, context }: Task): readonly string[] => [
  context ?? "",
  ...history.flatMap(textsOf),
  ...(conversation?.messages ?? []).map(textOf),
];

/** Opens the working folder, and reports what was recovered and what is missing. Throws root_refused. */
export async function composeWorkspace(base: Base, notify: Notify): Promise<OpenedWorkspace> {
  const { context, settings, places } = base;
  const ephemeral = context.flags.ephemeral === true;
  const opened = await openWorkspace({
    root: base.root,
    stateDir: ephemeral ? null : places.stateDir,
    own: [places.configDir, places.stateDir].filter((folder) => folder !== null),
    home: places.home,
    force: context.flags.forceRoot === true,
    policy: settings.policy,
    allow: allowFlag(context, base.root),
    env: context.env,
    commandEnv: [...settings.commands.env, ...envFlag(context.flags)],
    umask: process.umask(),
    keep: settings.keep,
    sandbox: composeSandbox(context, settings),
    showsArguments: base.asksOnly === true || shownFlag(context).host,
    shown: shownFlag(context).paths,
    also: alsoFlag(context),
  });
  context.onOpened?.(opened.close);
  logCutOff(base, opened, notify);
  const homeless = places.stateDir === null && !ephemeral;
  const lacks = homeless ? ["undo is off: no home folder is known to keep anything in"] : [];
  for (const text of [...opened.recovered, ...opened.warnings, ...lacks])
    notify({ level: "warning", code: "workspace", text });
  return opened;
}

/** Adds the runs that were cut off, and are ended now, to the project's log. */
function logCutOff(base: Base, { workspace, stateFolder, ended }: OpenedWorkspace, notify: Notify): void {
  if (stateFolder === null || ended.length === 0) return;
  const receipts = openReceipts(join(stateFolder, "runs"));
  const audit = openSessionLog(base, workspace.root, notify);
  for (const id of receipts.ids().filter((each) => ended.includes(each))) audit.add(receipts.read(id).facts);
  audit.close();
}

function openSessionLog({ context, settings, places }: Base, root: string, notify: Notify) {
  const warn = (text: string) => notify({ level: "warning", code: "audit", text });
  return openAudit({ root, stateDir: places.stateDir, now: context.now, keep: settings.keep, warn });
}

/** Opens the workspace and the model in parallel. Reports notices of the workspace even if no model can be opened. */
async function openBoth(
  base: Base,
  { notify, confirm }: Face,
  relayed: Notify,
  { given, learn }: { readonly given: Model | null; readonly learn: Veil["learn"] },
): Promise<readonly [OpenedWorkspace, ComposedModel]> {
  const { context } = base;
  const opening = composeWorkspace(base, notify);
  if (given !== null) {
    const price = () => priceOf(given.id, base, context.now());
    return [await opening, { model: given, price, successor: () => null }];
  }
  const model = composeModel(base, { notify: relayed, confirm }, learn).catch(async (thrown) => {
    await opening;
    throw thrown;
  });
  return Promise.all([opening, model]);
}

function openKept(base: Base, opened: OpenedWorkspace, notify: Notify) {
  const { context, settings, places } = base;
  const { flags, now } = context;
  const { stateFolder, workspace } = opened;
  const { keep } = settings;
  if (flags.ephemeral === true) return { audit: null, planCache: null, receipts: null };
  const audit = base.asksOnly === true ? null : openSessionLog(base, workspace.root, notify);
  const cacheDir = stateFolder === null ? null : places.stateDir;
  return {
    audit,
    planCache: cacheDir === null ? null : openPlanCache(cacheDir, now),
    receipts: keepReceipts(stateFolder, { keep, now, notify, ended: audit?.add ?? (() => {}) }),
  };
}

/** A cache that finds `shown` first, whatever the key. */
function beginWith(shown: Plan, { load, save }: PlanCache): PlanCache {
  let left: Plan | null = shown;
  return {
    save,
    load(key) {
      if (left === null) return load(key);
      const plan = left as unknown as Json;
      left = null;
      return plan;
    },
  };
}

/** Composes one or more runs in one workspace. `given`: a model instead of that of the settings. */
export async function composeTask(base: Base, face: Face, given: Model | null = null) {
  const { context, places, settings } = base;
  const { now } = context;
  /** Notices go to the current run, and to the face before the first one. */
  let hear: Notify = face.notify;
  const notify: Notify = (notice) => hear(notice);
  /** One for all runs, so that a secret keeps its name throughout a conversation. */
  const veil = createVeil();
  const { learn, cover } = veil;
  const [opened, own] = await openBoth(base, face, notify, { given, learn });
  const { workspace } = opened;
  knownSecrets(base, workspace.root).forEach(learn);
  const kept = openKept(base, opened, face.notify);
  const tools = connectTools(base, workspace, opened.startTool);
  const skills = describeSkills({ places, root: workspace.root });
  const counts = settings.storeUrl !== null || hasCaps(settings.limits.day);
  const team = counts ? await (await openLab()).linkTeam(base, context.flags.ephemeral === true, notify) : null;
  const cache: PlanCache = {
    load: (name) => kept.planCache?.load(name) ?? null,
    save: (name, plan) => kept.planCache?.save(name, veil.cover(plan)),
  };
  return {
    base,
    opened,
    run(flow: Flow, { task, options, sink, signal, decide: ask, model: use = own, shown }: RunStart): Promise<Outcome> {
      veil.resume(earlierTexts(task));
      const id = makeRunId(now());
      const doors = {
        model: use.model,
        workspace: tools?.workspace ?? workspace,
        // Only a person answers in words, which may mention files.
        decide: options.interactive ? askUntilShown(opened, ask, notify) : ask,
        actions: tools?.offer(allActions) ?? allActions,
        memory: openProjectMemory(opened, id, { learns: settings.memory, isSeen: options.interactive, now }),
        planCache: shown === undefined ? cache : beginWith(shown, cache),
        veil,
      };
      const recorder = kept.receipts?.(id, { task, options }, doors) ?? null;
      return runTask(flow, task, options, {
        id,
        ...doors,
        ...recorder,
        price: use.price,
        onNotice: (listener) => {
          hear = listener;
        },
        sink: (event) => {
          recorder?.sink(event);
          team?.sink(event);
          sink(event);
        },
        signal,
        now,
        allowance: team?.allowance ?? null,
      });
    },
    tellTools(task: Task): Task {
      const found = [task.context, skills, tools?.describe(task.text) ?? null].filter((part) => part !== null);
      return found.length === 0 ? task : { ...task, context: found.join("\n\n") };
    },
    window: own.model.window,
    successor: own.successor,
    /** Replaces secrets that are known, or that a run has seen, by their names. */
    cover,
    learn,
    /** Sets the session that is sent to the team's store with its runs; does nothing without a store. */
    followSession: ((place) => team?.followSession(place)) satisfies TeamLink["followSession"],
    /** Resolves when the runs have been sent to the team's store, or after a timeout. */
    async close() {
      tools?.close();
      kept.audit?.close();
      await team?.close();
    },
  };
}

/** Opens the working folder for a command that is not a task, and reports its notices. */
export async function openHere(context: Context) {
  const base = composeBase(context);
  const { notify } = openLog(context);
  for (const text of base.warnings) notify({ level: "warning", code: "settings", text });
  return { ...(await composeWorkspace(base, notify)), base };
}

export type Here = Awaited<ReturnType<typeof openHere>>;
