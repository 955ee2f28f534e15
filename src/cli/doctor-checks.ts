/** The checks of `pai doctor`: each is one line with a verdict, and none shows a key. */
import { constants, existsSync, statfsSync, statSync } from "node:fs";
import { spellForShell } from "../core/command/quote.ts";
import { PaiError } from "../core/error.ts";
import { isFields, type Json } from "../core/model.ts";
import { renderSetKey } from "../core/providers.ts";
import { providerOfModel } from "../models/open.ts";
import { probeModel } from "../models/probe.ts";
import { withoutUser } from "../models/wire/endpoint.ts";
import { configuredAddress, findBaseUrl } from "../store/base-url.ts";
import { credentialsFile, findKeys, loadCredentials } from "../store/keys.ts";
import { openMemory } from "../store/memory.ts";
import { allSettings } from "../store/setting-table.ts";
import { type LoadedSettings, loadSettings } from "../store/settings.ts";
import { mayUse, nearestThere, realPathOf } from "../system/lookups.ts";
import { stateFolderOf, whyNotKept } from "../workspace/journal/journal.ts";
import { systemCalls } from "../workspace/system/system-calls.ts";
import type { Context } from "./command.ts";
import { target, version } from "./commands/version.ts";
import { listModels } from "./compose/compose-model.ts";
import { type Finding, failed, fine, type Patient, warning } from "./finding.ts";
import { pickModel } from "./onboard/pick-model.ts";

export function examine(patient: Patient, loaded: LoadedSettings): readonly Finding[] {
  const keys = listModels(loaded.settings.model).map((model) => examineKeys(patient, loaded, model));
  return [
    fine("pai", `${version} for ${target}, Bun ${Bun.version}, ${process.execPath}`),
    fine("libc", describeLibc()),
    ...examineSettings(patient, loaded),
    ...keys,
    ...examineCredentials(patient).filter(({ text }) => keys.every((key) => key.text !== text)),
    ...examineNetworkSettings(patient.context.env),
    ...examineFolders(patient),
    ...examineMemory(patient),
    examineGit(patient.context.env),
    examineWriting(),
  ];
}

export function loadAll({ context, places, root }: Patient): LoadedSettings {
  const loaded = loadSettings({ flags: context.flags, env: context.env, places, root });
  return pickModel(context, { ...loaded, places }).base;
}

function describeLibc(): string {
  const musl = `/lib/ld-musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`;
  const header = (process.report?.getReport() as { header?: { glibcVersionRuntime?: string } } | undefined)?.header;
  if (header?.glibcVersionRuntime !== undefined) return `glibc ${header.glibcVersionRuntime}`;
  return existsSync(musl) ? `musl (${musl})` : "glibc";
}

function examineSettings({ places }: Patient, { origins, values, warnings, trust }: LoadedSettings) {
  const set = Object.entries(origins).filter(([, origin]) => origin !== "default");
  const shown = set.map(([name, origin]) => `${name} = ${showSetting(name, values[name] ?? null)} (${origin})`);
  const kept = places.configDir ?? "nowhere: HOME is not set";
  return [
    fine("settings", shown.length === 0 ? "all at their defaults" : shown.join("; ")),
    fine("model", `${String(values["model"])} (${origins["model"] ?? "default"})`),
    fine("config folder", kept),
    ...(trust === null ? [] : [fine("pai.json", trust)]),
    ...warnings.map((text) => warning("settings", text)),
  ];
}

/** A setting with entries of the user's choice by their names alone, since they may be long. */
function showSetting(name: string, value: Json): string {
  const hasEntries = allSettings.some((setting) => setting.name === name && "hasEntries" in setting);
  return hasEntries && isFields(value) ? Object.keys(value).join(", ") : JSON.stringify(value);
}

function examineKeys({ context, places }: Patient, loaded: LoadedSettings, model: string): Finding {
  try {
    const provider = providerOfModel(model, loaded.settings.providers);
    if (provider === null) return fine("key", "replay needs none");
    const { id } = provider;
    if (loaded.settings.providers.some((row) => row.id === id && row.keyCommand !== null))
      return fine("key", `${id}: printed by a command`);
    const keys = findKeys(provider, { env: context.env, places });
    const [first] = keys;
    if (first !== undefined) return fine("key", `${id}: ${keys.map((key) => key.id).join(", ")} (${first.origin})`);
    if (!provider.needsKey) return fine("key", `${id} needs none`);
    throw new PaiError("no_key", `no key for ${id}`, { hint: `store one with: ${renderSetKey(provider)}` });
  } catch (thrown) {
    return failed("key", thrown);
  }
}

/** What is wrong with the file of keys, also where a variable holds the key in use. */
function examineCredentials({ places: { configDir } }: Patient): readonly Finding[] {
  if (configDir === null) return [];
  try {
    loadCredentials(configDir);
    const file = credentialsFile(configDir);
    const mode = existsSync(file) ? statSync(file).mode : 0;
    return (mode & 0o077) === 0
      ? []
      : [warning("credentials", `others may read ${file}`, `chmod 600 ${spellForShell(file)}`)];
  } catch (thrown) {
    return [failed("credentials", thrown, "warning")];
  }
}

