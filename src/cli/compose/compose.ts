/** Composes the parts that a task needs first: models with their keys and prices, workspace, sandbox, run id, time limit, options. */
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { PaiError } from "../../core/error.ts";
import type { KeyState } from "../../core/key-turns.ts";
import type { Job, Model } from "../../core/model.ts";
import type { Workspace } from "../../core/ports.ts";
import type { Provider } from "../../core/providers.ts";
import type { Notice } from "../../core/question.ts";
import type { Price } from "../../core/spending/cost.ts";
import type { CheckRights } from "../../flows/checks/checking.ts";
import type { RunOptions } from "../../flows/run.ts";
import { fallBack, pairModels } from "../../models/fallback.ts";
import { openModel, parseModelId, providerOfModel } from "../../models/open.ts";
import { isSystemFolder, openAudit } from "../../store/audit.ts";
import { configuredAddress, findBaseUrl, requireConsent, requireOwnAddresses } from "../../store/base-url.ts";
import { openKeyState } from "../../store/key-state.ts";
import { type FoundKey, findKeys } from "../../store/keys.ts";
import { openPlaces } from "../../store/places.ts";
import { openReceipts } from "../../store/receipts.ts";
import { settingTable } from "../../store/setting-table.ts";
import { type LoadedSettings, projectFile, type Settings } from "../../store/settings.ts";
import { realPathOf } from "../../system/lookups.ts";
import type { History } from "../../workspace/journal/run-history.ts";
import { type OpenedWorkspace, openWorkspace } from "../../workspace/open.ts";
import type { SandboxSettings } from "../../workspace/sandbox/settings.ts";
import type { Base, Context } from "../command.ts";
import { version } from "../commands/version.ts";
import { allowFlag, alsoFlag, commitFlag, envFlag, onlyFlag, runFlag, shownFlag } from "../flag-values.ts";
import { openLab } from "../lab.ts";
import { readText } from "../read-text.ts";
import { adviseUnknown } from "./advise-unknown.ts";
import { describeEnvironment } from "./environment.ts";
import { readOuterGuides } from "./guides.ts";
import { openKeyCommand, type RenewKey } from "./key-command.ts";
import { factsOfModel, findPrices, priceOf } from "./model-facts.ts";
import type { StartTool } from "./start-server.ts";

export interface ComposedWorkspace {
  readonly workspace: Workspace;
  readonly history: History;
  /** Folder of this workspace's journal and sessions; null: none. */
  readonly stateFolder: string | null;
  readonly startTool: StartTool;
  /** From now on this file or folder outside the project may be read. */
  readonly show: (given: string) => void;
}

/**
 * Opens the working folder, undoes an interrupted run, and reports that as well as missing protections. Throws
 * root_refused.
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
  const { workspace, history, stateFolder, startTool, show } = opened;
  context.onOpened?.(opened.close);
  logCutOff(base, opened, context.now, notify);
  const homeless = places.stateDir === null && !ephemeral;
  const lacks = homeless ? ["undo is off: no home folder is known to keep anything in"] : [];
  for (const text of [...opened.recovered, ...opened.warnings, ...lacks])
    notify({ level: "warning", code: "workspace", text });
  return { workspace, history, stateFolder, startTool, show };
}

/** Adds the runs that were cut off, and are ended now, to the project's log. */
function logCutOff(
  base: Base,
  { workspace, stateFolder, ended }: OpenedWorkspace,
  now: () => Date,
  notify: Face["notify"],
): void {
  if (stateFolder === null || ended.length === 0) return;
  const receipts = openReceipts(join(stateFolder, "runs"));
  const audit = openSessionLog(base, workspace.root, now, notify);
  for (const id of receipts.ids().filter((each) => ended.includes(each))) audit.add(receipts.read(id).facts);
  audit.close();
}

/** The readable log in the project. */
export function openSessionLog({ settings, places }: Base, root: string, now: () => Date, notify: Face["notify"]) {
  const warn = (text: string) => notify({ level: "warning", code: "audit", text });
  return openAudit({
    root,
    stateDir: places.stateDir,
    now,
    keep: settings.keep,
    warn,
  });
}

