/** Asks a provider whether it accepts a key, with a request that costs nothing. */
import { PaiError } from "../../core/error.ts";
import type { Provider } from "../../core/providers.ts";
import { type ProbeAnswer, probeModel } from "../../models/probe.ts";
import { parseEndpoint } from "../../models/wire/endpoint.ts";
import { type AskedServer, readHttpError } from "../../models/wire/http-errors.ts";
import type { FoundKey } from "../../store/keys.ts";
import { loadSettings } from "../../store/settings.ts";
import { permitAddress } from "../compose/server-models.ts";
import type { ConfigCall } from "./word.ts";

export interface KeyVerdict {
  /** null for an address that needs no key. */
  readonly id: string | null;
  readonly address: string;
  /** null: the key was accepted, or the provider did not refuse it. */
  readonly error: PaiError | null;
  /** The address has no request that distinguishes valid from invalid keys. */
  readonly unsure: boolean;
}

/** Checks the keys in turn. Throws network, tls, untrusted and other errors that are not due to a key. */
export async function validateOnline(
  provider: Provider,
  keys: readonly FoundKey[],
  { context, places }: Pick<ConfigCall, "context" | "places">,
): Promise<readonly KeyVerdict[]> {
  const loaded = loadSettings({ flags: {}, env: context.env, places, root: null });
  const base = await permitAddress(provider, keys, { ...loaded, context, places });
  const { address, proxy } = parseEndpoint(base.url, context.env);
  const { id, probe: path, headers } = provider;
  const options = { provider: id, path, env: context.env, timeoutMs: 20_000, signal: context.signal };
  const verdicts: KeyVerdict[] = [];
  for (const key of keys.length === 0 ? [null] : keys) {
    const answer = await probeModel(base.url, { ...options, headers: headers(key?.key ?? null) });
    const asked: AskedServer = { provider: id, model: "", key, address, proxy };
    verdicts.push({
      id: key?.id ?? null,
      address,
      error: judge(asked, answer, context.now().getTime()),
      unsure: answer.status === 404,
    });
  }
  return verdicts;
}

function judge(asked: AskedServer, answer: ProbeAnswer, now: number): PaiError | null {
  if (answer.status >= 300 && answer.status < 400) {
    return new PaiError("redirected", `${asked.address} answered with a redirect, which is not followed`);
  }
  // A gateway without a list of models says nothing about the key.
  if (answer.status === 404) return null;
  return answer.status < 400 ? null : readHttpError(asked, { ...answer, now });
}
