/** The credentials file, version 3; merges the files of older versions into it without losing a key. */
import { join } from "node:path";
import { PaiError } from "../core/error.ts";
import { type Fields, isFields, type Json } from "../core/model.ts";
import { createFile } from "../system/write-file.ts";
import { withLock } from "./file-lock.ts";
import { errnoOf, readPrivate, removeIfThere, writePrivate } from "./safe-file.ts";

/** Keys of one provider by id, in order of use. */
export interface KeyRing {
  readonly default: string | null;
  readonly keys: ReadonlyMap<string, string>;
}

/** By provider. */
export type Credentials = ReadonlyMap<string, KeyRing>;

interface Found {
  readonly credentials: Credentials;
  /** Files of older versions with their text. */
  readonly old: readonly { readonly file: string; readonly text: string }[];
}

const version = 3;

/** Path of the credentials file, for messages too. */
export const credentialsFile = (configDir: string): string => join(configDir, "credentials.json");

/**
 * Reads all keys. Files of older versions are converted to version 3 once, with the originals kept as `.bak`; in a
 * folder that cannot be written they are used unchanged. Throws config_invalid for a damaged file, which is never
 * overwritten.
 */
export function loadCredentials(configDir: string, warn: (text: string) => void): Credentials {
  const found = findCredentials(configDir);
  if (found.old.length === 0) return found.credentials;
  try {
    return withLock(credentialsFile(configDir), () => migrate(configDir, warn));
  } catch (error) {
    if (error instanceof PaiError && error.code === "config_invalid") throw error;
    warn(`keys of an older version are used as they are: ${configDir} cannot be written`);
    return found.credentials;
  }
}

/** All keys as they are, without moving those of older versions; a damaged or unreadable file holds none. */
export function peekCredentials(configDir: string): Credentials {
  try {
    return findCredentials(configDir).credentials;
  } catch {
    return new Map();
  }
}

/** Changes the credentials under a lock, so that two processes lose no key. Returns what `change` returns. */
export function editCredentials<T>(
  configDir: string,
  warn: (text: string) => void,
  change: (credentials: Map<string, KeyRing>) => T,
): T {
  return withLock(credentialsFile(configDir), () => {
    const credentials = new Map(migrate(configDir, warn));
    const result = change(credentials);
    write(configDir, credentials);
    return result;
  });
}

/** Copies the originals, writes the new file, then removes the old ones, so that a crash in between loses nothing. */
function migrate(configDir: string, warn: (text: string) => void): Credentials {
  const { credentials, old } = findCredentials(configDir);
  if (old.length === 0) return credentials;
  const kept = old.map(({ file, text }) => keepOld(file, text));
  write(configDir, credentials);
  for (const { file } of old) if (file !== credentialsFile(configDir)) removeIfThere(file);
  const count = [...credentials.values()].reduce((sum, ring) => sum + ring.keys.size, 0);
  const moved = count === 1 ? "the key" : `all ${count} keys`;
  warn(`moved ${moved} of an older version into ${credentialsFile(configDir)}; kept as before: ${kept.join(", ")}`);
  return credentials;
}

function keepOld(file: string, text: string): string {
  for (let number = 1; ; number += 1) {
    const backup = number === 1 ? `${file}.bak` : `${file}.${number}.bak`;
    try {
      createFile(backup, text, { mode: 0o600, lasting: false });
      return backup;
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
      if (number < 100 && readPrivate(backup) === text) return backup;
    }
  }
}

function write(configDir: string, credentials: Credentials): void {
  const providers = [...credentials]
    .filter(([, ring]) => ring.keys.size > 0)
    .map(([provider, ring]) => [provider, { default: ring.default, keys: Object.fromEntries(ring.keys) }]);
  const text = JSON.stringify({ version, providers: Object.fromEntries(providers) }, null, 2);
  writePrivate(credentialsFile(configDir), `${text}\n`);
}

/** All credentials files, current version first, so that its ids and default win. */
function findCredentials(configDir: string): Found {
  const credentials = new Map<string, KeyRing>();
  const old: { file: string; text: string }[] = [];
  for (const file of [credentialsFile(configDir), join(configDir, "credentials")]) {
    const text = readPrivate(file);
    if (text === null) continue;
    const parsed = parseCredentials(text, file);
    for (const [provider, ring] of parsed.credentials) {
      credentials.set(provider, mergeRings(credentials.get(provider), ring));
    }
    if (parsed.version !== version || file !== credentialsFile(configDir)) old.push({ file, text });
  }
  return { credentials, old };
}

