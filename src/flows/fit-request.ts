/** Measures a request, and computes how long its reply may be within caps, promise and the model's window. */
import { PaiError } from "../core/error.ts";
import { type Job, type ModelRequest, partOf, sizeOf } from "../core/model.ts";
import { refuseHuge } from "./ledger.ts";
import type { Run } from "./run.ts";

/** A request as a flow makes it; ask.ts adds the length of the reply and hides secrets. */
export type ModelQuestion = Pick<ModelRequest, "purpose" | "system" | "messages" | "format"> &
  Partial<Pick<ModelRequest, "tools" | "job">>;

/** Characters of everything that is sent, schemas included. */
export function charactersOf({ system, messages, format, tools = [] }: ModelQuestion): number {
  let size = system.length;
  for (const message of messages) size += sizeOf(message);
  if (format !== null) size += JSON.stringify(format.schema).length;
  for (const tool of tools) size += JSON.stringify(tool).length;
  return size;
}

/** The fewest output tokens with which a call makes sense. */
export const minReply = 256;
/** Factor on estimates, which may be too low by a fifth. */
export const margin = 1.2;

/**
 * Output tokens that the reply of a job's model to a request of `estimate` tokens may have. Throws budget_* when a cap or the promise
 * forbids the request, request_rejected when the current model cannot hold it.
 */
export function fit({ ledger, interactive, calling }: Run, estimate: number, job: Job): number {
  const model = partOf(calling.model, job);
  refuseHuge({ interactive, caps: calling.caps }, estimate);
  ledger.admit(estimate, minReply, job);
  if (estimate + minReply > model.window) {
    const message = `the request needs about ${estimate} tokens, ${model.id} may hold ${model.window}`;
    throw new PaiError("request_rejected", message, {
      hint: "name fewer or smaller files in the task, or state a larger window under `models` in the configuration",
    });
  }
  const likely = Math.ceil(estimate * margin);
  return Math.max(minReply, Math.min(model.maxOutputTokens, model.window - likely, ledger.room(likely, job)));
}

/** Says once that a request is long enough for its model's higher price. */
export function warnLongPromptPrice({ calling, emit }: Run, estimate: number, job: Job): void {
  const { model, price } = calling;
  const above = price(job)?.large?.above;
  if (above === undefined || estimate <= above || calling.priceTold) return;
  calling.priceTold = true;
  const text = `a request of more than ${above} tokens costs more with ${partOf(model, job).id} (see: pai models)`;
  emit({ type: "notice", level: "warning", code: "large_request", text });
}
