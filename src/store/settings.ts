/** Settings from flags, environment, pai.json, the user's file, the system's and defaults, each with where it came from. */
import { join } from "node:path";
import type { SandboxChoice } from "../core/command/sandbox.ts";
import { PaiError } from "../core/error.ts";
import type { Json } from "../core/model.ts";
import { byProvider, type ProviderId } from "../core/providers.ts";
import type { DayCaps } from "../core/spending/allowance.ts";
import type { Rate } from "../core/spending/cost.ts";
import { kebabCase } from "../core/text.ts";
import type { McpServer } from "./mcp-servers.ts";
import type { Environment, Places } from "./places.ts";
import type { Setting } from "./setting-kinds.ts";
import { allSettings, baseUrlSettings, type Mode, settingTable } from "./setting-table.ts";
import { openPrivateFile, openProjectFile, unknownNames, valueIn } from "./settings-file.ts";
import { projectFile, type Trust } from "./trust.ts";

/** Absent is null. Money in USD, times in seconds. */
export interface Settings {
  /** `provider:name`, or a bare name, as written. */
  readonly model: string;
  readonly temperature: number;
  readonly mode: Mode;
  /** From config.json only; variables: see base-url.ts. */
  readonly baseUrl: Readonly<Record<ProviderId, string | null>>;
  readonly limits: {
    readonly calls: number | null;
    readonly tokens: number | null;
    readonly cost: number | null;
    readonly day: DayCaps;
    readonly timeout: number | null;
    /**
     * Seconds of silence after which a connection counts as dead; null: as the provider's row in core/providers.ts
     * says.
     */
    readonly silence: number | null;
  };
  /** Actions per phase or step. */
  readonly actions: number;
  readonly guard: { readonly lines: number; readonly ratio: number; readonly strict: boolean };
  readonly policy: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly checks: readonly string[];
  /** The least sandbox that commands must run in. */
  readonly sandbox: SandboxChoice;
  /** Whether checks that the user typed may use the network. */
  readonly checkNetwork: boolean;
  /** Whether these checks work on a copy at the end too, so that nothing they make stays. */
  readonly checkThrowaway: boolean;
  /** Seconds that the first request waits for them. */
  readonly checkWait: number;
  /** How many runs of a project are kept, for undo and in receipts and logs. */
  readonly keep: number;
  readonly commands: {
    readonly env: readonly string[];
    readonly writable: readonly string[];
    readonly timeout: number;
  };
  readonly prices: Readonly<Record<string, Rate>>;
  readonly mcpServers: readonly McpServer[];
  /** The database of a team, of the user's own settings only. */
  readonly storeUrl: string | null;
  /** Grant nothing beyond the plan. */
  readonly strict: boolean;
  /** Facts are learned from runs. */
  readonly memory: boolean;
  /** Program and words, or the one word `bell`; null: nobody is told of the end of a long run. */
  readonly notify: readonly string[] | null;
  readonly plain: boolean;
  readonly forceRoot: boolean;
  /** Folder of the audit log; relative to the root. */
  readonly historyDir: string;
  readonly debug: boolean;
}

/** "flag", the variable's name, "pai.json", "config.json", the path of the system's file, or "default". */
export type Origin = string;

export interface LoadedSettings {
  readonly settings: Settings;
  /** By setting name, in the order of the table. */
  readonly origins: Readonly<Record<string, Origin>>;
  /** By setting name. */
  readonly values: Readonly<Record<string, Json>>;
  readonly warnings: readonly string[];
  /** What the user thinks of the project's pai.json; null: there is none. */
  readonly trust: Trust | null;
}

export interface SettingSources {
  /** Parsed flags by their key in the flag table; others are ignored. */
  readonly flags: Readonly<Record<string, Json | undefined>>;
  readonly env: Environment;
  readonly places: Places;
  /** Real path of the project; null: without one. */
  readonly root: string | null;
  /** For tests: nothing that a user may set names another one. */
  readonly system?: string;
}

/** The settings of this machine's administrator: the weakest source, and the bound of `policy` and `limits`. */
const systemFile = "/etc/pai-code/config.json";