/** Merges two rings. A key that both have is added once; a different key with the same id gets a new id. */
function mergeRings(first: KeyRing | undefined, second: KeyRing): KeyRing {
  const keys = new Map(first?.keys);
  for (const [id, key] of second.keys) {
    if ([...keys.values()].includes(key)) continue;
    let free = id;
    for (let number = 2; keys.has(free); number += 1) free = `${id}-${number}`;
    keys.set(free, key);
  }
  return { default: first?.default ?? second.default ?? keys.keys().next().value ?? null, keys };
}

const textIn = (fields: Fields, name: string): string | null => {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
};

interface Parsed {
  readonly version: number;
  readonly credentials: Credentials;
}

/** Parses any version. The oldest file had no extension and contained only the key. */
function parseCredentials(text: string, file: string): Parsed {
  const damaged = (why: string): PaiError =>
    new PaiError("config_invalid", `${file} ${why}; it is left as it is`, {
      hint: `repair it, or move it away and add the keys again: mv ${file} ${file}.damaged`,
    });
  if (!file.endsWith(".json") && /^\s*[\w.-]{20,}\s*$/.test(text))
    return older(ringOf(null, [["primary", text.trim()]]));
  let json: Json;
  try {
    json = JSON.parse(text);
  } catch {
    throw damaged("is damaged");
  }
  if (Array.isArray(json)) return older(ringOf(null, listed(json)));
  if (!isFields(json)) throw damaged("does not hold credentials");
  if (isFields(json["providers"])) {
    if (json["version"] !== version) throw damaged("was written by a newer version of pai");
    return { version, credentials: parseProviders(json["providers"], damaged) };
  }
  const ring = parseOlder(json);
  if (ring === null) throw damaged("does not hold credentials");
  return older(ring);
}

function older(ring: KeyRing): Parsed {
  return { version: 0, credentials: new Map(ring.keys.size === 0 ? [] : [["gemini", ring]]) };
}

function parseProviders(providers: Fields, damaged: (why: string) => PaiError): Credentials {
  return new Map(
    Object.entries(providers).map(([provider, ring]) => {
      if (!isFields(ring) || !isFields(ring["keys"])) throw damaged(`has no keys for ${provider}`);
      const keys = Object.entries(ring["keys"]);
      if (!keys.every((entry): entry is [string, string] => typeof entry[1] === "string")) {
        throw damaged(`has a key of ${provider} that is not text`);
      }
      return [provider, ringOf(textIn(ring, "default"), keys)];
    }),
  );
}

/**
 * Version 1 (`keys`, `default`, `order`), version 2 (`api_key`), or the list of a version in between; null: none of
 * them.
 */
function parseOlder(json: Fields): KeyRing | null {
  if (Object.hasOwn(json, "api_key")) {
    const key = textIn(json, "api_key");
    return ringOf(null, key === null ? [] : [["primary", key]]);
  }
  const keys = json["keys"];
  if (Array.isArray(keys)) return ringOf(textIn(json, "default"), listed(keys));
  if (!isFields(keys)) return null;
  const order = Array.isArray(json["order"]) ? json["order"].filter((id) => typeof id === "string") : [];
  const ids = [...new Set([...order, ...Object.keys(keys)])];
  const entries = ids.flatMap((id): [string, string][] => {
    const key = textIn(keys, id);
    return key === null ? [] : [[id, key]];
  });
  return ringOf(textIn(json, "default"), entries);
}

function listed(keys: readonly Json[]): [string, string][] {
  return keys.flatMap((item, index): [string, string][] => {
    const fallback = index === 0 ? "primary" : `key-${index + 1}`;
    if (typeof item === "string") return item.trim() === "" ? [] : [[fallback, item.trim()]];
    if (!isFields(item)) return [];
    const key = textIn(item, "key") ?? textIn(item, "api_key") ?? textIn(item, "value");
    const id = textIn(item, "label")?.replace(/\s+/g, "-") ?? fallback;
    return key === null ? [] : [[id, key]];
  });
}

function ringOf(wanted: string | null, entries: readonly (readonly [string, string])[]): KeyRing {
  const merged = entries.reduce<KeyRing>(
    (ring, [id, key]) => mergeRings(ring, { default: null, keys: new Map([[id, key]]) }),
    { default: null, keys: new Map() },
  );
  const isKnown = wanted !== null && merged.keys.has(wanted);
  return { default: isKnown ? wanted : (merged.keys.keys().next().value ?? null), keys: merged.keys };
}
