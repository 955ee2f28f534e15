/** Settings from flags, environment, pai.json, the user's and the system's file and defaults, each with its origin. */
import { join } from "node:path";
import { digest } from "../core/digest.ts";
import { PaiError } from "../core/error.ts";
import { isFields, type Json } from "../core/model.ts";
import { byProvider, type ProviderId } from "../core/providers.ts";
import type { SpendCaps } from "../core/spending/allowance.ts";
import { kebabCase } from "../core/text.ts";
import { type JsonText, parseJsonText } from "./json-text.ts";
import { readModelFacts } from "./model-settings.ts";
import { openProviders } from "./own-providers.ts";
import type { Environment, Places } from "./places.ts";
import { readPrivate, readRegular } from "./safe-file.ts";
import type { Setting } from "./setting-kinds.ts";
import { allSettings, baseUrlSettings, settingTable } from "./setting-table.ts";
import { type Trust, trustOf } from "./trust.ts";

/** By row of the table: its value. null: not set. Money in USD, times in seconds. */
type RowValues = {
  readonly [Row in keyof typeof settingTable]:
    | Exclude<ReturnType<(typeof settingTable)[Row]["check"]>, null>
    | (typeof settingTable)[Row]["fallback"];
};

export type Settings = Readonly<ReturnType<typeof groupRows>>;

/** null: the source does not set it. */
type Found<T> = { readonly value: T } | null;

interface Sourced<T> {
  readonly value: T;
  readonly origin: string;
}

export interface LoadedSettings {
  readonly settings: Settings;
  /** "flag", the name of the variable, "pai.json", "config.json", the path of the system's file, or "default". */
  readonly origins: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, Json>>;
  readonly warnings: readonly string[];
  readonly trust: Trust | null;
}

export interface SettingSources {
  /** Parsed flags by their key in the flag table; unknown ones are ignored. */
  readonly flags: Readonly<Record<string, Json | undefined>>;
  readonly env: Environment;
  readonly places: Places;
  readonly root: string | null;
  /** For tests: replaces the path of the system's file, which no user may change. */
  readonly system?: string;
}

/** Settings of the machine's administrator: the weakest source, but it bounds `policy` and `limits`. */
const systemFile = "/etc/pai-code/config.json";

