/** Turns an error of a provider or the network into a PaiError that says whether a retry may help. */
import { type ErrorCode, PaiError } from "../../core/error.ts";
import { findProvider } from "../../core/providers.ts";
import { maskHeld } from "../../core/secrets/held-keys.ts";
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import { withoutUser } from "./endpoint.ts";
import { fields, list, parseJson, text } from "./fields.ts";
import { readDelay, secondsToNewDay } from "./retry-after.ts";

/** How often a failed request may be sent again, and after how long; null: the growing waits of `retry.ts`. */
export interface Retry {
  readonly times: number;
  readonly waitMs: number | null;
}

/** Why a request failed; travels as the `cause` of its PaiError. */
export interface Setback {
  readonly retry: Retry;
  readonly status: number | null;
  readonly thrown: unknown;
  /** All words of the provider, of which the message shows the beginning; absent: the message has them all. */
  readonly words?: string;
}

export const never: Retry = { times: 0, waitMs: 0 };
export const often: Retry = { times: 5, waitMs: null };
export const onceSoon: Retry = { times: 1, waitMs: 1000 };
export const onceAtOnce: Retry = { times: 1, waitMs: 0 };

/** Who was asked, for messages. */
export interface Asked {
  readonly provider: string;
  readonly model: string;
  readonly key: { readonly id: string; readonly key: string } | null;
  readonly address: string;
  readonly proxy: string | false;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The retry that an error allows; `never` when it did not come from a request. */
export function retryOf(error: PaiError): Retry {
  const { retry } = fields(error.cause) as Partial<Setback>;
  return retry ?? never;
}

/** What the provider said of a failed request. */
export function wordsOf(error: PaiError): string {
  const { words } = fields(error.cause) as Partial<Setback>;
  return words ?? error.message;
}

/** A PaiError that tells `retry.ts` whether asking again may help. */
export function failure(
  code: ErrorCode,
  message: string,
  retry: Retry,
  more: Partial<Setback> & { hint?: string } = {},
) {
  const cause: Setback = { retry, status: more.status ?? null, thrown: more.thrown ?? null };
  return new PaiError(code, message, { hint: more.hint, cause });
}

interface Body {
  readonly message: string;
  /** All names that the provider gives this error: status, type, code, reasons. */
  readonly names: readonly string[];
  readonly quotaIds: readonly string[];
  readonly retryDelay: string;
}

const creditNames =
  /^(insufficient_quota|insufficient_credits?|insufficient_funds|billing_not_active|billing_hard_limit_reached|billing_error|credit_exhausted|payment_required|spend_limit_reached)$/i;
const creditWords =
  /credit balance|out of credits?|credits? (are|is|have been) (depleted|exhausted)|insufficient (credit|fund|balance)|spend(ing)? (limit|cap)|billing (hard )?limit|monthly budget/i;
const keyWords = /api.?key (not valid|expired|is invalid)|invalid api.?key|API_KEY_INVALID/i;

/** The server's own wish about retries; null: it states none. */
function wished(headers: Headers, willing: Retry): Retry | null {
  const wish = headers.get("x-should-retry");
  if (wish === "false") return never;
  return wish === "true" ? willing : null;
}

/** The error for a status other than 2xx, or for an `error` object in a stream (then `status` is its code). */
export function readHttpError(asked: Asked, answer: Answer): PaiError {
  const body = readBody(answer.body);
  const { code, retry, what, hint } = judge(answer.status, body, asked);
  const daily = body.quotaIds.some((id) => /per.?day/i.test(id));
  const delay =
    code === "quota" && daily ? secondsToNewDay(answer.now) : readDelay(answer.headers, body.retryDelay, answer.now);
  const said = clean(body.message, asked);
  const later = code === "provider_down" ? "try again later, or use another model" : undefined;
  const cause: Setback = {
    retry: wished(answer.headers, code === "request_rejected" ? often : retry) ?? retry,
    status: answer.status,
    thrown: null,
    words: [body.message, ...body.names].join(" "),
  };
  return new PaiError(code, said === "" ? what : `${what}: ${said}`, {
    hint: hint ?? (delay === null ? later : `try again in ${renderWait(delay)}`),
    cause,
    retryAfter: delay === null ? undefined : Math.ceil(delay),
  });
}

interface Judgement {
  readonly code: ErrorCode;
  readonly retry: Retry;
  readonly what: string;
  readonly hint?: string;
}

/** Names a stored key by its name, and one of the environment by its variable. */
function nameKey(provider: string, id: string): string {
  const [variable] = findProvider(provider)?.keyVariables ?? [];
  return id === "env" && variable !== undefined ? `the key in ${variable}` : `the key "${id}"`;
}

function judge(status: number, body: Body, asked: Asked): Judgement {
  const { provider } = asked;
  const key = asked.key === null ? "the request without a key" : nameKey(provider, asked.key.id);
  if (isCredit(status, body)) {
    return {
      code: "credit_exhausted",
      retry: never,
      what: `the credit of ${key} at ${provider} is used up`,
      hint: `top it up at ${provider}, or use another key`,
    };
  }
  if (status === 401 || status === 403 || (status === 400 && keyWords.test([...body.names, body.message].join(" ")))) {
    return {
      code: "key_rejected",
      retry: never,
      what: `${provider} refused ${key} (HTTP ${status})`,
      hint: "check it with: pai config validate --online",
    };
  }
  if (status === 429) return judgeQuota(body, key, provider);
  if (status === 404) {
    return {
      code: "model_unknown",
      retry: never,
      what: `${provider} does not know the model ${asked.model}`,
      hint: "choose another one with --model or PAI_MODEL (see: pai models), or check the base URL",
    };
  }
  if (status === 407) {
    return {
      code: "network",
      retry: never,
      what: `the proxy ${showProxy(asked)} wants a user and password`,
      hint: "give them in HTTPS_PROXY: http://user:password@host:port",
    };
  }
  if (status === 408 || status === 409)
    return { code: "provider_down", retry: often, what: `${provider} could not answer in time (HTTP ${status})` };
  if (status >= 500)
    return { code: "provider_down", retry: often, what: `${provider} is not available (HTTP ${status})` };
  return { code: "request_rejected", retry: never, what: `${provider} rejected the request (HTTP ${status})` };
}

function judgeQuota(body: Body, key: string, provider: string): Judgement {
  const ids = body.quotaIds.join(" ");
  if (/per.?day/i.test(ids)) {
    return { code: "quota", retry: never, what: `the daily quota of ${key} at ${provider} is used up` };
  }
  const which = /per.?minute/i.test(ids) ? " for this minute" : "";
  return { code: "quota", retry: often, what: `${key} is over its limit${which} at ${provider}` };
}

function isCredit(status: number, body: Body): boolean {
  if (status === 402 || body.names.some((name) => creditNames.test(name))) return true;
  return status >= 400 && status < 500 && body.quotaIds.length === 0 && creditWords.test(body.message);
}

/** `{"error":{…}}`, `[{"error":{…}}]`, `{"error":"text"}`, `{"message":…}`, or any other text. */
function readBody(source: string): Body {
  const parsed = parseJson(source);
  const outer = fields(Array.isArray(parsed) ? parsed[0] : parsed);
  const error = fields(outer["error"]);
  const details = list(error["details"]).map(fields);
  const plain = parsed === undefined ? source.replace(/<(style|script)[\s\S]*?<\/\1>|<[^>]*>/gi, " ") : "";
  return {
    message:
      text(error["message"]) || text(outer["error"]) || text(outer["message"]) || readDetail(outer["detail"]) || plain,
    names: [error["status"], error["type"], error["code"], ...details.map((detail) => detail["reason"])].map(text),
    quotaIds: details
      .flatMap((detail) => list(detail["violations"]).map((each) => text(fields(each)["quotaId"])))
      .filter(Boolean),
    retryDelay: details.map((detail) => text(detail["retryDelay"])).find(Boolean) ?? "",
  };
}

/** `"text"`, or a list of what is wrong where: `[{"loc": ["body", "x"], "msg": "not permitted"}]`. */
function readDetail(detail: unknown): string {
  if (typeof detail === "string") return detail;
  const faults = list(detail).map(fields);
  return faults.map(({ loc, msg }) => `${list(loc).join(".")}: ${text(msg)}`).join("; ");
}

/** A provider's words on one line: no control characters, no key, at most 300 characters. */
function clean(message: string, asked: Asked): string {
  const plain = message.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  const masked = maskSecrets(maskHeld(asked.key === null ? [] : [asked.key.key])(plain));
  return masked.length > 300 ? `${masked.slice(0, 300)}…` : masked;
}

const tlsCodes = /CERT|SIGNATURE|SELF_SIGNED|ISSUER|^ERR_(SSL|TLS)|EPROTO/;
const foreignCa = /UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED|UNABLE_TO_GET_ISSUER_CERT/;
const why: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "unknown host",
  ECONNRESET: "the connection was lost",
  ETIMEDOUT: "no answer",
};

