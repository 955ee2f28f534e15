/** One small request to see which server answers, for `pai doctor` and `pai config validate --online`. */
import { type Endpoint, type ProxyEnv, parseEndpoint, tlsOf, withQuery } from "./wire/endpoint.ts";
import { readFetchError } from "./wire/http-errors.ts";
import { readStart } from "./wire/read-start.ts";

export interface ProbeOptions {
  readonly provider: string;
  /** Path after the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly env: ProxyEnv;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface ProbeAnswer {
  readonly endpoint: Endpoint;
  readonly status: number;
  readonly headers: Headers;
  /** About the first 64 KiB of it. */
  readonly body: string;
}

/** GET without following redirects. Throws network or tls when no server answers, config_invalid for a bad URL. */
export async function probe(baseUrl: string, options: ProbeOptions): Promise<ProbeAnswer> {
  const endpoint = parseEndpoint(baseUrl, options.env);
  const { address, proxy } = endpoint;
  const limit = AbortSignal.timeout(options.timeoutMs);
  try {
    const response = await fetch(withQuery(endpoint.url + options.path, endpoint), {
      headers: options.headers,
      redirect: "manual",
      proxy,
      ...tlsOf(endpoint),
      signal: AbortSignal.any([options.signal, limit]),
    });
    const body = await readStart(response, 65_536);
    return { endpoint, status: response.status, headers: response.headers, body };
  } catch (thrown) {
    options.signal.throwIfAborted();
    const cause = limit.aborted ? Object.assign(new Error("no answer"), { code: "ETIMEDOUT" }) : thrown;
    throw readFetchError({ provider: options.provider, model: "", key: null, address, proxy }, cause);
  }
}
