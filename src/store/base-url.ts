/** The address of each provider, and the user's consent to send a key there. */

import * as z from "zod/mini";
import { commandWording } from "../core/approval-wording.ts";
import { digest } from "../core/digest.ts";
import { PaiError } from "../core/error.ts";
import { findProvider, type Provider } from "../core/providers.ts";
import type { Environment, Places } from "./places.ts";
import type { LoadedSettings } from "./settings.ts";
import { openStateFile } from "./state-file.ts";

export interface BaseUrl {
  readonly provider: string;
  /** With its query, its path without a trailing slash; whether it has a version path depends on the provider's row. */
  readonly url: string;
  /** Name of the variable, "config.json", "pai.json" or "default". */
  readonly origin: string;
}

export function configuredAddress(
  { id }: Provider,
  { settings, origins }: Pick<LoadedSettings, "settings" | "origins">,
) {
  const set: Readonly<Record<string, string | null>> = settings.baseUrl;
  return { url: set[id] ?? null, origin: origins[`baseUrl.${id}`] ?? "default" };
}

/** The first of PAI_BASE_URL, the provider's variable, the setting, the default. Throws config_invalid if not http(s). */
export function findBaseUrl(
  row: Provider,
  env: Environment,
  configured: { readonly url: string | null; readonly origin: string },
): BaseUrl {
  const { id: provider, urlVariable: own } = row;
  if (findProvider(provider) === null) {
    const origin = `providers.${provider}.url`;
    return { provider, url: withVersionPath(row, parseUrl(row.url, origin)), origin };
  }
  const choices: readonly (readonly [string | null | undefined, string])[] = [
    [env["PAI_BASE_URL"], "PAI_BASE_URL"],
    ...(own === null ? [] : [[row.urlForm === "host" ? readOllamaHost(env[own]) : env[own], own] as const]),
    [configured.url, configured.origin],
  ];
  const [text, origin] = choices.find(([value]) => (value ?? "").trim() !== "") ?? [row.url, "default"];
  const url = parseUrl((text ?? "").trim(), origin);
  return { provider, url: withVersionPath(row, url), origin };
}

/** Throws usage where PAI_BASE_URL, which wins for every provider, would send the key of one to the server of another. */
export function requireOwnAddresses(used: readonly Provider[], env: Environment): void {
  const [first, second] = [...new Set(used.filter(({ id }) => findProvider(id) !== null))];
  if ((env["PAI_BASE_URL"] ?? "").trim() === "" || first === undefined || second === undefined) return;
  throw new PaiError("usage", `PAI_BASE_URL is one address, and this run asks both ${first.id} and ${second.id}`, {
    hint: `unset it, and name the address of each: pai config set baseUrl.${first.id} URL, baseUrl.${second.id}`,
  });
}

function parseUrl(text: string, origin: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    throw new PaiError("config_invalid", `the address in ${origin} must be an http:// or https:// URL`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new PaiError("config_invalid", `the address in ${origin} must not hold a user name or password`);
  }
  if (url.hash !== "") throw new PaiError("config_invalid", `the address in ${origin} must not hold a #`);
  return url;
}

function withVersionPath({ versionIn, url: own }: Provider, url: URL): string {
  const path = url.pathname.replace(/\/+$/, "");
  if (versionIn === "path") return url.origin + path.replace(/\/v1(beta|alpha)?$/, "") + url.search;
  return url.origin + (path === "" ? new URL(own).pathname : path) + url.search;
}

/** A server that listens on all addresses is reached on the loopback. */
const reachable: Readonly<Record<string, string>> = { "": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]" };
const usualPorts: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** Reads OLLAMA_HOST as Ollama does: `host`, `host:port`, `:port`, a URL; an unusable port becomes the default. */
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
 * Makes sure that the user wants `keys` to be sent to an address from a file. The first use stores the pair of keys and
 * address; any other pair is asked about once through `ask`. Addresses from the environment, default addresses and
 * calls without keys need no consent. Throws untrusted if the answer is no, or if `ask` is null.
 */
export async function requireConsent(
  address: BaseUrl,
  keys: readonly string[],
  { places, ask }: { readonly places: Places; readonly ask: ((question: string) => Promise<boolean>) | null },
): Promise<void> {
  if (!address.origin.endsWith(".json") || keys.length === 0) return;
  const known = pairsOf(fileIn(places).read(), address.provider);
  const isKnown = keys.every((key) => known?.includes(pairOf(key, address.url)));
  if (isKnown) return;
  if (known !== undefined) {
    const what = `${address.origin} sends your ${address.provider} key to a new address: ${address.url}`;
    if (ask === null || !(await ask(commandWording.sendKey(what)))) {
      throw new PaiError("untrusted", what, {
        hint: `to agree: pai config set baseUrl.${address.provider} ${address.url}`,
      });
    }
  }
  rememberConsent(address, keys, places);
}

export function rememberConsent(
  address: Pick<BaseUrl, "provider" | "url">,
  keys: readonly string[],
  places: Places,
): void {
  const pairs = keys.map((key) => pairOf(key, address.url));
  fileIn(places).edit(({ providers }) => ({
    providers: {
      ...providers,
      [address.provider]: [...new Set([...(pairsOf({ providers }, address.provider) ?? []), ...pairs])],
    },
  }));
}

const consents = z.object({ providers: z.record(z.string(), z.array(z.string())) });
const fileIn = ({ stateDir }: Places) =>
  openStateFile(stateDir, "endpoints.json", consents, { providers: {} }, { hint: "remove it to be asked again" });

const pairsOf = ({ providers }: z.infer<typeof consents>, provider: string) =>
  new Map(Object.entries(providers)).get(provider);
const pairOf = (key: string, url: string): string => digest(`${key}\0${url}`);