/** The error for a request that got no answer, or lost its connection. */
export function readFetchError(asked: Asked, thrown: unknown): PaiError {
  if (thrown instanceof PaiError) return thrown;
  const { code = "unknown", message } = thrown as NodeJS.ErrnoException;
  const through = asked.proxy === false ? "" : ` through the proxy ${showProxy(asked)}`;
  const reason = why[code] ?? clean(text(message).replace(/ For more information.*/, ""), asked);
  // Some reasons already contain the code.
  const explained = reason.includes(code) ? reason : `${reason} (${code})`;
  const what = `cannot reach ${asked.provider} at ${asked.address}${through}: ${explained}`;
  if (tlsCodes.test(code)) {
    const hint = foreignCa.test(code)
      ? "your network re-signs TLS: set NODE_EXTRA_CA_CERTS to the file of its certificate"
      : "check the address, the clock and the certificate of the server";
    return failure("tls", what, onceSoon, { thrown, hint });
  }
  const hint = hintFor(asked);
  return failure("network", what, /^(ECONNRESET|EPIPE|ECONNABORTED)$/.test(code) ? often : onceSoon, { thrown, hint });
}

function hintFor({ provider, proxy }: Asked): string {
  if (proxy !== false) return "check the proxy (HTTPS_PROXY, NO_PROXY)";
  return provider === "local"
    ? "start the server, or say where it is: OLLAMA_HOST, PAI_BASE_URL"
    : "check the network and the address";
}

function showProxy(asked: Asked): string {
  return asked.proxy === false ? "" : withoutUser(asked.proxy);
}

/** A wait in words, rounded up: `12 s`, `5 min`, `3 h`. */
export function renderWait(seconds: number): string {
  if (seconds <= 120) return `${Math.ceil(seconds)} s`;
  return seconds <= 7200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}