/** Throws config_invalid with file and line for what is broken or of the wrong type, usage for a flag. Writes nothing. */
export function loadSettings({ flags, env, places, root, system = systemFile }: SettingSources): LoadedSettings {
  const warnings: string[] = [];
  const origins: Record<string, Origin> = {};
  const values: Record<string, Json> = {};
  const machine = openPrivateFile(system);
  const user = places.configDir === null ? null : openPrivateFile(join(places.configDir, "config.json"));
  const project = root === null ? null : openProjectFile(root, places);
  for (const file of [machine, user]) {
    if (file === null) continue;
    for (const name of unknownNames(file, () => true)) warnings.push(`${file.file}: unknown setting ${name}, ignored`);
  }
  const mayHold = (name: string) => (project?.trust === "trusted" ? !isUserOnly(name) : narrows(name));
  const ignored = project === null ? [] : unknownNames(project, mayHold);

  const fromProject = <T>(setting: Setting<T>, current: T): { readonly value: T } | null => {
    if (project === null || setting.userOnly === true) return null;
    if (project.trust !== "trusted" && setting.narrow === undefined) return null;
    const wanted = valueIn(project, setting);
    if (wanted === null || project.trust === "trusted") return wanted;
    const value = setting.narrow?.(current, wanted.value) ?? current;
    if (!same(value, wanted.value) && same(value, current)) ignored.push(`${setting.name} (may only be narrowed)`);
    return same(value, current) ? null : { value };
  };
  const fromVariable = <T>(setting: Setting<T>): { readonly value: T } | null => {
    const text = setting.env === undefined ? undefined : env[setting.env];
    if (text === undefined || text.trim() === "") return null;
    const json = setting.fromText(text);
    const value = setting.check(json);
    const message = `${setting.env} must be ${setting.wants}`;
    if (value !== null && setting.fitsFlag?.(json) === false) warnings.push(`${message}; ${String(value)} is used`);
    if (value !== null) return { value };
    if (setting.lenient !== true) throw new PaiError("config_invalid", message);
    warnings.push(`${message}; ignored`);
    return null;
  };
  const fromFlag = <T>(setting: Setting<T>): { readonly value: T } | null => {
    const given = setting.flag === undefined ? undefined : flags[setting.flag];
    if (given === undefined || given === false) return null;
    const json = typeof given === "string" ? setting.fromText(given) : given;
    const value = setting.check(json);
    const message = `--${kebabCase(setting.flag ?? "")} must be ${setting.wants}`;
    if (setting.fitsFlag?.(json) === false) throw new PaiError("usage", message);
    if (value !== null) return { value };
    if (setting.lenient !== true) throw new PaiError("usage", message);
    warnings.push(`${message}; ignored`);
    return null;
  };

  /** From the weakest source to the strongest: the last one that speaks wins. */
  const resolve = <T>(setting: Setting<T>): T => {
    let value = setting.fallback;
    let origin: Origin = "default";
    const most = machine === null ? null : valueIn(machine, setting);
    if (most !== null) [value, origin] = [most.value, system];
    const take = (found: { readonly value: T } | null, from: Origin): void => {
      if (found === null) return;
      const held = most === null ? found.value : (setting.bind?.(most.value, found.value) ?? found.value);
      if (losesBy(held, found.value)) warnings.push(`${setting.name} of ${from} is bound by ${system}`);
      if (!same(held, value) || same(held, found.value)) [value, origin] = [held, from];
    };
    take(user === null ? null : valueIn(user, setting), "config.json");
    take(fromProject(setting, value), projectFile);
    take(fromVariable(setting), setting.env ?? "");
    take(fromFlag(setting), "flag");
    origins[setting.name] = origin;
    values[setting.name] = setting.shown?.(value as Json) ?? (value as Json);
    return value;
  };

  const settings = resolveAll(resolve);
  if (origins[settingTable.mode.name] === projectFile)
    warnings.push(`${projectFile} sets the mode of this project: ${settings.mode} (--mode overrides it)`);
  if (ignored.length > 0) warnings.push(`${projectFile}: ignored ${ignored.join(", ")}${project?.hint ?? ""}`);
  return { settings, origins, values, warnings, trust: project?.trust ?? null };
}

function resolveAll(resolve: <T>(setting: Setting<T>) => T): Settings {
  const table = settingTable;
  return {
    model: resolve(table.model),
    temperature: resolve(table.temperature),
    mode: resolve(table.mode),
    baseUrl: byProvider(({ id }) => resolve(baseUrlSettings[id])),
    limits: {
      calls: resolve(table.calls),
      tokens: resolve(table.tokens),
      cost: resolve(table.cost),
      day: {
        user: { calls: resolve(table.dayCalls), tokens: resolve(table.dayTokens), cost: resolve(table.dayCost) },
        team: { calls: resolve(table.teamCalls), tokens: resolve(table.teamTokens), cost: resolve(table.teamCost) },
        strict: resolve<boolean>(table.limitsStrict),
      },
      timeout: resolve<number | null>(table.timeout),
      silence: resolve<number | null>(table.silence),
    },
    actions: resolve(table.actions),
    guard: {
      lines: resolve(table.guardLines),
      ratio: resolve(table.guardRatio),
      strict: resolve<boolean>(table.guardStrict),
    },
    policy: { allow: resolve(table.allow), deny: resolve<readonly string[]>(table.deny) },
    checks: resolve(table.checks),
    sandbox: resolve(table.sandbox),
    checkNetwork: resolve<boolean>(table.checkNetwork),
    checkThrowaway: resolve<boolean>(table.checkThrowaway),
    checkWait: resolve(table.checkWait),
    keep: resolve(table.keep),
    commands: {
      env: resolve(table.commandEnv),
      writable: resolve(table.commandWritable),
      timeout: resolve<number>(table.commandTimeout),
    },
    prices: resolve(table.prices),
    mcpServers: resolve(table.mcpServers),
    storeUrl: resolve(table.storeUrl),
    strict: resolve(table.strict),
    memory: resolve<boolean>(table.memory),
    notify: resolve(table.notify),
    plain: resolve(table.plain),
    forceRoot: resolve(table.forceRoot),
    historyDir: resolve<string>(table.historyDir),
    debug: resolve<boolean>(table.debug),
  };
}

function narrows(name: string): boolean {
  return allSettings.some((setting) => setting.name === name && "narrow" in setting);
}

const isUserOnly = (name: string) => allSettings.some((setting) => setting.name === name && "userOnly" in setting);

/** Whether anything of `wanted` was taken away; what was added to a list takes nothing. */
const losesBy = (held: unknown, wanted: unknown): boolean =>
  Array.isArray(held) && Array.isArray(wanted) ? wanted.some((one) => !held.includes(one)) : !same(held, wanted);

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
