/** How long a request is, and how long the reply to it may be: within the caps, the promise and what the model holds. */
import { PaiError } from "../core/error.ts";
import { type ModelRequest, sizeOf } from "../core/model.ts";
import { refuseHuge } from "./ledger.ts";
import type { Run } from "./run.ts";

/** A request as a flow words it; ask.ts finds out how long the reply may be and what must be hidden. */
export type ModelQuestion = Pick<ModelRequest, "purpose" | "system" | "messages" | "format"> &
  Partial<Pick<ModelRequest, "tools">>;

/** Characters of everything that is sent. */
export function charactersOf({ system, messages, format, tools = [] }: ModelQuestion): number {
  const schemas = [...(format === null ? [] : [format.schema]), ...tools];
  const defined = schemas.reduce<number>((sum, schema) => sum + JSON.stringify(schema).length, 0);
  return messages.reduce((sum, message) => sum + sizeOf(message), system.length + defined);
}

/** Tokens that must be left for a reply to say anything. */
export const leastReply = 256;
/** An estimate may be a fifth too low. */
export const margin = 1.2;

/**
 * Output tokens that the reply to a request of `estimate` tokens may have. Throws budget_* for a request that a cap or the
 * promise forbids, request_rejected for one that the model in use cannot hold.
 */
export function fit({ ledger, ports: { model }, options }: Run, estimate: number): number {
  refuseHuge(options, estimate);
  ledger.admit(estimate, leastReply);
  if (estimate + leastReply > model.window) {
    const message = `the request needs about ${estimate} tokens, ${model.id} holds ${model.window}`;
    throw new PaiError("request_rejected", message, { hint: "name fewer or smaller files in the task" });
  }
  const likely = Math.ceil(estimate * margin);
  return Math.max(leastReply, Math.min(model.maxOutputTokens, model.window - likely, ledger.room(likely)));
}

/** Says once that a request is long enough for its model's higher price. */
export function warnLongPromptPrice({ ports: { model, price }, record, emit }: Run, estimate: number): void {
  const above = price?.large?.above;
  if (above === undefined || estimate <= above || record.told.longPrompt) return;
  record.told.longPrompt = true;
  const text = `a request of more than ${above} tokens costs more with ${model.id} (see: pai models)`;
  emit({ type: "notice", level: "warning", code: "large_request", text });
}
