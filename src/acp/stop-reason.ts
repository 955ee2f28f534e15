/** Translates the outcome of a turn into the protocol. */
import type { PromptResponse, StopReason } from "@agentclientprotocol/sdk";
import type { ErrorCode } from "../core/error.ts";
import type { Outcome } from "../core/outcome.ts";

const reasons: Readonly<Partial<Record<ErrorCode, StopReason>>> = {
  interrupted: "cancelled",
  terminated: "cancelled",
  hangup: "cancelled",
  budget_calls: "max_turn_requests",
  budget_tokens: "max_tokens",
  budget_cost: "max_tokens",
  reply_cut: "max_tokens",
  reply_blocked: "refusal",
};

/** Failures of a turn that could not take place: they become errors of the protocol, which the editor shows. */
const failures: ReadonlySet<ErrorCode> = new Set([
  "internal",
  "config_invalid",
  "no_key",
  "key_invalid",
  "key_rejected",
  "untrusted",
  "network",
  "tls",
  "redirected",
  "provider_down",
  "quota",
  "credit_exhausted",
  "model_unknown",
  "request_rejected",
  "request_too_long",
]);

export const isProtocolError = ({ error }: Outcome): boolean => error !== null && failures.has(error.code as ErrorCode);

/** `usage` is still a draft in the protocol; clients that do not know it ignore it. */
export function responseOf(outcome: Outcome): PromptResponse {
  const { usage, cost, error, status, run } = outcome;
  const stopReason = error === null ? "end_turn" : (reasons[error.code as ErrorCode] ?? "end_turn");
  const counted = {
    totalTokens: usage.input + usage.output,
    inputTokens: usage.input,
    outputTokens: usage.output,
    thoughtTokens: usage.thought,
    cachedReadTokens: usage.cached,
  };
  const response = { stopReason, usage: counted, _meta: { pai: { run, status, code: outcome.code, cost } } };
  return response;
}
