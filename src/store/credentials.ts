/** The credentials file: the keys of each provider, readable by the user alone. */
import { join } from "node:path";
import { PaiError } from "../core/error.ts";
import { type Fields, isFields, type Json } from "../core/model.ts";
import { withLock } from "./file-lock.ts";
import { readPrivate, writePrivate } from "./safe-file.ts";

/** Keys of one provider by id, in order of use. */
export interface KeyRing {
  readonly default: string | null;
  readonly keys: ReadonlyMap<string, string>;
  /** When a key was stored (ISO), by its id. */
  readonly added: ReadonlyMap<string, string>;
}

export const noKeys: KeyRing = { default: null, keys: new Map(), added: new Map() };

/** By provider. */
export type Credentials = ReadonlyMap<string, KeyRing>;

const version = 3;

/** Path of the credentials file, for messages too. */
export const credentialsFile = (configDir: string): string => join(configDir, "credentials.json");

/** Reads all keys. Throws config_invalid for a damaged file or one of another version, which is never overwritten. */
export function loadCredentials(configDir: string): Credentials {
  const file = credentialsFile(configDir);
  const text = readPrivate(file);
  return text === null ? new Map() : parseCredentials(text, file);
}

/** All keys; a damaged or unreadable file holds none. */
export function peekCredentials(configDir: string): Credentials {
  try {
    return loadCredentials(configDir);
  } catch {
    return new Map();
  }
}

/** Changes the credentials under a lock, so that two processes lose no key. Returns what `change` returns. */
export function editCredentials<T>(configDir: string, change: (credentials: Map<string, KeyRing>) => T): T {
  return withLock(credentialsFile(configDir), () => {
    const credentials = new Map(loadCredentials(configDir));
    const result = change(credentials);
    const stored = [...credentials]
      .filter(([, ring]) => ring.keys.size > 0)
      .map(([provider, { default: first, keys, added }]) => [
        provider,
        { default: first, keys: Object.fromEntries(keys), added: Object.fromEntries(added) },
      ]);
    const text = JSON.stringify({ version, providers: Object.fromEntries(stored) }, null, 2);
    writePrivate(credentialsFile(configDir), `${text}\n`);
    return result;
  });
}

function parseCredentials(text: string, file: string): Credentials {
  const damaged = (why: string): PaiError =>
    new PaiError("config_invalid", `${file} ${why}; it is left as it is`, {
      hint: `repair it, or move it away and add the keys again: mv ${file} ${file}.damaged`,
    });
  let json: Json;
  try {
    json = JSON.parse(text);
  } catch {
    throw damaged("is damaged");
  }
  if (!isFields(json) || !isFields(json["providers"])) throw damaged("does not hold credentials");
  if (json["version"] !== version) throw damaged("was written by another version of pai");
  return new Map(
    Object.entries(json["providers"]).map(([provider, ring]) => {
      if (!isFields(ring) || !isFields(ring["keys"])) throw damaged(`has no keys for ${provider}`);
      const keys = textsOf(ring["keys"]);
      if (keys === null) throw damaged(`has a key of ${provider} that is not text`);
      const wanted = ring["default"];
      const first = typeof wanted === "string" && keys.has(wanted) ? wanted : (keys.keys().next().value ?? null);
      return [provider, { default: first, keys, added: textsOf(ring["added"] ?? {}) ?? new Map() }];
    }),
  );
}

/** The texts of an object by name; null: it is none, or something in it is no text. */
function textsOf(json: Json): Map<string, string> | null {
  const entries = Object.entries(isFields(json) ? (json satisfies Fields) : { "": null });
  return entries.every((entry): entry is [string, string] => typeof entry[1] === "string") ? new Map(entries) : null;
}
