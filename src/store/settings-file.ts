/** A file of settings: the value of each setting in it, and unknown names. */
import { PaiError } from "../core/error.ts";
import { isFields, type Json } from "../core/model.ts";
import { type JsonText, parseJsonText } from "./json-text.ts";
import type { Places } from "./places.ts";
import { readPrivate } from "./safe-file.ts";
import type { Setting } from "./setting-kinds.ts";
import { allSettings } from "./setting-table.ts";
import { projectFile, readProjectFile, type Trust, trustOf } from "./trust.ts";

const names: ReadonlySet<string> = new Set(allSettings.map((one) => one.name));

export interface SettingsFile extends JsonText {
  /** Name in messages. */
  readonly file: string;
}

export interface ProjectFile extends SettingsFile {
  readonly trust: Trust;
  /** Text to append to the warning about ignored settings. */
  readonly hint: string;
}

/**
 * The system's or the user's file; null: missing. Throws if it cannot be read or others may write it, rather than
 * ignoring it.
 */
export function openPrivateFile(file: string): SettingsFile | null {
  const text = readPrivate(file);
  return text === null ? null : openFile(text, file);
}

/** A project's pai.json and whether the user trusts it; null: there is none. Throws config_invalid for invalid JSON. */
export function openProjectFile(root: string, places: Places): ProjectFile | null {
  const text = readProjectFile(root);
  if (text === null) return null;
  const trust = trustOf(places, root, text);
  const hint = { trusted: "", untrusted: " (see pai trust)", changed: " (it changed since pai trust)" }[trust];
  return { ...openFile(text, projectFile), trust, hint };
}

function openFile(text: string, file: string): SettingsFile {
  const parsed = parseJsonText(text, file);
  if (!isFields(parsed.value)) throw new PaiError("config_invalid", `${file}, line 1: must hold one { object }`);
  return { ...parsed, file };
}

/** The value of one setting in a file; null: not set. Throws config_invalid with the line for a wrong type. */
export function valueIn<T>(file: SettingsFile, setting: Setting<T>): { readonly value: T } | null {
  const json = jsonOf(file, setting.name);
  if (json === undefined) return null;
  const value = setting.check(json);
  if (value !== null) return { value };
  const { path, wants } = setting.fault?.(json) ?? { path: [], wants: setting.wants };
  throw wrongType(file, [...setting.name.split("."), ...path], wants);
}

/** Whether a setting has parts that are settings, too: `effort` has `effort.plan`. */
const hasParts = (name: string): boolean => [...names].some((known) => known.startsWith(`${name}.`));

/**
 * Where a setting is: nested, or under its full name ("checks.network"). null: there is an object of its parts in its
 * place, in which only the list of `checks` has a name, `commands`.
 */
function pathIn(value: Json, name: string): readonly string[] | null {
  if (!isFields(value)) return name.split(".");
  if (Object.hasOwn(value, name) && name.includes(".")) return [name];
  if (!isFields(value[name]) || !hasParts(name)) return name.split(".");
  return name === "checks" ? ["checks", "commands"] : null;
}

/** The value under a name; undefined: there is none. */
function jsonOf(file: SettingsFile, name: string): Json | undefined {
  const { value } = file;
  const path = pathIn(value, name);
  if (path === null) return undefined;
  let json: Json | undefined = value;
  for (const [n, part] of path.entries()) {
    if (json === undefined) return undefined;
    const above = path.slice(0, n);
    if (!isFields(json) && names.has(above.join("."))) return undefined;
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
export function unknownNames(file: SettingsFile, allowed: (name: string) => boolean): string[] {
  const found: string[] = [];
  const isKnown = (name: string, below: readonly string[]): boolean =>
    name === "$schema" || (names.has(name) ? allowed(name) : below.some(allowed));
  const look = (json: Json, prefix: string): void => {
    if (!isFields(json)) return;
    for (const [key, value] of Object.entries(json)) {
      const name = `${prefix}${key}`;
      const below = [...names].filter((known) => known.startsWith(`${name}.`));
      if (below.length > 0 && isFields(value)) look(value, `${name}.`);
      else if (!isKnown(name === "checks.commands" ? "checks" : name, below)) found.push(name);
    }
  };
  look(file.value, "");
  return found;
}
