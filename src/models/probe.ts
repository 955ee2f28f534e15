/** One small request that costs nothing: to see which server answers, whether it takes a key, what it lists. */
import { type Endpoint, type ProxyEnv, parseEndpoint, tlsOf, withQuery } from "./wire/endpoint.ts";
import { readStart } from "./wire/error-body.ts";
import { readFetchError } from "./wire/http-errors.ts";

export interface ProbeModelOptions {
  readonly provider: string;
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

export interface OneQuestion extends Pick<ProbeModelOptions, "headers" | "signal" | "limit" | "post"> {
  readonly endpoint: Endpoint;
  readonly url: string;
}

/** One request, whose redirects are not followed. Throws what `fetch` throws. */
export async function askOnce({ endpoint, url, headers, signal, limit = 65_536, post }: OneQuestion) {
  const response = await fetch(withQuery(url, endpoint), {
    ...(post === undefined ? {} : { method: "POST", body: post }),
    headers: { ...headers, ...(post === undefined ? {} : { "content-type": "application/json" }) },
    redirect: "manual",
    proxy: endpoint.proxy,
    ...tlsOf(endpoint),
    signal,
  });
  return { status: response.status, headers: response.headers, body: await readStart(response, limit) };
}

/** Asks the server at a base URL. Throws network or tls when no server answers, config_invalid for a bad URL. */
export async function probeModel(baseUrl: string, options: ProbeModelOptions): Promise<ProbeAnswer> {
  const endpoint = parseEndpoint(baseUrl, options.env);
  const { address, proxy } = endpoint;
  const limit = AbortSignal.timeout(options.timeoutMs);
  const signal = AbortSignal.any([options.signal, limit]);
  try {
    return { endpoint, ...(await askOnce({ ...options, endpoint, url: endpoint.url + options.path, signal })) };
  } catch (thrown) {
    options.signal.throwIfAborted();
    const cause = limit.aborted ? Object.assign(new Error("no answer"), { code: "ETIMEDOUT" }) : thrown;
    throw readFetchError({ provider: options.provider, model: "", key: null, address, proxy }, cause);
  }
}