/** The folder .git of the project, whose content can run code later. */
const isGit = (path: string) => /^(?:\.\/)?\.git\/?$/.test(path);

/** Sandbox settings from flags and settings. */
export function composeSandbox({ flags }: Context, settings: Settings): SandboxSettings {
  const written = flags.allowWrite ?? [];
  return {
    choice: settings.sandbox,
    network: flags.allowNet === true,
    writable: [...settings.commands.writable, ...written].filter((path) => !isGit(path)),
    readable: flags.allowRead ?? [],
    git: written.some(isGit),
  };
}

/**
 * UTC time to the millisecond and 16 random bits: ids sort by time, and two of the same millisecond collide once in
 * 65,536 times.
 */
export function makeRunId(now: Date): string {
  const digits = now.toISOString().replaceAll("-", "").replaceAll(":", "");
  const stamp = `${digits.slice(0, 8)}-${digits.slice(9, 15)}${digits.slice(16, 19)}`;
  return `${stamp}-${Buffer.from(crypto.getRandomValues(new Uint8Array(2))).toString("hex")}`;
}

/** Aborts with `timeout` at the time limit, or with the process's signal. */
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

/** Of the user's checks in the working folder; of `checks.sandbox` the entry of the nearest folder counts. */
function checkRightsOf(folder: string, { checkSandbox }: Settings, origins: LoadedSettings["origins"]): CheckRights {
  const root = realPathOf(folder) ?? folder;
  const above = Object.keys(checkSandbox).filter((each) =>
    `${root}/`.startsWith(each.endsWith("/") ? each : `${each}/`),
  );
  const nearest = above.sort((a, b) => b.length - a.length)[0];
  return {
    weakest: nearest === undefined ? null : (checkSandbox[nearest] ?? null),
    byProject: origins[settingTable.checks.name] === projectFile,
    inSystem: isSystemFolder(root),
  };
}

/** Options of a run from flags and settings; a command may replace some. */
export function composeOptions(
  context: Context,
  { settings, origins }: Pick<LoadedSettings, "settings" | "origins">,
  command: string,
  interactive: boolean,
): RunOptions {
  const { flags } = context;
  const { configDir } = openPlaces(context.env);
  const root = resolve(context.cwd, flags.cwd ?? ".");
  return {
    command,
    mode: settings.mode,
    version,
    temperature: settings.temperature,
    effort: settings.effort,
    caps: { calls: settings.limits.calls, tokens: settings.limits.tokens, cost: settings.limits.cost },
    guard: settings.guard,
    maxActions: 15,
    environment: describeEnvironment(context.env, root),
    guides: readOuterGuides(configDir, root),
    only: [onlyFlag(flags)].filter((globs) => globs.length > 0),
    checks: settings.checks,
    formats: flags.format ?? [],
    checkTimeoutMs: 600_000,
    baseline: flags.noBaseline !== true,
    checkWaitMs: 20_000,
    noWorse: flags.noWorse === true,
    commandTimeoutMs: settings.commands.timeout * 1000,
    interactive,
    allowDelete: flags.allowDelete === true,
    allowRun: runFlag(flags),
    commit: commitFlag(flags),
    after: {
      commands: flags.then ?? [],
      unverified: flags.thenUnverified === true,
      again: flags.thenAgain === true,
    },
    allow: allowFlag(context, root),
    strict: settings.strict,
    dryRun: flags.dryRun === true,
    checkRights: checkRightsOf(root, settings, origins),
    keep: flags.keep === true,
    review: flags.review === true ? "change" : false,
    planOnly: false,
    atOnce: flags.planFirst === true ? "never" : settings.atOnce,
  };
}

/** Handles notices and questions outside a run. */
export interface Face {
  readonly notify: (notice: Notice) => void;
  /** Asks for approval, for example to send a key to a new address; null: nobody can be asked. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
}

export interface ComposedModel {
  readonly model: Model;
  /** USD prices of the model in use; null: unknown. */
  readonly price: (job: Job) => Price | null;
  /** What to use instead of a default model that its server refused as unknown; null: none was refused. */
  readonly successor: () => string | null;
}