/** Throws config_invalid with file and line for invalid content, usage for an invalid flag. Writes nothing. */
export function loadSettings({ flags, env, places, root, system = systemFile }: SettingSources): LoadedSettings {
  const warnings: string[] = [];
  const origins: Record<string, string> = {};
  const values: Record<string, Json> = {};
  const machine = openPrivateFile(system);
  const user = places.configDir === null ? null : openPrivateFile(join(places.configDir, "config.json"));
  const project = root === null ? null : openProjectFile(root, places);
  for (const file of [machine, user]) {
    if (file === null) continue;
    for (const name of unknownNames(file, () => true)) warnings.push(`${file.file}: unknown setting ${name}, ignored`);
  }
  const mayHold = (name: string) => {
    const { userOnly = false, narrow } = byName.get(name) ?? {};
    return project?.trust === "trusted" ? !userOnly : narrow !== undefined;
  };
  const ignored = project === null ? [] : unknownNames(project, mayHold);

  const fromProject = <T>(project: ProjectFile, setting: Setting<T>, current: T): Found<T> => {
    if (setting.userOnly === true) return null;
    if (project.trust !== "trusted" && setting.narrow === undefined) return null;
    const wanted = valueIn(project, setting);
    if (wanted === null || project.trust === "trusted") return wanted;
    const value = setting.narrow?.(current, wanted.value) ?? current;
    if (!same(value, wanted.value) && same(value, current)) ignored.push(`${setting.name} (may only be narrowed)`);
    return same(value, current) ? null : { value };
  };
  const fromTyped = <T>(setting: Setting<T>, name: string, given: Json): Found<T> => {
    const value = setting.check(typeof given === "string" ? setting.fromText(given) : given);
    if (value !== null) return { value };
    throw new PaiError(name === setting.env ? "config_invalid" : "usage", `${name} must be ${setting.wants}`);
  };

  /** The value after one more source, within the bound of the system's file. `found` null: the source does not set it. */
  const take = <T>(setting: Setting<T>, now: Sourced<T>, found: Found<T>, origin: string): Sourced<T> => {
    if (found === null) return now;
    const bound = machine === null ? null : valueIn(machine, setting);
    const value = bound === null ? found.value : (setting.bind?.(bound.value, found.value) ?? found.value);
    if (losesBy(value, found.value)) warnings.push(`${setting.name} of ${origin} is bound by ${system}`);
    return same(value, now.value) && !same(value, found.value) ? now : { value, origin };
  };

  /** Tries the sources from weakest to strongest; the last one that sets the value wins. */
  const resolve = <T>(setting: Setting<T>): T => {
    const { name, env: variable = "", flag } = setting;
    let now: Sourced<T> = { value: setting.fallback, origin: "default" };
    if (machine !== null) now = take(setting, now, valueIn(machine, setting), system);
    if (user !== null) now = take(setting, now, valueIn(user, setting), "config.json");
    if (project !== null) now = take(setting, now, fromProject(project, setting, now.value), projectFile);
    const text = (variable && env[variable]) ?? "";
    if (text.trim() !== "") now = take(setting, now, fromTyped(setting, variable, text), variable);
    const given = (flag && flags[flag]) ?? false;
    if (given !== false) now = take(setting, now, fromTyped(setting, `--${kebabCase(`${flag}`)}`, given), "flag");
    origins[name] = now.origin;
    values[name] = setting.shown?.(now.value as Json) ?? (now.value as Json);
    return now.value;
  };

  const settings = resolveAll(resolve, env);
  if (origins[settingTable.mode.name] === projectFile)
    warnings.push(`${projectFile} sets the mode of this project: ${settings.mode} (--mode overrides it)`);
  if (ignored.length > 0) warnings.push(`${projectFile}: ignored ${ignored.join(", ")}${project?.hint ?? ""}`);
  return { settings, origins, values, warnings, trust: project?.trust ?? null };
}

function resolveAll(resolve: <T>(setting: Setting<T>) => T, env: Environment): Settings {
  const rows = Object.entries(settingTable).map(([row, setting]) => [row, resolve(setting as Setting<unknown>)]);
  return groupRows(
    Object.fromEntries(rows) as RowValues,
    byProvider(({ id }) => resolve(baseUrlSettings[id])),
    env,
  );
}

/** `baseUrl`: from config.json only; for variables see base-url.ts. */
function groupRows(rows: RowValues, baseUrl: Readonly<Record<ProviderId, string | null>>, env: Environment) {
  const {
    calls,
    tokens,
    cost,
    timeout,
    silence,
    guardLines,
    allow,
    deny,
    dayCalls,
    dayTokens,
    dayCost,
    commandEnv,
    commandWritable,
    commandTimeout,
    models,
    providers,
    ...others
  } = rows;
  const day: SpendCaps = { calls: dayCalls, tokens: dayTokens, cost: dayCost };
  return {
    ...others,
    baseUrl,
    models: readModelFacts(models),
    providers: openProviders(providers, env),
    limits: { calls, tokens, cost, day, timeout, silence },
    guard: { lines: guardLines },
    policy: { allow, deny },
    commands: { env: commandEnv, writable: commandWritable, timeout: commandTimeout },
  } as const;
}

