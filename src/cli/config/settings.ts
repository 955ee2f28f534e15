/** Subcommands of `pai config` for settings: shows those in force, writes one into config.json. */
import { join } from "node:path";
import { orNull, PaiError } from "../../core/error.ts";
import { isFields, type Json } from "../../core/model.ts";
import { findProvider, type Provider, providerOfKey } from "../../core/providers.ts";
import { didYouMean } from "../../core/suggest.ts";
import { alignRows } from "../../core/text.ts";
import { findBaseUrl, rememberConsent } from "../../store/base-url.ts";
import { parseJsonText, replaceJson } from "../../store/json-text.ts";
import { findKeys } from "../../store/keys.ts";
import type { Places } from "../../store/places.ts";
import { readPrivate, withLock, writePrivate } from "../../store/safe-file.ts";
import { asJson, type Setting } from "../../store/setting-kinds.ts";
import { allSettings } from "../../store/setting-table.ts";
import { loadSettings } from "../../store/settings.ts";
import { findRoot } from "../compose/base.ts";
import { settingsAbout } from "../manual.ts";
import { pickModel } from "../onboard/pick-model.ts";
import type { ConfigAnswer, ConfigCall, ConfigWord } from "./word.ts";

type AnySetting = (typeof allSettings)[number];

export const settingWords: Readonly<Record<string, ConfigWord>> = {
  get: { usage: "NAME", about: "the value in force, and why", words: [1, 1], run: get },
  set: { usage: "NAME VALUE...", about: "write a setting into config.json", words: [0, 100], run: set },
  unset: { usage: "NAME", about: "take a setting out of config.json", words: [1, 1], run: unset },
  list: { usage: "", about: "all settings in force, with their origin", words: [0, 0], run: list },
};

/** Settings in force in this session or here, and the model that the only key chooses where nothing else does. */
function loadHere(call: ConfigCall) {
  const { context, places, warn, now } = call;
  if (now !== null) return { base: now, message: null, problem: null };
  const loaded = loadSettings({ flags: {}, env: context.env, places, root: findRoot(context) });
  loaded.warnings.forEach(warn);
  return pickModel(context, { ...loaded, places });
}

function get(call: ConfigCall): ConfigAnswer {
  const { base, message, problem } = loadHere(call);
  const [name = ""] = call.words;
  const { setting, entry } = demandSetting(name);
  const whole = base.values[setting.name] ?? null;
  const value = entry === null ? whole : isFields(whole) ? (whole[entry] ?? null) : null;
  const origin = base.origins[setting.name] ?? "default";
  const why = name === "model" ? (message ?? problem?.message ?? null) : null;
  call.note(why ?? `${name}: ${origin === "default" ? "the default, as nothing sets it" : `set by ${origin}`}`);
  const address = `address of ${setting.name.replace("baseUrl.", "")}, where it is not the usual one`;
  call.note(`for: ${settingsAbout[setting.name] ?? address}`);
  call.note(`change: ${call.now === null ? "pai config set" : "/config"} ${name} VALUE (${setting.wants})`);
  return { lines: [render(value)], data: { name, value, origin } };
}

function list(call: ConfigCall): ConfigAnswer {
  const { values, origins } = loadHere(call).base;
  const names = Object.keys(values);
  return {
    lines: alignRows(names.map((name) => [name, render(values[name] ?? null) || "-", `(${origins[name]})`])),
    data: Object.fromEntries(names.map((name) => [name, { value: values[name] ?? null, origin: origins[name] }])),
  };
}

/** Warnings that the system's file limits this setting of the user's file. */
function boundIn(places: Places, name: string): readonly string[] {
  // Other errors of the file are reported by every other command.
  const loaded = orNull(() => loadSettings({ flags: {}, env: {}, places, root: null }));
  return loaded?.warnings.filter((text) => text.startsWith(`${name} of `)) ?? [];
}

/** Throws usage for a key, whose place is another, and for a word that misses its value. */
function requireValue(words: readonly string[]): void {
  const [name = "", ...given] = words;
  const keyHint = { hint: "pai key set < FILE" };
  const isKey = (word: string) => providerOfKey(word) !== null;
  if (isKey(name)) throw new PaiError("usage", "that looks like a key, not a setting; nothing was stored", keyHint);
  const holdsKeys = ["providers", "mcpServers"].some((holder) => name.split(".")[0] === holder);
  if (given.some(isKey) && !holdsKeys)
    throw new PaiError("usage", `that looks like a key, not a value of ${name}; nothing was stored`, keyHint);
  if (given.length > 0) return;
  const [, setting = name, value = "VALUE"] = /^([\w.]+)=(.*)$/.exec(name) ?? [];
  if (setting !== "") demandSetting(setting);
  throw new PaiError("usage", "usage: pai config set NAME VALUE", {
    hint: setting === "" ? "a key is stored with: pai key set" : `pai config set ${setting} ${value}`,
  });
}

function set(call: ConfigCall): ConfigAnswer {
  const { places, words, warn } = call;
  requireValue(words);
  const [name = "", ...given] = words;
  const { setting, entry } = demandSetting(name);
  const value = entry === null ? parseValue(setting, given) : parseEntry(setting, entry, given.join(" "));
  const provider = findProvider(/^baseUrl\.(.+)$/.exec(setting.name)?.[1] ?? "");
  const consent = provider === null ? null : prepareConsent(provider, String(value), call);
  const file = writeSetting(places, name, value);
  consent?.();
  for (const text of boundIn(places, setting.name)) warn(text);
  const shown = show(setting, entry, value);
  return { lines: [`${name} = ${render(shown)} in ${file}`], data: { name, value: shown, file } };
}

