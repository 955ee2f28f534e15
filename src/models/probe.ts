/** One small request that costs nothing: to see which server answers, whether it takes a key, what it lists. */
import { PaiError } from "../core/error.ts";
import { type Endpoint, fetchFrom, type ProxyEnv, parseEndpoint, readStart } from "./wire/endpoint.ts";
import { type AskedServer, readFetchError, readHttpError } from "./wire/http-errors.ts";

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

/** Throws what `fetch` throws. */
export async function askOnce(
  endpoint: Endpoint,
  url: string,
  { headers, signal, limit = 65_536, post }: Pick<ProbeModelOptions, "headers" | "signal" | "limit" | "post">,
) {
  const response = await fetchFrom(endpoint, url, {
    ...(post === undefined ? {} : { method: "POST", body: post }),
    headers: { ...headers, ...(post === undefined ? {} : { "content-type": "application/json" }) },
    signal,
  });
  return { status: response.status, headers: response.headers, body: await readStart(response, limit) };
}

/** What an answer to a question with this key means; null: it is no refusal, and no redirect. */
export function readRefusal(
  provider: string,
  key: AskedServer["key"],
  answer: Awaited<ReturnType<typeof probeModel>>,
  now: number,
): PaiError | null {
  const { address, proxy } = answer.endpoint;
  if (answer.status < 300) return null;
  return answer.status < 400
    ? new PaiError("redirected", `${address} answered with a redirect, which is not followed`)
    : readHttpError({ provider, model: "", key, address, proxy }, { ...answer, now });
}

/** Asks the server at a base URL. Throws network or tls when no server answers, config_invalid for a bad URL. */
export async function probeModel(baseUrl: string, options: ProbeModelOptions) {
  const endpoint = parseEndpoint(baseUrl, options.env);
  const { address, proxy } = endpoint;
  const limit = AbortSignal.timeout(options.timeoutMs);
  const signal = AbortSignal.any([options.signal, limit]);
  try {
    return { endpoint, ...(await askOnce(endpoint, endpoint.url + options.path, { ...options, signal })) };
  } catch (thrown) {
    options.signal.throwIfAborted();
    const cause = limit.aborted ? Object.assign(new Error("no answer"), { code: "ETIMEDOUT" }) : thrown;
    throw readFetchError({ provider: options.provider, model: "", key: null, address, proxy }, cause);
  }
}
