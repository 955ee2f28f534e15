/** API keys: finds them in the environment or the credentials file, adds, removes, masks and checks them. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { orNull, PaiError } from "../core/error.ts";
import { findProvider, type Provider, providers } from "../core/providers.ts";
import { readSmall, realPathOf } from "../system/lookups.ts";
import type { BaseUrl } from "./base-url.ts";
import { forgetTurn } from "./key-state.ts";
import type { OwnProvider } from "./own-providers.ts";
import type { Environment, Places } from "./places.ts";
import { openStateFile } from "./state-file.ts";

export interface FoundKey {
  readonly id: string;
  readonly key: string;
  readonly origin: string;
}

interface Sources {
  readonly env: Environment;
  readonly places: Places;
}

type KeyOwner = Pick<Provider, "id" | "keyVariables">;

/**
 * Keys of a provider, the default first. A key from the environment (or from the file that `NAME_FILE` names) replaces
 * all stored ones. Empty: none. Throws config_invalid for an unreadable or damaged file, key_invalid for a key with
 * characters that no key may have.
 */
export function findKeys(provider: KeyOwner, { env, places }: Sources): readonly FoundKey[] {
  const fromEnv = findInEnvironment(provider, env);
  if (fromEnv !== null) return [fromEnv];
  if (places.configDir === null) return [];
  const origin = credentialsFile(places.configDir);
  const ring = loadCredentials(places.configDir).get(provider.id) ?? noKeys;
  return inOrder(ring).map(([id, key]) => ({ id, key, origin }));
}

const maxKeyFile = 4096;

/** The text of a key file, which may be a link (Kubernetes); "" where none can be read. */
function peekKeyFile(file: string): string {
  const real = file === "" ? null : realPathOf(file);
  return (real && readSmall(real, maxKeyFile)) ?? "";
}

/**
 * Every key of every provider, of pai or of the user (`own`), stored, in a variable or in the file that one names, in use
 * or not, and what else their rows hold: pai shows none of them. Never throws.
 */
export function holdKeys({ env, places: { configDir } }: Sources, own: readonly OwnProvider[] = []): readonly string[] {
  const rings = configDir === null ? null : orNull(() => loadCredentials(configDir));
  const given = [...providers, ...own].flatMap(({ keyVariables }) =>
    keyVariables.flatMap((name) => [env[name] ?? "", peekKeyFile(env[`${name}_FILE`]?.trim() ?? "")]),
  );
  const secrets = own.flatMap((row) => row.secrets);
  return [...[...(rings?.values() ?? [])].flatMap(({ keys }) => [...keys.values()]), ...given, ...secrets]
    .map((key) => key.trim())
    .filter(Boolean);
}

export function inOrder(ring: KeyRing): readonly (readonly [string, string])[] {
  const all = [...ring.keys];
  return [...all.filter(([id]) => id === ring.default), ...all.filter(([id]) => id !== ring.default)];
}

function findInEnvironment({ keyVariables }: KeyOwner, env: Environment): FoundKey | null {
  for (const name of keyVariables) {
    const direct = env[name]?.trim() ?? "";
    const file = env[`${name}_FILE`]?.trim() ?? "";
    const origin = direct === "" ? `${name}_FILE` : name;
    const key = direct === "" && file !== "" ? readKeyFile(file, origin) : direct;
    if (key === "") continue;
    const problem = findFault(key);
    if (problem !== null) throw new PaiError("key_invalid", `the key in ${origin} ${problem}`);
    return { id: "env", key, origin };
  }
  return null;
}

function readKeyFile(file: string, variable: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new PaiError("config_invalid", `${variable} names ${file}, which cannot be read`, { cause });
  }
}

interface KeyPlace {
  readonly provider: string;
  readonly places: Places;
}

/** Adds a key or replaces the one of that id, at this time; the first of a provider becomes its default. */
export const putKey = (place: KeyPlace, id: string, key: string, now: Date): { readonly isNew: boolean } =>
  edit(place, (ring) => {
    const [keys, added] = [new Map(ring.keys).set(id, key), new Map(ring.added).set(id, now.toISOString())];
    return [{ default: ring.default ?? id, keys, added }, { isNew: !ring.keys.has(id) }];
  });

/** Removes a key (null: the default one; the next becomes it). Throws no_key if none is stored, usage for no such id. */
export function removeKey(place: KeyPlace, id: string | null) {
  return edit(place, (ring) => {
    const removed = requireId(ring, place.provider, id ?? ring.default);
    const [keys, added] = [new Map(ring.keys), new Map(ring.added)];
    keys.delete(removed);
    added.delete(removed);
    const next = ring.default === removed ? (keys.keys().next().value ?? null) : ring.default;
    return [
      { default: next, keys, added },
      { removed, default: next },
    ];
  });
}