/** Whether `held` lacks anything of `wanted`; additions to a list take nothing away. A project may list any number. */
function losesBy(held: unknown, wanted: unknown): boolean {
  if (!Array.isArray(held) || !Array.isArray(wanted)) return !same(held, wanted);
  const kept = new Set<unknown>(held);
  return wanted.some((one) => !kept.has(one));
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const byName = new Map(allSettings.map((one) => [one.name, one as Setting<unknown>]));

interface SettingsFile extends JsonText {
  readonly file: string;
}

type ProjectFile = NonNullable<ReturnType<typeof openProjectFile>>;

/** The system's or the user's file; null: missing. Throws if it cannot be read, or others may write it. */
function openPrivateFile(file: string): SettingsFile | null {
  const text = readPrivate(file);
  return text === null ? null : openFile(text, file);
}

export const projectFile = "pai.json";

/** Text of the project's pai.json; null: there is none. A link counts as none. */
export const readProjectFile = (root: string): string | null => readRegular(join(root, projectFile), { follow: false });

/** A project's pai.json and whether the user trusts it; null: there is none. Throws config_invalid for invalid JSON. */
function openProjectFile(root: string, places: Places) {
  const text = readProjectFile(root);
  if (text === null) return null;
  const trust = trustOf(places, "roots", root, digest(text));
  const [untrusted, changed] = [" (see pai trust)", " (it changed since pai trust)"];
  const damaged = " (trust.json, which says what you trust, is damaged: see pai trust)";
  const hint = { trusted: "", untrusted, changed, damaged }[trust];
  return { ...openFile(text, projectFile), trust, hint };
}

function openFile(text: string, file: string): SettingsFile {
  const parsed = parseJsonText(text, file);
  if (!isFields(parsed.value)) throw new PaiError("config_invalid", `${file}, line 1: must hold one { object }`);
  return { ...parsed, file };
}

/** null: not set. Throws config_invalid with the line for a wrong type. */
function valueIn<T>(file: SettingsFile, setting: Setting<T>): { readonly value: T } | null {
  const json = jsonOf(file, setting.name);
  if (json === undefined) return null;
  const value = setting.check(json);
  if (value !== null) return { value };
  const { path, wants } = setting.fault(json);
  throw wrongType(file, [...setting.name.split("."), ...path], wants);
}

/** Whether a setting has parts that are settings, too: `checks` has `checks.sandbox`. */
const hasParts = (name: string): boolean => byName.keys().some((known) => known.startsWith(`${name}.`));

/**
 * Where a setting is: nested, or under its full name ("checks.sandbox"). null: there is an object of its parts in its
 * place, in which only the list of `checks` has a name, `commands`.
 */
function pathIn(value: Json, name: string): readonly string[] | null {
  if (!isFields(value)) return name.split(".");
  if (Object.hasOwn(value, name) && name.includes(".")) return [name];
  if (!isFields(value[name]) || !hasParts(name)) return name.split(".");
  return name === "checks" ? ["checks", "commands"] : null;
}

function jsonOf(file: SettingsFile, name: string): Json | undefined {
  const { value } = file;
  const path = pathIn(value, name);
  if (path === null) return undefined;
  let json: Json | undefined = value;
  for (const [n, part] of path.entries()) {
    if (json === undefined) return undefined;
    const above = path.slice(0, n);
    if (!isFields(json) && byName.has(above.join("."))) return undefined;
    if (!isFields(json)) throw wrongType(file, above, "an object");
    json = Object.hasOwn(json, part) ? json[part] : undefined;
  }
  return json;
}

function wrongType(file: SettingsFile, path: readonly string[], wants: string): PaiError {
  const line = file.lineOf(path);
  return new PaiError("config_invalid", `${file.file}, line ${line}: ${path.join(".")} must be ${wants}`);
}

/** Names in the file that are no settings, or are not `allowed` there. */
function unknownNames(file: SettingsFile, allowed: (name: string) => boolean): string[] {
  const found: string[] = [];
  const isKnown = (name: string, below: readonly string[]): boolean =>
    name === "$schema" || (byName.has(name) ? allowed(name) : below.some(allowed));
  const look = (json: Json, prefix: string): void => {
    if (!isFields(json)) return;
    for (const [key, value] of Object.entries(json)) {
      const name = `${prefix}${key}`;
      const below = [...byName.keys()].filter((known) => known.startsWith(`${name}.`));
      if (below.length > 0 && isFields(value)) look(value, `${name}.`);
      else if (!isKnown(name === "checks.commands" ? "checks" : name, below)) found.push(name);
    }
  };
  look(file.value, "");
  return found;
}
