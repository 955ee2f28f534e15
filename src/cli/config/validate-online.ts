/** Asks a provider whether it takes our keys: the list of its models, which costs nothing. */
import { PaiError } from "../../core/error.ts";
import { type ProbeAnswer, probe } from "../../models/probe.ts";
import { parseEndpoint } from "../../models/wire/endpoint.ts";
import { type Asked, readHttpError } from "../../models/wire/http-errors.ts";
import { configuredAddress, findEndpoint, requireConsent } from "../../store/base-url.ts";
import type { FoundKey } from "../../store/keys.ts";
import type { RemoteProvider } from "../../store/setting-table.ts";
import { loadSettings } from "../../store/settings.ts";
import type { ConfigCall } from "./word.ts";

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

/** What the provider said of one key. */
export interface KeyVerdict {
  /** Null for an address that needs none. */
  readonly id: string | null;
  readonly address: string;
  /** Null: the key was taken. */
  readonly error: PaiError | null;
}

/** Asks for every key, one after the other. Throws network, tls, untrusted and what else is no key's fault. */
export async function validateOnline(
  provider: string,
  keys: readonly FoundKey[],
  { context, places }: ConfigCall,
): Promise<readonly KeyVerdict[]> {
  const loaded = loadSettings({ flags: {}, env: context.env, places, root: null });
  const name = provider as RemoteProvider;
  const endpoint = findEndpoint(name, context.env, configuredAddress(name, loaded));
  await requireConsent(
    endpoint,
    keys.map(({ key }) => key),
    { places, ask: null },
  );
  const { address, exposed, proxy } = parseEndpoint(endpoint.url, context.env);
  if (exposed && keys.length > 0 && context.flags.insecureHttp !== true) {
    throw new PaiError("untrusted", `${address} is plain http: everyone on the way could read the key`, {
      hint: "use https, or allow it with --insecure-http",
    });
  }
  const { path, headers } = asks[provider] ?? { path: "", headers: () => ({}) };
  const options = { provider, env: context.env, timeoutMs: 20_000, signal: context.signal };
  const verdicts: KeyVerdict[] = [];
  for (const key of keys.length === 0 ? [null] : keys) {
    const answer = await probe(endpoint.url + path, { ...options, headers: key === null ? {} : headers(key.key) });
    const asked: Asked = { provider, model: "", key, address, proxy };
    verdicts.push({ id: key?.id ?? null, address, error: judge(asked, answer, context.now().getTime()) });
  }
  return verdicts;
}

function judge(asked: Asked, answer: ProbeAnswer, now: number): PaiError | null {
  if (answer.status >= 300 && answer.status < 400) {
    return new PaiError("redirected", `${asked.address} answered with a redirect, which is not followed`);
  }
  return answer.status < 400 ? null : readHttpError(asked, { ...answer, now });
}