/** The settings with a model that the user named. */
export const withModel = (base: Base, model: string): Base => ({
  ...base,
  settings: { ...base.settings, model },
  origins: { ...base.origins, model: "flag" },
});

/** Whether the user can change the model for good: nobody named it for this call, and no project did. */
const isDefault = ({ origins }: Base): boolean =>
  !["flag", settingTable.model.env, projectFile].includes(origins["model"]);

/** The models in `a,b`, in order of use, or in `plan=a,work=b`, that of plans first. Throws usage for a mixture of both. */
export function listModels(source: string): readonly [string, ...string[]] {
  const pair = readPair(source);
  if (pair !== null) return [pair.plan, pair.work];
  const [first = "", ...others] = splitModels(source);
  return [first, ...others.filter((id) => id.trim() !== "")];
}

/** A recording's name may contain a comma. */
const splitModels = (source: string): readonly string[] =>
  source.trim().startsWith("replay:") ? [source] : source.split(",");

const pairForm = "two models are written plan=MODEL,work=MODEL";

/** The models of `plan=a,work=b`; null: no job is named. Throws usage for what is neither that nor a list. */
function readPair(source: string): Readonly<Record<Job, string>> | null {
  const parts = splitModels(source).map((part) => /^\s*(plan|work)=\s*(.*)$/s.exec(part)?.slice(1) ?? null);
  if (parts.every((part) => part === null)) return null;
  const named = parts.flatMap((part) => (part === null ? [] : [part]));
  const of = (job: Job) => named.filter(([name]) => name === job).map(([, id = ""]) => id.trim());
  const [plan = "", ...otherPlans] = of("plan");
  const [work = "", ...otherWorks] = of("work");
  const wrong = (why: string) =>
    new PaiError("usage", `the model ${JSON.stringify(source)} ${why}`, {
      hint: `${pairForm}, a list of stand-ins a,b`,
    });
  if (named.length < parts.length) throw wrong("mixes two models with a list of stand-ins");
  if (plan === "" || work === "") throw wrong(`names no model for ${plan === "" ? "plan" : "work"}`);
  if (otherPlans.length + otherWorks.length > 0) throw wrong("names two models for one job");
  return { plan, work };
}

/** The models with their providers, as `a:b,c:d`. Throws model_unknown when a provider is unclear. */
export function spellModels({ model, providers }: Pick<Base["settings"], "model" | "providers">): string {
  const spelled = listModels(model)
    .map((id) => parseModelId(id, providers))
    .map(({ provider, name }) => `${provider}:${name}`);
  return readPair(model) === null ? spelled.join(",") : `plan=${spelled[0]},work=${spelled[1]}`;
}

/**
 * Opens the models of the settings; `learn` gets every key, to hide it. Throws usage for --max-cost with a model of unknown price and for PAI_BASE_URL with two
 * providers, and what opening a model throws.
 */
export async function composeModel(
  context: Context,
  base: Base,
  face: Face,
  learn: (key: string) => void = () => {},
): Promise<ComposedModel> {
  const ids = listModels(base.settings.model);
  requireOwnAddresses(
    ids.flatMap((id) => providerOfModel(id, base.settings.providers) ?? []),
    context.env,
  );
  requirePrices(ids, base);
  const opened = await Promise.all(ids.map((id) => openOne(id, context, base, face, learn)));
  const advised = opened.map((model) => adviseUnknown(model, base, { isDefault: ids.length === 1 && isDefault(base) }));
  const successor = () => advised.map((each) => each.successor()).find((each) => each !== null) ?? null;
  const [first, ...others] = advised.map(({ model }) => model);
  if (first === undefined) throw new PaiError("usage", "no model was named");
  const priced = ({ id }: Model) => findPrices(id, base);
  const price = priced(first);
  if (others.length === 0) return { model: first, price: () => price(context.now()), successor };
  const [work] = others;
  if (readPair(base.settings.model) !== null && work !== undefined) {
    const prices = { plan: price, work: priced(work) };
    return { model: pairModels(first, work), price: (job) => prices[job](context.now()), successor };
  }
  const { model, current } = fallBack(first, others, face.notify);
  return { model, price: () => priced(current())(context.now()), successor };
}

