/** Settings from flags, environment, pai.json, the user's and the system's file and defaults, each with its origin. */
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

/** null: not set. Money in USD, times in seconds. */
export interface Settings {
  /** `provider:name`, or a bare name. */
  readonly model: string;
  readonly temperature: number;
  readonly mode: Mode;
  /** From config.json only; for variables see base-url.ts. */
  readonly baseUrl: Readonly<Record<ProviderId, string | null>>;
  readonly limits: {
    readonly calls: number | null;
    readonly tokens: number | null;
    readonly cost: number | null;
    readonly day: DayCaps;
    readonly timeout: number | null;
    /**
     * Seconds without data after which a connection counts as dead; null: as in the provider's row of
     * core/providers.ts.
     */
    readonly silence: number | null;
  };
  /** Actions per phase or step. */
  readonly actions: number;
  readonly guard: { readonly lines: number; readonly ratio: number; readonly strict: boolean };
  readonly policy: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly checks: readonly string[];
  /** The weakest sandbox that commands may run in. */
  readonly sandbox: SandboxChoice;
  /** Whether the user's own checks may use the network. */
  readonly checkNetwork: boolean;
  /** Whether the final checks run on a copy too, so that nothing they create remains. */
  readonly checkThrowaway: boolean;
  /** Seconds that the first request waits for the checks. */
  readonly checkWait: number;
  /** Number of runs kept for each project: for undo, receipts and logs. */
  readonly keep: number;
  readonly commands: {
    readonly env: readonly string[];
    readonly writable: readonly string[];
    readonly timeout: number;
  };
  readonly prices: Readonly<Record<string, Rate>>;
  readonly mcpServers: readonly McpServer[];
  /** URL of a team's database; only the user's own settings may set it. */
  readonly storeUrl: string | null;
  /** Grants nothing beyond the plan. */
  readonly strict: boolean;
  /** Learns facts from runs. */
  readonly memory: boolean;
  /** Program with arguments, or just `bell`; null: no notification of the end of a long run. */
  readonly notify: readonly string[] | null;
  readonly plain: boolean;
  readonly forceRoot: boolean;
  /** Folder of the audit log, relative to the root. */
  readonly historyDir: string;
  readonly debug: boolean;
}

/** "flag", the name of the variable, "pai.json", "config.json", the path of the system's file, or "default". */
export type Origin = string;

export interface LoadedSettings {
  readonly settings: Settings;
  /** By name of the setting, in table order. */
  readonly origins: Readonly<Record<string, Origin>>;
  /** By name of the setting. */
  readonly values: Readonly<Record<string, Json>>;
  readonly warnings: readonly string[];
  /** Trust in the project's pai.json; null: there is none. */
  readonly trust: Trust | null;
}

export interface SettingSources {
  /** Parsed flags by their key in the flag table; unknown ones are ignored. */
  readonly flags: Readonly<Record<string, Json | undefined>>;
  readonly env: Environment;
  readonly places: Places;
  /** Real path of the project; null: none. */
  readonly root: string | null;
  /** For tests: replaces the path of the system's file, which no user may change. */
  readonly system?: string;
}

/** Settings of the machine's administrator: the weakest source, but it bounds `policy` and `limits`. */
const systemFile = "/etc/pai-code/config.json";

/** Throws config_invalid with file and line for invalid content, usage for an invalid flag. Writes nothing. */
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

  /** Tries the sources from weakest to strongest; the last one that sets the value wins. */
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

/** Whether `held` lacks anything of `wanted`; additions to a list take nothing away. A project may list any number. */
function losesBy(held: unknown, wanted: unknown): boolean {
  if (!Array.isArray(held) || !Array.isArray(wanted)) return !same(held, wanted);
  const kept = new Set<unknown>(held);
  return wanted.some((one) => !kept.has(one));
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
