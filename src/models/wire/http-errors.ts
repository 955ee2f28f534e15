/** Turns an error of a provider or the network into a PaiError that says whether a retry may help. */
import { type ErrorCode, PaiError } from "../../core/error.ts";
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import { createVeil } from "../../core/secrets/veil.ts";
import { withoutUser } from "./endpoint.ts";
import { fields, textIn } from "./fields.ts";
import { judgeReply, never, often, onceSoon, type Retry, readErrorBody } from "./judge.ts";

/** Why a request failed; travels as the `cause` of its PaiError. */
export interface Setback {
  readonly retry: Retry;
  /** All words of the provider, of which the message shows the beginning; absent: the message has them all. */
  readonly words?: string;
}

export interface AskedServer {
  readonly provider: string;
  readonly model: string;
  /** `origin`: the variable that holds it, where its id is "env"; other keys are called by their id. */
  readonly key: { readonly id: string; readonly key: string; readonly origin?: string } | null;
  readonly address: string;
  readonly proxy: string | false;
}

const setbackOf = ({ cause }: PaiError): Partial<Setback> => fields(cause);

/** The retry that an error allows; `never` when it did not come from a request. */
export const retryOf = (error: PaiError): Retry => setbackOf(error).retry ?? never;

export const wordsOfError = (error: PaiError): string => setbackOf(error).words ?? error.message;

/** A PaiError that tells `withRetry` whether asking again may help. */
export const failure = (code: ErrorCode, message: string, retry: Retry, hint: string): PaiError =>
  new PaiError(code, message, { hint, cause: { retry } satisfies Setback });

function wished(headers: Headers, willing: Retry): Retry | null {
  const wish = headers.get("x-should-retry");
  if (wish === "false") return never;
  return wish === "true" ? willing : null;
}

/** The error for a status other than 2xx, or for an `error` object in a stream (then `status` is its code). */
export function readHttpError(
  asked: AskedServer,
  answer: { readonly status: number; readonly headers: Headers; readonly body: string; readonly now: number },
): PaiError {
  const body = readErrorBody(answer.body);
  const { code, retry, what, hint, daily } = judgeReply(answer.status, body);
  const parties = { ...asked, key: nameKey(asked), proxy: showProxy(asked) };
  const delay = daily ? secondsToNewDay(answer.now) : readDelay(answer.headers, body.retryDelay, answer.now);
  const said = clean(body.message, asked);
  const cause: Setback = {
    retry: wished(answer.headers, code === "request_rejected" ? often : retry) ?? retry,
    words: [body.message, ...body.names].join(" "),
  };
  const message = what(parties, answer.status);
  const advice = hint?.(parties);
  return new PaiError(code, said === "" ? message : `${message}: ${said}`, {
    hint: delay === null || (advice !== undefined && retry === never) ? advice : `try again in ${renderWait(delay)}`,
    cause,
    retryAfter: delay === null ? undefined : Math.ceil(delay),
  });
}

function nameKey({ key }: AskedServer): string {
  if (key === null) return "the request without a key";
  const { id, origin } = key;
  return id === "env" && origin !== undefined ? `the key in ${origin}` : `the key "${id}"`;
}

/** A provider's words on one line: no control characters, no key, at most 300 characters. */
function clean(message: string, asked: AskedServer): string {
  const plain = message.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  const masked = maskSecrets(createVeil({ known: asked.key === null ? [] : [asked.key.key] }).cover(plain));
  return masked.length > 300 ? `${masked.slice(0, 300)}…` : masked;
}

const tlsCodes = /CERT|SIGNATURE|SELF_SIGNED|ISSUER|^ERR_(SSL|TLS)|EPROTO/;
const foreignCa = /UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED|UNABLE_TO_GET_ISSUER_CERT/;
const why: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "unknown host",
  ECONNRESET: "it was closed",
  ETIMEDOUT: "no answer",
};

export function readFetchError(asked: AskedServer, thrown: unknown): PaiError {
  if (thrown instanceof PaiError) return thrown;
  const { code = "unknown", message } = thrown as NodeJS.ErrnoException;
  const through = asked.proxy === false ? "" : ` through the proxy ${showProxy(asked)}`;
  const reason = why[code] ?? clean(textIn(message).replace(/ For more information.*/, ""), asked);
  const explained = reason.includes(code) ? reason : `${reason} (${code})`;
  const wasLost = /^(ECONNRESET|EPIPE|ECONNABORTED)$/.test(code);
  const did = wasLost ? "lost the connection to" : "cannot reach";
  const what = `${did} ${asked.provider} at ${asked.address}${through}: ${explained}`;
  if (tlsCodes.test(code)) {
    const hint = foreignCa.test(code)
      ? "your network re-signs TLS: set NODE_EXTRA_CA_CERTS to the file of its certificate"
      : "check the address, the clock and the certificate of the server";
    return failure("tls", what, onceSoon, hint);
  }
  return failure("network", what, wasLost ? often : onceSoon, hintFor(asked));
}

function hintFor({ provider, proxy }: AskedServer): string {
  if (proxy !== false) return "check the proxy (HTTPS_PROXY, NO_PROXY)";
  return provider === "local"
    ? "start the server, or say where it is: OLLAMA_HOST, PAI_BASE_URL"
    : "check the network and the address";
}

const showProxy = (asked: AskedServer): string => (asked.proxy === false ? "" : withoutUser(asked.proxy));

/** A wait in words, rounded up: `12 s`, `5 min`, `3 h`. */
export function renderWait(seconds: number): string {
  if (seconds <= 120) return `${Math.ceil(seconds)} s`;
  return seconds <= 7200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}

/** Seconds until trying again makes sense, or null: `Retry-After-Ms`, `Retry-After` (seconds or a date), `retryDelay`. */
const readDelay = (headers: Headers, retryDelay: string, now: number): number | null =>
  seconds(headers.get("retry-after-ms"), 0.001) ??
  seconds(headers.get("retry-after"), 1) ??
  untilDate(headers.get("retry-after"), now) ??
  seconds(/^(\d+(?:\.\d+)?)s$/.exec(retryDelay)?.[1] ?? null, 1);

/** Seconds until midnight in California, when Google's daily quotas reset. */
function secondsToNewDay(now: number): number {
  const clock = new Intl.DateTimeFormat("en-GB", { timeZone: "America/Los_Angeles", timeStyle: "medium" }).format(now);
  const [hours = 0, minutes = 0, secs = 0] = clock.split(":").map(Number);
  return 86_400 - ((hours % 24) * 3600 + minutes * 60 + secs);
}

/** A longer wait counts as a mistake of the server. */
const maxDelay = 366 * 86_400;

function seconds(value: string | null, unit: number): number | null {
  const delay = value !== null && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) * unit : null;
  return delay === null || delay > maxDelay ? null : delay;
}

/** Seconds until an HTTP date. It must name a month, since Date.parse also reads "-5" and "5, 10" as dates. */
function untilDate(value: string | null, now: number): number | null {
  if (value === null || !/[a-z]{3}/i.test(value)) return null;
  const delay = (Date.parse(value) - now) / 1000;
  return Number.isNaN(delay) || delay > maxDelay ? null : Math.max(0, delay);
}
