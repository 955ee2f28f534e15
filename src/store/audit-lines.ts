/** Renders events as lines of the readable audit log: one record a line, masked, so that no text can forge a record. */
import type { StampedEvent } from "../core/event.ts";
import type { Amendment, ChangeSummary, CheckResult, Outcome } from "../core/outcome.ts";
import type { Plan } from "../core/plan/plan.ts";
import { maskSecrets } from "../core/secrets/key-shapes.ts";

type Entry = readonly [kind: string, text: string];

const longest = 4000;

/** Lines of an event, each with a final LF; "" for events that only repeat others (deltas). */
export function renderAuditLines(event: StampedEvent): string {
  const stamp = `[${renderTime(new Date(event.at))}]`;
  return entriesOf(event)
    .map(([kind, text]) => `${stamp} ${kind} ${escapeLine(shorten(maskSecrets(text)))}\n`)
    .join("");
}

/** A time as `2026-01-31 14:05:09+00:00`. */
export function renderTime(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace("T", " ")}+00:00`;
}

function shorten(text: string): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, longest).toWellFormed()} … (${text.length - longest} more characters)`;
}

/** Characters to escape. The joiners and presentation marks of emoji are kept. */
const acting =
  /(?![\u200d\ufe0e\ufe0f])(?:\p{Cc}|\p{Cs}|\p{Default_Ignorable_Code_Point}|[\u2028\u2029\ufff9-\ufffb])/gu;
