/** Asks a provider whether it takes our keys: the list of its models, which costs nothing. */
import { PaiError } from "../core/error.ts";
import { parseEndpoint } from "../models/endpoint.ts";
import { readHttpError } from "../models/http-errors.ts";
import { findEndpoint, requireConsent } from "../store/base-url.ts";
import type { FoundKey } from "../store/keys.ts";
import type { RemoteProvider } from "../store/setting-table.ts";
import { loadSettings } from "../store/settings.ts";
import type { ConfigCall } from "./config-word.ts";
import { probe } from "./probe.ts";

/** Path of the model list, and how the key travels. */
const asks: Readonly<
  Record<string, { readonly path: string; readonly headers: (key: string) => Record<string, string> }>
> = {
  gemini: { path: "/v1beta/models", headers: (key) => ({ "x-goog-api-key": key }) },
  openai: { path: "/models", headers: (key) => ({ authorization: `Bearer ${key}` }) },
  anthropic: {
    path: "/v1/models",
    headers: (key) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
  },
  local: { path: "/models", headers: (key) => ({ authorization: `Bearer ${key}` }) },
};

/** The address that took all keys. Throws key_rejected, network, untrusted and what else the answer means. */
export async function validateOnline(
  provider: string,
  keys: readonly FoundKey[],
  { context, places }: ConfigCall,
): Promise<string> {
  const { settings, origins } = loadSettings({ flags: {}, env: context.env, places, root: null });
  const name = provider as RemoteProvider;
  const configured = { url: settings.baseUrl[name], origin: origins[`baseUrl.${name}`] ?? "default" };
  const endpoint = findEndpoint(name, { env: context.env, configured });
  await requireConsent(
    endpoint,
    keys.map(({ key }) => key),
    { places, ask: null },
  );
  const { address, exposed, proxy } = parseEndpoint(endpoint.url, context.env);
  if (exposed && context.flags["insecure-http"] !== true) {
    throw new PaiError("untrusted", `${address} is plain http: everyone on the way could read the key`, {
      hint: "use https, or allow it with --insecure-http",
    });
  }
  for (const key of keys) {
    const ask = asks[provider];
    const options = { provider, env: context.env, timeoutMs: 20_000, signal: context.signal };
    const answer = await probe(endpoint.url + (ask?.path ?? ""), { ...options, headers: ask?.headers(key.key) ?? {} });
    if (answer.status >= 300 && answer.status < 400) {
      throw new PaiError("redirected", `${address} answered with a redirect, which is not followed`);
    }
    if (answer.status >= 400) {
      const now = context.now().getTime();
      throw readHttpError({ provider, model: "", key, address, proxy }, { ...answer, now });
    }
  }
  return address;
}