function show({ shown }: Pick<Setting<Json>, "shown">, entry: string | null, value: Json): Json {
  if (shown === undefined) return value;
  if (entry === null) return shown(value);
  const whole = shown({ [entry]: value });
  return isFields(whole) ? (whole[entry] ?? null) : null;
}

/** Takes out what config.json holds under a name, as one word or nested; also one that pai does not know. */
function unset({ places, words: [name = ""] }: ConfigCall): ConfigAnswer {
  const file = places.configDir === null ? null : join(places.configDir, "config.json");
  const held = file === null ? null : parseJsonText(readPrivate(file) ?? "{}", file).value;
  const [first = "", ...rest] = name.split(".");
  const path = [[name], [first, rest.join(".")], [first, ...rest]].find((each) => valueAt(held, each) !== undefined);
  if (path === undefined) demandSetting(name);
  else editFile(places, (text, edited) => replaceJson(text, edited, path, undefined));
  const line = path === undefined ? `${name} was not set` : `${name} is unset in ${file}`;
  return { lines: [line], data: { name, file, unset: path !== undefined } };
}

const valueAt = (json: Json, path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>((at, part) => (isFields(at) && Object.hasOwn(at, part) ? at[part] : undefined), json);

function parseEntry(setting: AnySetting, entry: string, text: string): Json {
  const value = [asJson(text), text].find((each) => setting.check({ [entry]: each }) !== null);
  if (value === undefined) throw wrong(setting, { [entry]: asJson(text) });
  return value;
}

function wrong({ name, fault }: Pick<Setting<Json>, "name" | "fault">, value: Json): PaiError {
  const { path, wants } = fault(value);
  return new PaiError("usage", `${[name, ...path].join(".")} must be ${wants}`);
}

/** Parses the value as JSON, as one text, or as a list of words: the first that is valid. Throws usage for a wrong one. */
function parseValue(setting: AnySetting, given: readonly string[]): Json {
  const [first = ""] = given;
  const json = asJson(first);
  const one = json === first ? [setting.fromText(first)] : [json, setting.fromText(first)];
  const choices: readonly Json[] = given.length > 1 ? [given] : one;
  const valid = choices.find((choice) => setting.check(choice) !== null);
  if (valid === undefined) throw wrong(setting, choices[0] ?? null);
  return valid;
}

/** Typing an address is consent to send the current keys there. Throws before anything is written. */
function prepareConsent(provider: Provider, url: string, { context: { env }, places }: ConfigCall) {
  const address = findBaseUrl(provider, {}, { url, origin: `baseUrl.${provider.id}` });
  const keys = findKeys(provider, { env, places }).map(({ key }) => key);
  return () => rememberConsent(address, keys, places);
}

/** The setting's path in the file. If a parent is a setting itself (checks.wait), the full name is the key. */
function pathOfSetting(name: string): readonly string[] {
  const { setting, entry } = demandSetting(name);
  if (entry !== null) return [setting.name, entry];
  const parts = name.split(".");
  return allSettings.some((setting) => setting.name === parts[0]) ? [name] : parts;
}

/** Writes one setting into config.json and returns the file. Throws config_invalid without a folder. */
export function writeSetting(places: Places, name: string, value: Json): string {
  const path = pathOfSetting(name);
  const { setting, entry } = demandSetting(name);
  return editFile(places, (text, file) => {
    const whole = entry === null || text === "" ? undefined : valueAt(parseJsonText(text, file).value, [setting.name]);
    // One level of effort stands for both of its entries.
    const both = typeof whole === "string" ? setting.check(whole) : null;
    return replaceJson(isFields(both) ? replaceJson(text, file, [setting.name], both) : text, file, path, value);
  });
}

/** Replaces the text of config.json ("": missing) and returns its path. Throws config_invalid without a folder. */
function editFile(places: Places, edit: (text: string, file: string) => string): string {
  if (places.configDir === null) {
    throw new PaiError("config_invalid", "no folder for settings", { hint: "set HOME or XDG_CONFIG_HOME" });
  }
  const file = join(places.configDir, "config.json");
  withLock(file, () => writePrivate(file, edit(readPrivate(file) ?? "", file)));
  return file;
}

/** A setting, or one entry of it: `models.openai:gpt-6.1-terra`. Throws usage for an unknown name. */
function demandSetting(name: string): { readonly setting: AnySetting; readonly entry: string | null } {
  const found = allSettings.find((setting) => setting.name === name);
  if (found !== undefined) return { setting: found, entry: null };
  const holder = allSettings.find((setting) => "hasEntries" in setting && name.startsWith(`${setting.name}.`));
  const entry = holder === undefined ? "" : name.slice(holder.name.length + 1);
  if (holder !== undefined && entry.trim() !== "") return { setting: holder, entry };
  const names = allSettings.map((setting) => setting.name);
  throw new PaiError("usage", "unknown setting", {
    hint: didYouMean(name, names) ?? "all of them: pai config list, in a session /config",
  });
}

function render(value: Json): string {
  // Of an effort that is one for both.
  if (isFields(value) && "work" in value && value["plan"] === value["work"]) return render(value["work"] ?? null);
  if (value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
