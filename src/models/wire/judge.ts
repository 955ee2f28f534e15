/** What an error of a provider means: one row for each kind, judged by its names and words before its status. */
import type { ErrorCode } from "../../core/error.ts";
import { fields, listIn, parseJson, textIn, type WireFields } from "./fields.ts";

/** How often a failed request may be sent again, and after how long; null: the growing waits of `withRetry`. */
export interface Retry {
  readonly times: number;
  readonly waitMs: number | null;
}

export const never: Retry = { times: 0, waitMs: 0 };
export const often: Retry = { times: 5, waitMs: null };
export const onceSoon: Retry = { times: 1, waitMs: 1000 };
export const onceAtOnce: Retry = { times: 1, waitMs: 0 };

export interface Parties {
  readonly provider: string;
  readonly model: string;
  readonly address: string;
  /** "the key …", or "the request without a key". */
  readonly key: string;
  readonly proxy: string;
}

interface Kind {
  readonly code: ErrorCode;
  readonly retry: Retry;
  readonly is: (status: number, body: ErrorBody) => boolean;
  readonly what: (parties: Parties, status: number) => string;
  readonly hint?: (parties: Parties) => string;
}

const named = (names: RegExp, { names: given }: ErrorBody): boolean => given.some((name) => names.test(name));
const isRefusal = (status: number): boolean => status >= 400 && status < 500;

const creditNames =
  /^(insufficient_(quota|credits?|funds)|billing_not_active|billing_hard_limit_reached|billing_error|credit_exhausted|payment_required|\w*spend_limit_reached|linked_organization_billing_unavailable)$/i;
const creditWords =
  /credit balance|out of credits?|credits? (are|is|have been) (depleted|exhausted)|insufficient (credit|fund|balance)|spend(ing)? (limit|cap)|billing (hard )?limit|monthly budget/i;
const keyWords = /api.?key (not valid|expired|is invalid)|invalid api.?key|API_KEY_INVALID/i;
const modelNames = /^(model_not_found|invalid_model|unknown_model|DeploymentNotFound)$/;
const modelWords = new RegExp(
  [
    "not a valid model|invalid model\\b|unknown model|model identifier is invalid|^model: \\S+$",
    "no (allowed |available )?(endpoints|providers)\\b|deployment .*does not exist",
    "\\bmodels?\\b.{0,120}?(not exist|not found)",
    "\\bmodels?\\b\\S?( \\S+)? (is|was|has been) (no longer (available|supported)|decommissioned|retired)",
  ].join("|"),
  "i",
);
const accessWords = /(access to|verified to use) (the )?model|access to the model with/i;
const placeWords = /location is not supported|country, region,? or territory/i;
const perDay = (body: ErrorBody): boolean => body.quotaIds.some((id) => /per.?day/i.test(id));

/** Of 400 and 413; some services say 429 for a request that alone is over the limit of a minute. */
const tooLong = new RegExp(
  [
    "context[ _](length|limit|size|window)|request_too_large",
    "(prompt|input|request) (is )?too (long|large)|too many tokens",
    "exceed(s|ed)? ((the|model) )?(maximum (number|context|size|allowed)|limit of \\d|max length|model token limit|token limit)",
    "maximum (prompt|allowed input) length|range of input length|reduce (the length of the messages|your message size)",
  ].join("|"),
  "i",
);

const later = "try again later, or use another model";

