/** One small request that costs nothing: to see which server answers, whether it takes a key, what it lists. */
import { type Endpoint, type ProxyEnv, parseEndpoint, tlsOf, withQuery } from "./wire/endpoint.ts";
import { readStart } from "./wire/error-body.ts";
import { readFetchError } from "./wire/http-errors.ts";

export interface ProbeModelOptions {
  readonly provider: string;
  /** Path after the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly env: ProxyEnv;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Characters of the answer that are read, about; absent: 64 Ki. */
  readonly limit?: number;
  /** JSON to send by POST; absent: a GET. */
  readonly post?: string;
}

export interface ProbeAnswer {
  readonly endpoint: Endpoint;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Asks without following redirects. Throws network or tls when no server answers, config_invalid for a bad URL. */
export async function probeModel(baseUrl: string, options: ProbeModelOptions): Promise<ProbeAnswer> {
  const endpoint = parseEndpoint(baseUrl, options.env);
  const { address, proxy } = endpoint;
  const { post } = options;
  const limit = AbortSignal.timeout(options.timeoutMs);
  try {
    const response = await fetch(withQuery(endpoint.url + options.path, endpoint), {
      ...(post === undefined ? {} : { method: "POST", body: post }),
      headers: { ...options.headers, ...(post === undefined ? {} : { "content-type": "application/json" }) },
      redirect: "manual",
      proxy,
      ...tlsOf(endpoint),
      signal: AbortSignal.any([options.signal, limit]),
    });
    const body = await readStart(response, options.limit ?? 65_536);
    return { endpoint, status: response.status, headers: response.headers, body };
  } catch (thrown) {
    options.signal.throwIfAborted();
    const cause = limit.aborted ? Object.assign(new Error("no answer"), { code: "ETIMEDOUT" }) : thrown;
    throw readFetchError({ provider: options.provider, model: "", key: null, address, proxy }, cause);
  }
}
