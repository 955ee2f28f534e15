/** Where each provider is reached, and whether the user has agreed to send a key there. */
import { join } from "node:path";
import { digest } from "../core/digest.ts";
import { PaiError } from "../core/error.ts";
import type { Environment, Places } from "./places.ts";
import { readPrivate, withLock, writePrivate } from "./safe-file.ts";
import type { RemoteProvider } from "./setting-table.ts";
import type { LoadedSettings } from "./settings.ts";

export interface Endpoint {
  readonly provider: RemoteProvider;
  /** Without trailing slash. gemini, anthropic: without version path; openai, local: with it. */
  readonly url: string;
  /** The variable's name, "config.json", "pai.json" or "default". */
  readonly origin: string;
}

const ownUrls: Record<RemoteProvider, string> = {
  gemini: "https://generativelanguage.googleapis.com",
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com",
  local: "http://127.0.0.1:11434/v1",
};

const ownVariables: Record<RemoteProvider, string> = {
  gemini: "GOOGLE_GEMINI_BASE_URL",
  openai: "OPENAI_BASE_URL",
  anthropic: "ANTHROPIC_BASE_URL",
  local: "OLLAMA_HOST",
};

/** What the settings say of a provider's address (null: nothing), and the file that says it. */
export interface ConfiguredAddress {
  readonly url: string | null;
  readonly origin: string;
}

export function configuredAddress(
  provider: RemoteProvider,
  { settings, origins }: Pick<LoadedSettings, "settings" | "origins">,
): ConfiguredAddress {
  return { url: settings.baseUrl[provider], origin: origins[`baseUrl.${provider}`] ?? "default" };
}

/**
 * Where a provider is reached: the first of PAI_BASE_URL, the provider's own variable, what is configured, and the
 * provider's own address. Throws config_invalid for what is no http(s) URL.
 */
export function findEndpoint(provider: RemoteProvider, env: Environment, configured: ConfiguredAddress): Endpoint {
  const own = ownVariables[provider];
  const choices: readonly (readonly [string | null | undefined, string])[] = [
    [env["PAI_BASE_URL"], "PAI_BASE_URL"],
    [provider === "local" ? readOllamaHost(env[own]) : env[own], own],
    [configured.url, configured.origin],
  ];
  const [text, origin] = choices.find(([value]) => (value ?? "").trim() !== "") ?? [ownUrls[provider], "default"];
  const url = parseUrl((text ?? "").trim(), origin);
  return { provider, url: withVersionPath(provider, url), origin };
}

function parseUrl(text: string, origin: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    throw new PaiError("config_invalid", `the address in ${origin} must be an http:// or https:// URL`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new PaiError("config_invalid", `the address in ${origin} must not hold a user name or password`);
  }
  return url;
}

function withVersionPath(provider: RemoteProvider, url: URL): string {
  const path = url.pathname.replace(/\/+$/, "");
  if (provider === "gemini" || provider === "anthropic") return url.origin + path.replace(/\/v1(beta|alpha)?$/, "");
  return url.origin + (path === "" ? "/v1" : path);
}

/** Listening everywhere is reached on this machine. */
const reachable: Readonly<Record<string, string>> = { "": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]" };
const usualPorts: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** As Ollama reads it: `host`, `host:port`, `:port`, `scheme://host:port/path`; an unusable port is the usual one. */
function readOllamaHost(variable: string | undefined): string | null {
  const text = variable?.trim().replace(/^["']|["']$/g, "") ?? "";
  if (text === "") return null;
  const [, scheme, hostPort = "", path = ""] = /^(?:([a-z]+:)\/\/)?([^/]*)(.*)$/i.exec(text) ?? [];
  const isBareIpv6 = !hostPort.startsWith("[") && hostPort.split(":").length > 2;
  const [, host = "", port = ""] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(isBareIpv6 ? `[${hostPort}]` : hostPort) ?? [];
  const isPort = /^\d{1,5}$/.test(port) && Number(port) <= 65535;
  const usual = usualPorts[scheme ?? ""] ?? "11434";
  return `${scheme ?? "http:"}//${reachable[host] ?? host}:${isPort ? port : usual}${path}`;
}

/**
 * Makes sure the user wants `keys` to go to an endpoint that a file names. The first use binds them to it; any other
 * pair asks once through `ask`. Endpoints of the environment, of a provider itself and without keys need nothing.
 * Throws untrusted when the answer is no, or there is nobody to ask (`ask` is null).
 */
export async function requireConsent(
  endpoint: Endpoint,
  keys: readonly string[],
  { places, ask }: { readonly places: Places; readonly ask: ((question: string) => Promise<boolean>) | null },
): Promise<void> {
  if (!/\.json$/.test(endpoint.origin) || keys.length === 0) return;
  const known = readConsents(places).get(endpoint.provider);
  const isKnown = keys.every((key) => known?.includes(pairOf(key, endpoint.url)));
  if (isKnown) return;
  if (known !== undefined) {
    const what = `${endpoint.origin} sends your ${endpoint.provider} key to a new address: ${endpoint.url}`;
    if (ask === null || !(await ask(`${what}\nSend the key there?`))) {
      throw new PaiError("untrusted", what, {
        hint: `to agree: pai config put baseUrl.${endpoint.provider} ${endpoint.url}`,
      });
    }
  }
  rememberConsent(endpoint, keys, places);
}

/** Records that these keys may go to this endpoint. */
export function rememberConsent(
  endpoint: Pick<Endpoint, "provider" | "url">,
  keys: readonly string[],
  places: Places,
): void {
  if (places.stateDir === null) return;
  const file = fileIn(places.stateDir);
  withLock(file, () => {
    const consents = readConsents(places);
    const pairs = keys.map((key) => pairOf(key, endpoint.url));
    consents.set(endpoint.provider, [...new Set([...(consents.get(endpoint.provider) ?? []), ...pairs])]);
    writePrivate(file, `${JSON.stringify({ version: 1, providers: Object.fromEntries(consents) }, null, 2)}\n`);
  });
}

/** By provider: the hashes of key and address that belong together. */
function readConsents(places: Places): Map<string, readonly string[]> {
  const text = places.stateDir === null ? null : readPrivate(fileIn(places.stateDir));
  if (text === null) return new Map();
  try {
    const { providers } = JSON.parse(text) as { readonly providers: Readonly<Record<string, readonly string[]>> };
    return new Map(Object.entries(providers).filter(([, pairs]) => Array.isArray(pairs)));
  } catch (cause) {
    throw new PaiError("config_invalid", `${fileIn(places.stateDir ?? "")} is damaged`, {
      hint: "remove it to be asked again",
      cause,
    });
  }
}

const fileIn = (stateDir: string): string => join(stateDir, "endpoints.json");
const pairOf = (key: string, url: string): string => digest(`${key}\0${url}`);