/** Matches most records, which need no escaping. */
const plain = /^[ -~]*$/;
const short: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Escapes control characters, line separators and bidirectional marks. */
function escapeLine(text: string): string {
  if (plain.test(text)) return text;
  return text.replace(acting, (mark) => {
    const hex = (mark.codePointAt(0) ?? 0).toString(16);
    return short[mark] ?? (hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`);
  });
}

function entriesOf(event: StampedEvent): readonly Entry[] {
  switch (event.type) {
    case "run.started":
      return [
        ["SESSION", `run ${event.run}, pai ${event.pai}, ${event.mode}, ${event.model}, in ${event.root}`],
        ["USER", event.task],
      ];
    case "plan.ready":
      return planEntries(event.plan, event.cached, event.promise);
    case "plan.amended":
      return [["AMENDED", renderAmendment(event)]];
    case "memory.kept":
      return event.facts.map(
        ({ id, text, pending }): Entry => ["MEMORY", `${id}${pending ? " pending" : ""}: ${text}`],
      );
    case "model.started":
      return [["CALL", `${event.n} ${event.purpose} to ${event.model}, about ${event.estimate} tokens`]];
    case "model.delta":
    case "message.added":
    case "conversation.replaced":
    case "context.sent":
    case "model.progress":
      return [];
    case "tasks.updated":
      return event.tasks.map(({ id, status, content }): Entry => ["TASK", `${id} ${status}: ${content}`]);
    case "model.finished": {
      const { input, cached, output, thought } = event.usage;
      const tokens = `${input} tokens in (${cached} cached), ${output} out (${thought} thought)`;
      const by = event.served === "" ? "no answer" : `served by ${event.served}, key ${event.key ?? "none"}`;
      return [["CALL", `${event.n} ${event.stop}, ${tokens}, ${by}, ${event.ms} ms`]];
    }
    case "phase.started":
      return [["PHASE", `${event.phase} of ${event.of}`]];
    case "step.started":
      return [["STEP", `${event.step}/${event.of} ${event.title}${event.text === "" ? "" : `: ${event.text}`}`]];
    case "call.started":
      return [["ACTION", `${event.action} ${event.target}`]];
    case "call.finished":
      return [["RESULT", `${event.ok ? "ok" : "failed"} ${event.action} ${event.target}: ${event.text}`]];
    case "look.shown":
      return [["OUTPUT", `${event.action} ${event.target}: ${event.text}`]];
    case "changes.proposed":
      return changeEntries(`proposed in batch ${event.batch}`, event.changes);
    case "changes.decided":
      return [
        ["DECISION", `batch ${event.batch} ${event.accept ? "accepted" : "declined"} by ${event.by}`],
        ...changeEntries(event.accept ? "accepted" : "declined", event.changes),
      ];
    case "changes.applied":
      return changeEntries("applied", event.changes);
    case "changes.rolled_back":
      return changeEntries("rolled back", event.changes);
    case "check.started":
      return [];
    case "check.finished":
      return [["CHECK", renderCheck(event, event.when, event.output)]];
    case "budget.updated":
      return [["BUDGET", `${event.calls} calls, ${event.tokens} tokens, ${renderCost(event.cost)}`]];
    case "notice":
      return [["NOTICE", `${event.level} ${event.code}: ${event.text}`]];
    case "run.finished":
      return outcomeEntries(event.outcome);
  }
}

function renderAmendment({ action, path, destination, why, accept, by }: Amendment): string {
  const what = `${action} ${path}${destination === null ? "" : ` to ${destination}`}`;
  return `${accept ? "accepted" : "refused"} by ${by}: ${what}${why === "" ? "" : ` - ${why}`}`;
}

function renderCheck(check: CheckResult, when: string, output: string): string {
  const result = check.passed === null ? "not run" : check.passed ? "passed" : "failed";
  const exit = check.exit === null ? "" : `, exit ${check.exit}`;
  return `${result}${exit}, ${check.ms} ms, ${when} the change: ${check.command}${output === "" ? "" : `: ${output}`}`;
}

function planEntries(
  plan: Plan,
  cached: boolean,
  promise: { readonly expected: number; readonly at_most: number; readonly tokens: number | null },
): readonly Entry[] {
  const { steps = [], checks = [] } = plan.execution_plan ?? {};
  const calls = `${promise.expected} calls expected, at most ${promise.at_most}, ${promise.tokens ?? "unknown"} tokens`;
  return [
    ["PLAN", `${plan.intent}${cached ? " (cached)" : ""}, ${calls}: ${plan.reply}`],
    ...factEntries(plan),
    ...steps.map((step): Entry => {
      const to = step.destination === null ? "" : ` to ${step.destination}`;
      return ["STEP", `${step.step_number}. ${step.action} ${step.target}${to} - ${step.purpose}`];
    }),
    ...checks.map((check): Entry => ["STEP", `check: ${check}`]),
  ];
}

/** The parts of a plan besides its steps: intent, files, criteria, and the model's other notes. */
function factEntries({ analysis, execution_plan: work, intelligence_notes: notes }: Plan): readonly Entry[] {
  const facts: readonly (readonly [string, string | readonly string[] | undefined])[] = [
    ["INTENT", analysis?.user_intent],
    ["WHERE", analysis?.target_identification],
    ["READS", analysis?.files_to_read],
    ["CREATES", analysis?.files_to_create],
    ["MODIFIES", analysis?.files_to_modify],
    ["DELETES", analysis?.files_to_delete],
    ["RISK", analysis?.risk_assessment],
    ["CRITERIA", analysis?.success_criteria],
    ["COMPLEXITY", notes?.complexity_assessment],
    ["TIME", notes?.estimated_time],
    ["CHALLENGES", notes?.key_challenges],
    ["ADVICE", notes?.recommendations],
    ["FALLBACK", work?.fallback_strategies],
  ];
  return facts.flatMap(([kind, said = ""]): readonly Entry[] => {
    const text = typeof said === "string" ? said : said.join("; ");
    return text.trim() === "" ? [] : [[kind, text]];
  });
}

function changeEntries(what: string, changes: readonly ChangeSummary[]): readonly Entry[] {
  return changes.map((change): Entry => {
    const from = change.from === null ? "" : ` from ${change.from}`;
    const by = change.by === "command" ? " by command" : "";
    return ["CHANGE", `${what}: ${change.op} ${change.path}${from} +${change.added} -${change.deleted}${by}`];
  });
}

function outcomeEntries(outcome: Outcome): readonly Entry[] {
  const { error } = outcome;
  const used = `${outcome.calls.made} calls of at most ${outcome.calls.at_most}`;
  const tokens = `${outcome.usage.input + outcome.usage.output} tokens`;
  const score = outcome.score === null ? "" : `, score ${outcome.score}`;
  const { done, failed, refused } = outcome.actions;
  const actions = `actions ${done} done, ${failed} failed, ${refused} refused`;
  return [
    ...(outcome.text === "" ? [] : [["REPLY", outcome.text] as const]),
    ...(error === null ? [] : [["ERROR", `${error.code}: ${error.message}`] as const]),
    ...outcome.refused.map(({ action, target, why }): Entry => ["REFUSED", `${action} ${target}: ${why}`]),
    ...(outcome.stays === undefined ? [] : [["STAYS", renderStays(outcome.stays)] as const]),
    [
      "STATUS",
      `${outcome.status}, exit ${outcome.code}, ${used}, ${tokens}, ${renderCost(outcome.cost)}${score}, ${actions}, ${outcome.ms} ms`,
    ],
    ...outcome.next.map((next): Entry => ["SUGGESTION", next]),
  ];
}

function renderStays({ count, paths }: NonNullable<Outcome["stays"]>): string {
  const more = count > paths.length ? ` and ${count - paths.length} more` : "";
  return `changed by commands, ignored and not taken back: ${paths.join(", ")}${more}`;
}

function renderCost(cost: number | null): string {
  return cost === null ? "cost unknown" : `${cost.toFixed(4)} USD`;
}
