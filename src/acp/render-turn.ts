/** Messages to an editor: the promise with the plan, and how the turn ended. */
import { type Outcome, type Promised, renderUnsettled } from "../core/outcome.ts";
import { type Plan, workOf } from "../core/plan/plan.ts";

const modelCalls = (count: number) => `${count} model ${count === 1 ? "call" : "calls"}`;
const tokens = (count: number | null) => (count === null ? "" : `, about ${count.toLocaleString("en-US")} tokens`);
const price = (cost: number | null) =>
  cost === null ? "" : `, $${cost < 0.01 ? cost.toPrecision(2) : cost.toFixed(2)}`;

/**
 * "2 steps. Expected 2 model calls, at most 3, about 2,400 tokens, $0.0012"; `said`: the part of the reply that was
 * shown already.
 */
export function renderPromise(plan: Plan, { expected, at_most, tokens: count, cost }: Promised, said: string): string {
  const steps = workOf(plan).length;
  const reply = plan.reply === "" ? "" : said.endsWith(plan.reply) ? "\n\n" : `${plan.reply}\n\n`;
  return `${reply}${steps} ${steps === 1 ? "step" : "steps"}. Expected ${modelCalls(expected)}, at most ${at_most}${tokens(count)}${price(cost)}.\n\n`;
}

function renderStatus({ status, checks, changes, error, calls, usage, cost, unsettled }: Outcome): string {
  const passed = checks.filter((check) => check.passed === true).length;
  const spent = `${modelCalls(calls.made)}${tokens(usage.input + usage.output)}${price(cost)}`;
  if (error !== null) {
    const outcome =
      changes.length === 0
        ? "Nothing was changed."
        : `Changed and not taken back: ${changes.map(({ path }) => path).join(", ")}.`;
    const hint = error.hint === null ? "" : ` (${error.hint})`;
    return `${status}: ${error.message}${hint}. ${outcome} ${spent}.`;
  }
  if (status === "answered") return `${spent}.`;
  const unproved = unsettled === undefined ? "" : `: ${renderUnsettled(unsettled, checks.length)}`;
  const proof = status === "verified" ? ` by ${passed} ${passed === 1 ? "check" : "checks"}` : unproved;
  const undo = changes.length === 0 ? "" : " Take it back with /undo.";
  return `${status}${proof}. ${spent}.${undo}`;
}

/** The text at the end of a turn. `said`: the part of the answer that was shown while it arrived. */
export function renderEnd(outcome: Outcome, said: string): string {
  const { text, next, refused } = outcome;
  // What a failed run claims to have done is not done.
  const answer =
    text === "" || outcome.error !== null || said.trimEnd().endsWith(text.trimEnd()) ? "" : `${text.trimEnd()}\n\n`;
  const steps = next.length === 0 ? "" : `Next:\n${next.map((step, at) => `${at + 1}. ${step}`).join("\n")}\n\n`;
  const left = refused.map(({ action, target, why }) => `not done: ${action} ${target}: ${why}\n`).join("");
  return `${said === "" ? "" : "\n\n"}${answer}${steps}${left}${renderStatus(outcome)}\n`;
}
