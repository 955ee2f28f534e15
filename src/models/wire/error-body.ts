/** Reads the body of an error, in whatever form a provider or a gateway wrote it. */
import { fields, listIn, parseJson, textIn, type WireFields } from "./fields.ts";

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

/** The text up to about `limit` characters, without waiting for the rest. */
export async function readStart(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length >= limit) break;
  }
  return text;
}