const unverified = "NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: they are always verified";
const wayToVerify = "unset it; for a certificate of your own set NODE_EXTRA_CA_CERTS";

function examineNetworkSettings(env: Context["env"]): readonly Finding[] {
  const set = (names: readonly string[]) => names.flatMap((name) => (env[name] ? [[name, env[name]] as const] : []));
  const proxies = set(["HTTPS", "HTTP", "ALL", "NO"].flatMap((of) => [`${of}_PROXY`, `${of}_proxy`.toLowerCase()]));
  const certificates = set(["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "PAI_CLIENT_CERT"]);
  const missing = certificates.filter(([, file]) => !mayUse(file, constants.R_OK));
  const list = (all: readonly (readonly [string, string])[]) =>
    all.map(([name, value]) => `${name}=${withoutUser(value)}`).join(" ");
  return [
    fine("proxy", proxies.length === 0 ? "none" : list(proxies)),
    fine("certificates", certificates.length === 0 ? "the built-in ones" : list(certificates)),
    ...missing.map(([name, file]) => warning("certificates", `${name} names ${file}, which cannot be read`)),
    ...(env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0" ? [warning("certificates", unverified, wayToVerify)] : []),
  ];
}

function examineFolders({ places, root }: Patient): readonly Finding[] {
  const state = places.stateDir;
  const kept = state === null ? null : nearestThere(state);
  const why = state === null ? "there is none" : whyNotKept(realPathOf(root) ?? root, state);
  return [
    why === null
      ? fine("state folder", String(state))
      : warning("state folder", `${why}: no undo, no history`, "set HOME or PAI_STATE_DIR"),
    mayUse(root, constants.W_OK) ? fine("project", root) : warning("project", `${root} is read-only`),
    examineDisk(root),
    ...(kept === null ? [] : [examineDisk(kept)]),
  ];
}

/** A memory that cannot be read, with which every task ends. */
function examineMemory({ root, places: { stateDir } }: Patient): readonly Finding[] {
  const at = realPathOf(root) ?? root;
  try {
    if (stateDir !== null && whyNotKept(at, stateDir) === null) openMemory(stateFolderOf(at, stateDir)).list();
    return [];
  } catch (thrown) {
    return [failed("memory", thrown)];
  }
}

function examineDisk(folder: string): Finding {
  try {
    const { bavail, bsize } = statfsSync(folder);
    const free = Math.floor((bavail * bsize) / 1024 / 1024);
    const text = `${free < 10_240 ? `${free} MiB` : `${Math.floor(free / 1024)} GiB`} free at ${folder}`;
    return free < 50 ? warning("disk", text, "pai needs room for changes and their journal") : fine("disk", text);
  } catch (thrown) {
    return failed("disk", thrown);
  }
}

function examineGit(env: Context["env"]): Finding {
  const git = Bun.which("git", { PATH: env["PATH"] ?? "" });
  if (git === null) return fine("git", "not found; pai does not need it");
  const { stdout } = Bun.spawnSync([git, "--version"], { env: {}, cwd: "/", stdin: "ignore", stderr: "ignore" });
  return fine("git", `${stdout.toString().trim()} (${git})`);
}

function examineWriting(): Finding {
  return systemCalls() === null
    ? warning(
        "writing",
        "without FFI: a change by somebody else in the last moment is not noticed, attributes and access lists are not kept, and --ephemeral runs do not wait for each other",
      )
    : fine("writing", "by exchange: saves of others are never overwritten; attributes and access lists are kept");
}

export async function examineEndpoint(patient: Patient, loaded: LoadedSettings): Promise<readonly Finding[]> {
  const asked = listModels(loaded.settings.model).map((model) => askEndpoint(model, patient, loaded));
  return (await Promise.all(asked)).flat();
}

/** Where the clocks differ, certificates count as too old or too young. */
function examineClock(now: Date, date: string | null): readonly Finding[] {
  const skew = Math.round((now.getTime() - Date.parse(date ?? "")) / 1000);
  if (Number.isNaN(skew)) return [];
  if (Math.abs(skew) > 300) return [warning("clock", `this clock is ${skew} s off the server's`, "set the time")];
  return [fine("clock", `within ${Math.max(1, Math.abs(skew))} s of the server's`)];
}

async function askEndpoint(model: string, { context }: Patient, loaded: LoadedSettings): Promise<readonly Finding[]> {
  try {
    const row = providerOfModel(model, loaded.settings.providers);
    if (row === null) return [];
    const { env, signal, now } = context;
    const { provider, url, origin } = findBaseUrl(row, env, configuredAddress(row, loaded));
    const probe = { provider, path: "", headers: {}, env, timeoutMs: 10_000, signal };
    const { endpoint, headers, status } = await probeModel(url, probe);
    const { address, exposed } = endpoint;
    const open = `${address} is plain http: everyone on the way can read what is sent`;
    return [
      fine("endpoint", `${address} answers with ${status} (${origin})`),
      ...(exposed ? [warning("endpoint", open)] : []),
      ...examineClock(now(), headers.get("date")),
    ];
  } catch (thrown) {
    return [failed("endpoint", thrown)];
  }
}
