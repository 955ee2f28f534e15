/** The address of a provider: which ones are allowed and which proxy is used. */
import { readFileSync } from "node:fs";
import { BlockList, isIPv4 } from "node:net";
import { PaiError } from "../../core/error.ts";

export type ProxyEnv = Readonly<Record<string, string | undefined>>;

export type Endpoint = Readonly<ReturnType<typeof parseEndpoint>>;

/** Throws PaiError `config_invalid` for what is no http(s) URL, and for a SOCKS proxy, which fetch ignores. */
export function parseEndpoint(baseUrl: string, env: ProxyEnv) {
  const url = URL.parse(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hash !== "") {
    const what = `the base URL ${JSON.stringify(withoutUser(baseUrl))} is not an http(s) address`;
    throw new PaiError("config_invalid", what, { hint: "give it as https://host or https://host/path, without #" });
  }
  return {
    /** Without query and trailing slash. */
    url: (url.origin + url.pathname).replace(/\/+$/, ""),
    /** The query of every request, like `api-version=2024-10-21`; "": none. */
    query: url.search.slice(1),
    /** Scheme and host, for messages; never with user or password. */
    address: url.origin,
    /** The proxy to use; false: none, whatever the environment says. */
    proxy: findProxy(url, env),
    /** Plain http to another machine, which everyone on the way can read. */
    exposed: url.protocol === "http:" && !isLoopback(url.hostname),
    /** File in PEM form of the client certificate to show, with its key; null: none, or plain http. */
    certificate: url.protocol === "https:" ? (env["PAI_CLIENT_CERT"] ?? "").trim() || null : null,
    /** The environment asks not to verify certificates. pai verifies them all the same. */
    wantsUnverified: url.protocol === "https:" && env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0",
  };
}

/** A request to `url` at the endpoint; redirects are not followed. Throws what `fetch` throws. */
export function fetchFrom(endpoint: Endpoint, url: string, init: BunFetchRequestInit): Promise<Response> {
  const { query, proxy } = endpoint;
  const whole = query === "" ? url : `${url}${url.includes("?") ? "&" : "?"}${query}`;
  return fetch(whole, { ...init, redirect: "manual", proxy, ...tlsOf(endpoint) });
}

/** The text up to about `limit` characters, without waiting for the rest. */
export async function readStart(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length >= limit) break;
  }
  return text;
}

/** TLS options for a request over https: certificates are verified, whatever the environment says. */
export function tlsOf({ url, certificate }: Endpoint): { readonly tls?: Bun.TLSOptions } {
  if (!url.startsWith("https:")) return {};
  return { tls: { rejectUnauthorized: true, ...(certificate === null ? {} : readCertificate(certificate)) } };
}

function readCertificate(file: string): { cert: string; key: string } {
  try {
    const text = readFileSync(file, "utf8");
    return { cert: text, key: text };
  } catch (cause) {
    throw new PaiError("config_invalid", `the client certificate cannot be read: ${(cause as Error).message}`, {
      hint: "set PAI_CLIENT_CERT to a file that holds certificate and key in PEM form",
      cause,
    });
  }
}

/** Whether a host is this machine, by its name or address alone, without a lookup. */
export const isLoopback = (host: string): boolean =>
  host === "[::1]" || /^(.+\.)?localhost\.?$/i.test(host) || /^127(\.\d{1,3}){3}$/.test(host);

/** The proxy from the usual variables; false: none, because of NO_PROXY or for loopback. */
export function findProxy(url: URL, env: ProxyEnv): string | false {
  if (isLoopback(url.hostname) || isExempt(url, read(env, "no_proxy"))) return false;
  const proxy = read(env, url.protocol === "https:" ? "https_proxy" : "http_proxy") || read(env, "all_proxy");
  if (proxy === "") return false;
  const parsed = URL.parse(/^[a-z\d+.-]+:\/\//i.test(proxy) ? proxy : `http://${proxy}`);
  if (parsed !== null && /^https?:$/.test(parsed.protocol)) return parsed.href;
  const what = `the proxy ${JSON.stringify(withoutUser(proxy))} cannot be used: only http proxies can`;
  throw new PaiError("config_invalid", what, {
    hint: "set HTTPS_PROXY to an http:// proxy, or add the host to NO_PROXY",
  });
}

/** A proxy or base URL as it may be shown: without user and password. */
export const withoutUser = (url: string): string => url.replace(/^([a-z\d+.-]+:\/\/)?[^/@\s]*@/i, "$1");

const read = (env: ProxyEnv, name: string): string => (env[name] || env[name.toUpperCase()] || "").trim();

function isExempt(url: URL, noProxy: string): boolean {
  const host = url.hostname.toLowerCase();
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      const [, name = "", only] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      if (entry === "*" || isWithin(host, entry)) return true;
      if (name === "" || (only !== undefined && only !== port)) return false;
      return host === name || host.endsWith(`.${name}`);
    });
}

function isWithin(host: string, network: string): boolean {
  const [base = "", bits = ""] = network.split("/");
  if (!isIPv4(base) || !/^\d+$/.test(bits) || Number(bits) > 32) return false;
  const list = new BlockList();
  list.addSubnet(base, Number(bits));
  return list.check(host);
}