/** Makes calls begin with this key. Throws like removeKey. */
export function setDefaultKey(place: KeyPlace, id: string): void {
  edit(place, (ring) => [{ ...ring, default: requireId(ring, place.provider, id) }, null]);
  forgetTurn(place.places.stateDir, place.provider);
}

function edit<T>({ places, provider }: KeyPlace, change: (ring: KeyRing) => readonly [KeyRing, result: T]): T {
  if (places.configDir === null) {
    throw new PaiError("config_invalid", "no folder to keep keys in", {
      hint: "set HOME or XDG_CONFIG_HOME, or give the key in the environment",
    });
  }
  return openCredentials(places.configDir).editFor((now) => {
    const rings = ringsOf(now);
    const [ring, result] = change(rings.get(provider) ?? noKeys);
    const stored = [...rings.set(provider, ring)].filter(([, { keys }]) => keys.size > 0);
    const written = stored.map(([name, { default: first, keys, added }]) => {
      return [name, { default: first, keys: Object.fromEntries(keys), added: Object.fromEntries(added) }];
    });
    return [{ version: 3, providers: Object.fromEntries(written) }, result];
  });
}

/** Throws no_key for an empty ring, usage for an unknown id. */
function requireId(ring: KeyRing, provider: string, id: string | null): string {
  if (ring.keys.size === 0) {
    throw new PaiError("no_key", `no ${provider} key is stored`, { hint: "pai key set" });
  }
  if (id !== null && ring.keys.has(id)) return id;
  throw new PaiError("usage", `no ${provider} key has that id`, {
    hint: `stored: ${[...ring.keys.keys()].join(", ")}`,
  });
}

/** `***` for less than 12 characters, otherwise the first 6 and the last 4. */
export const maskKey = (key: string): string => (key.length < 12 ? "***" : `${key.slice(0, 6)}...${key.slice(-4)}`);

/** Why the text cannot be a key, to follow "The key"; null: it can. */
export function findFault(key: string): string | null {
  if (key.trim() === "") return "is empty";
  return /^[\x21-\x7e]+$/.test(key) ? null : "contains characters that are not valid in an API key";
}

/**
 * Why a key does not look like those of this provider, to follow "The key"; null: it does, or they have no shape. Only
 * the server can tell: keys take new forms, and a gateway has its own, so `address` other than the provider's own is no
 * reason for a doubt.
 */
export function doubtKey(provider: string, key: string, address: Pick<BaseUrl, "origin">): string | null {
  const shape = findProvider(provider)?.keyShape ?? null;
  if (shape === null || address.origin !== "default") return null;
  const prefix = shape.prefixes.find((each) => key.startsWith(each));
  if (prefix === undefined)
    return `does not look like one of ${provider} (they begin with ${shape.prefixes.join(" or ")})`;
  const rest = key.slice(prefix.length);
  return new RegExp(`^${shape.goesOn}$`).test(rest)
    ? null
    : `is shorter than those of ${provider}, or has other characters`;
}

export const maxIdLength = 24;

/** Why the text cannot be the id of a key; null: it can. */
export function judgeId(id: string): string | null {
  if (id === "env") return "means the key of the environment";
  return id.length <= maxIdLength && /^[A-Za-z0-9][\w.@+-]*$/.test(id)
    ? null
    : `must be letters, digits and . _ @ + - (at most ${maxIdLength})`;
}

export interface KeyRing {
  readonly default: string | null;
  readonly keys: ReadonlyMap<string, string>;
  readonly added: ReadonlyMap<string, string>;
}

export const noKeys: KeyRing = { default: null, keys: new Map(), added: new Map() };

const texts = z.record(z.string(), z.string());
const ring = z.object({ default: z.nullish(z.string()), keys: texts, added: z.catch(texts, {}) });
const shape = z.object({ version: z.literal(3), providers: z.record(z.string(), ring) });

export const credentialsFile = (configDir: string): string => join(configDir, "credentials.json");

/** A damaged file, or one of another version, is never overwritten. */
function openCredentials(configDir: string) {
  const file = credentialsFile(configDir);
  const hint = `repair it, or move it away and add the keys again: mv ${file} ${file}.damaged`;
  return openStateFile(configDir, "credentials.json", shape, { version: 3, providers: {} }, { hint });
}

const ringsOf = ({ providers: all }: z.infer<typeof shape>): Map<string, KeyRing> =>
  new Map(
    Object.entries(all).map(([provider, { default: wanted, keys, added }]) => {
      const first = wanted != null && Object.hasOwn(keys, wanted) ? wanted : (Object.keys(keys)[0] ?? null);
      return [provider, { default: first, keys: new Map(Object.entries(keys)), added: new Map(Object.entries(added)) }];
    }),
  );

/** Throws config_invalid for a damaged file or one of another version. */
export const loadCredentials = (configDir: string): ReadonlyMap<string, KeyRing> =>
  ringsOf(openCredentials(configDir).read());