/** Opens one model with its keys, each of which `learn` gets. */
async function openOne(
  id: string,
  context: Context,
  base: Base,
  { notify, confirm }: Face,
  learn: (key: string) => void,
): Promise<Model> {
  const { settings, places } = base;
  const provider = providerOfModel(id, settings.providers);
  const common = {
    id,
    own: settings.providers,
    agent: `pai/${version}`,
    insecureHttp: base.settings.insecureHttp,
    limits: factsOfModel(id, base),
    readText: (path: string) => readText(resolve(context.cwd, path), "recording", context.signal),
    notify,
    now: () => context.now().getTime(),
    sleep,
    random: Math.random,
    maxWaitMs: (settings.limits.timeout ?? Number.POSITIVE_INFINITY) * 1000,
    ...(settings.limits.silence === null ? {} : { idleMs: settings.limits.silence * 1000 }),
    proxyEnv: context.env,
    signal: context.signal,
  };
  const own = openKeyState(context.flags.ephemeral === true ? null : places.stateDir);
  if (provider === null) return openModel({ ...common, keyState: own, keys: [], baseUrl: null });
  const address = findBaseUrl(provider, context.env, configuredAddress(provider, base));
  const renew = await keyByCommand(provider, base, learn);
  if (renew !== null) {
    const key = await renew(context.signal, null);
    return openModel({ ...common, keyState: own, keys: [key], renew, baseUrl: address.url });
  }
  const found = findKeys(provider, { env: context.env, places });
  const keys = found.map(({ key }) => key);
  keys.forEach(learn);
  await requireConsent(address, keys, { places, ask: confirm });
  const keyState = await shareRests(own, { provider, found, base });
  return openModel({ ...common, keyState, keys: found, baseUrl: address.url });
}

/** How a command makes the key of a provider; null: it has none. */
async function keyByCommand(
  { id }: Provider,
  { settings, context, places, root }: Base,
  learn: (key: string) => void,
): Promise<RenewKey | null> {
  const command = settings.providers.find((each) => each.id === id)?.keyCommand ?? null;
  if (command === null) return null;
  return openKeyCommand(id, command, { env: context.env, home: places.home, root, now: context.now, hold: learn });
}

/** Shares rests with the team, but not of a single key, which never rests. */
async function shareRests(
  own: KeyState,
  { provider, found, base }: { readonly provider: Provider; readonly found: readonly FoundKey[]; readonly base: Base },
): Promise<KeyState> {
  const { storeUrl } = base.settings;
  if (storeUrl === null || found.length < 2) return own;
  const { shareKeyState, readAddress } = await openLab();
  const now = () => base.context.now().getTime();
  return shareKeyState(own, { address: readAddress(storeUrl), pai: version, provider: provider.id, keys: found, now });
}

function requirePrices(ids: readonly string[], base: Base): void {
  const { cost, day } = base.settings.limits;
  const [name] = [...(cost === null ? [] : ["--max-cost"]), ...(day.cost === null ? [] : ["limits.day.cost"])];
  const unknown = name === undefined ? undefined : ids.find((id) => priceOf(id, base, base.context.now()) === null);
  if (unknown === undefined) return;
  const instead = cost === null ? "cap tokens or calls instead" : "use --max-tokens or --max-calls";
  const provider = providerOfModel(unknown, base.settings.providers);
  const ask = provider?.listsPrices === true ? `, ask for it: pai models --online ${provider.id}` : "";
  throw new PaiError("usage", `${name} needs a known price, and ${unknown} has none`, {
    hint: `${instead}${ask}, or say it: pai config set models.${unknown} '{"prices": {"input": USD, "output": USD}}' (per million tokens)`,
  });
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal });
}