/** The first row that fits an error decides. */
const kinds: readonly Kind[] = [
  {
    code: "reply_blocked",
    retry: never,
    is: (_, body) => named(/^content_(filter|policy)|_policy$/, body),
    what: () => "the model refused to go on",
    hint: () => "word the task differently, or choose another model",
  },
  {
    code: "provider_down",
    retry: never,
    is: (status, { message }) => isRefusal(status) && placeWords.test(message),
    what: ({ provider }) => `${provider} does not serve the place where you are`,
    hint: () => "use another provider (see: pai models), or an HTTPS_PROXY in a place that it serves",
  },
  {
    code: "model_unknown",
    retry: never,
    is: (status, { message }) => status === 429 && /free.?tier/i.test(message) && /limit: 0\b/.test(message),
    what: ({ provider, model, key }) => `the free tier of ${key} at ${provider} does not include the model ${model}`,
    hint: () => "choose another model (see: pai models), or turn on billing for the key's project",
  },
  {
    code: "credit_exhausted",
    retry: never,
    is: (status, body) =>
      status === 402 ||
      named(creditNames, body) ||
      (isRefusal(status) && body.quotaIds.length === 0 && creditWords.test(body.message)),
    what: ({ provider, key }) => `the credit of ${key} at ${provider} is used up`,
    hint: ({ provider }) => `top it up at ${provider}, or use another key`,
  },
  {
    code: "model_unknown",
    retry: never,
    is: (status, { message }) => [400, 403, 404].includes(status) && accessWords.test(message),
    what: ({ provider, model, key }) => `${provider} gives ${key} no access to the model ${model}`,
    hint: () => "choose another one with --model or PAI_MODEL (see: pai models), or ask for access there",
  },
  {
    code: "model_unknown",
    retry: never,
    is: (status, body) =>
      [400, 403, 404, 422].includes(status) && (named(modelNames, body) || modelWords.test(body.message)),
    what: ({ provider, model }) => `${provider} does not know the model ${model}`,
    hint: () => "choose another one with --model or PAI_MODEL (see: pai models)",
  },
  {
    code: "request_too_long",
    retry: never,
    is: (status, { message, names }) =>
      status === 413 ||
      ([400, 422].includes(status) && tooLong.test([message, ...names].join(" "))) ||
      (status === 429 && /request too large/i.test(message)),
    what: ({ provider, model }, status) => `${provider} finds the request too long for ${model} (HTTP ${status})`,
    hint: () => "name fewer or smaller files in the task",
  },
  {
    code: "key_rejected",
    retry: never,
    is: (status, { names, message }) =>
      status === 401 || status === 403 || (status === 400 && keyWords.test([...names, message].join(" "))),
    what: ({ provider, key }, status) => `${provider} refused ${key} (HTTP ${status})`,
    hint: ({ provider }) => `check it with: pai key check --online --provider ${provider}`,
  },
  {
    code: "quota",
    retry: never,
    is: (status, body) => status === 429 && perDay(body),
    what: ({ provider, key }) => `the daily quota of ${key} at ${provider} is used up`,
  },
  {
    code: "quota",
    retry: often,
    is: (status) => status === 429,
    what: ({ provider, key }) => `${key} is over its limit at ${provider}`,
  },
  {
    code: "network",
    retry: never,
    is: (status) => status === 404,
    what: ({ provider, address }) => `${address} has no ${provider} service at the base URL (HTTP 404)`,
    hint: () => "check the base URL; if it is right, the name of the model (see: pai models)",
  },
  {
    code: "network",
    retry: never,
    is: (status) => status === 407,
    what: ({ proxy }) => `the proxy ${proxy} wants a user and password`,
    hint: () => "give them in HTTPS_PROXY: http://user:password@host:port",
  },
  {
    code: "provider_down",
    retry: often,
    is: (status) => status === 408 || status === 409,
    what: ({ provider }, status) => `${provider} could not answer in time (HTTP ${status})`,
    hint: () => later,
  },
  {
    code: "provider_down",
    retry: often,
    is: (status) => status >= 500,
    what: ({ provider }, status) => `${provider} is not available (HTTP ${status})`,
    hint: () => later,
  },
];

const rejected: Kind = {
  code: "request_rejected",
  retry: never,
  is: () => true,
  what: ({ provider }, status) => `${provider} rejected the request (HTTP ${status})`,
};

/** The kind of an error. `daily`: it is about a quota that returns with Google's next day. */
export function judgeReply(status: number, body: ErrorBody): Omit<Kind, "is"> & { readonly daily: boolean } {
  const kind = kinds.find(({ is }) => is(status, body)) ?? rejected;
  return { ...kind, daily: kind.code === "quota" && perDay(body) };
}

export interface ErrorBody {
  readonly message: string;
  /** All names that the provider gives this error: status, type, code, parameter, reasons. */
  readonly names: readonly string[];
  readonly quotaIds: readonly string[];
  /** As Google writes it: "17s"; "" for none. */
  readonly retryDelay: string;
}

/** `{"error":{…}}`, `[{"error":{…}}]`, `{"error":"text"}`, `{"message":…}`, or any other text. */
export function readErrorBody(source: string): ErrorBody {
  const parsed = parseJson(source);
  const outer = fields(Array.isArray(parsed) ? parsed[0] : parsed);
  const error = fields(outer["error"]);
  const details = [error["details"]].flat().map(fields);
  const plain = parsed === undefined ? source.replace(/<(style|script)[\s\S]*?<\/\1>|<[^>]*>/gi, " ") : "";
  const message =
    textIn(error["message"]) ||
    textIn(outer["error"]) ||
    textIn(outer["message"]) ||
    readDetail(outer["detail"]) ||
    plain;
  const own: ErrorBody = {
    message,
    names: [error, outer, ...details]
      .flatMap(({ status, type, code, param, reason, error_code }) => [status, type, code, param, reason, error_code])
      .map(textIn)
      .filter(Boolean),
    quotaIds: details
      .flatMap((detail) => listIn(detail["violations"]).map((each) => textIn(fields(each)["quotaId"])))
      .filter(Boolean),
    retryDelay: details.map((detail) => textIn(detail["retryDelay"])).find(Boolean) ?? "",
  };
  return withUpstream(own, fields(error["metadata"]));
}

/** A gateway passes on the error of the provider behind it as text (`metadata.raw`), beside words that tell nothing. */
function withUpstream(own: ErrorBody, { raw, provider_name }: WireFields): ErrorBody {
  if (raw === undefined || raw === null) return own;
  const inner = readErrorBody(typeof raw === "string" ? raw : JSON.stringify(raw));
  const who = textIn(provider_name) === "" ? "" : ` (${textIn(provider_name)})`;
  return {
    message: `${own.message}${who}: ${inner.message}`,
    names: [...own.names, ...inner.names],
    quotaIds: [...own.quotaIds, ...inner.quotaIds],
    retryDelay: own.retryDelay || inner.retryDelay,
  };
}

/** `"text"`, or a list of what is wrong where: `[{"loc": ["body", "x"], "msg": "not permitted"}]`. */
function readDetail(detail: unknown): string {
  if (typeof detail === "string") return detail;
  const faults = listIn(detail).map(fields);
  return faults.map(({ loc, msg }) => `${listIn(loc).join(".")}: ${textIn(msg)}`).join("; ");
}
