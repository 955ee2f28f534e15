/** Shows a run in an editor: events become updates of the session, in order, and diffs become whole files. */

import type { PlanEntry, SessionUpdate, ToolCall, ToolCallContent, ToolKind } from "@agentclientprotocol/sdk";
import { applyPatch, parsePatch, type StructuredPatch } from "diff";
import { type Failure, orNull } from "../core/error.ts";
import type { RunEvent, StampedEvent } from "../core/event.ts";
import { type ChangeSummary, type Outcome, type Promised, renderProof, type Status } from "../core/outcome.ts";
import { type Plan, workOf } from "../core/plan/plan.ts";
import { rowOf } from "../core/vocabulary.ts";

type EventOf<T extends RunEvent["type"]> = Extract<RunEvent, { readonly type: T }>;

interface FaceOptions {
  readonly send: (update: SessionUpdate) => Promise<void>;
  readonly absolute: (path: string) => string;
  /** A file's text before the change; null: it is not text. */
  readonly readText: (path: string) => Promise<string | null>;
}

const maxOutput = 8000;

const text = (said: string) => ({ type: "text", text: said }) as const;

function kindOfBatch(changes: readonly ChangeSummary[]): ToolKind {
  if (changes.every(({ op }) => op === "delete")) return "delete";
  return changes.every(({ op }) => op === "move") ? "move" : "edit";
}

function kindOfAction(action: string): ToolKind {
  const row = rowOf(action);
  if (row?.kind === "command") return "execute";
  if (row?.kind !== "look") return "other";
  return row.form === "pattern" ? "search" : "read";
}

const titleOf = (changes: readonly ChangeSummary[]) =>
  changes.map(({ op, path, from }) => `${op} ${from === null ? "" : `${from} → `}${path}`).join(", ");

export function createFace(options: FaceOptions) {
  const { send, absolute } = options;
  /** Updates are sent one after the other: some wait for files that must be read first. */
  let queue = Promise.resolve();
  let plan: Plan | null = null;
  const done = new Set<string>();
  /** A batch of changes, and the tool call with its diffs that the editor was sent. */
  let batch: { readonly changes: readonly ChangeSummary[]; readonly toolCall: ToolCall } | null = null;
  /** The plan as it was shown last, so that nothing is shown twice. */
  let planShown = "[]";
  /** The part of the answer that has been shown, so that the end does not repeat it. */
  let said = "";

  const later = (make: () => SessionUpdate | null | Promise<SessionUpdate | null>): void => {
    queue = queue
      .then(async () => {
        const update = await make();
        if (update !== null) await send(update);
      })
      // The editor has disconnected, which also ends the run.
      .catch(() => {});
  };
  const say = (words: string) => later(() => ({ sessionUpdate: "agent_message_chunk", content: text(words) }));
  const think = (words: string) => later(() => ({ sessionUpdate: "agent_thought_chunk", content: text(words) }));
  const update = (toolCallId: string, status: NonNullable<ToolCall["status"]>) =>
    later(() => ({ sessionUpdate: "tool_call_update", toolCallId, status }));

  function showPlan(isOver: boolean): void {
    const steps = plan === null ? [] : workOf(plan);
    const first = steps.find(({ action, target }) => !done.has(`${action} ${target}`));
    const entries = steps.map((step): PlanEntry => {
      const isDone = isOver || done.has(`${step.action} ${step.target}`);
      return {
        content: `${step.action} ${step.target}${step.purpose === "" ? "" : `: ${step.purpose}`}`,
        priority: "medium",
        status: isDone ? "completed" : step === first ? "in_progress" : "pending",
      };
    });
    const news = JSON.stringify(entries);
    if (news === planShown) return;
    planShown = news;
    later(() => ({ sessionUpdate: "plan", entries }));
  }

  function showProposed(event: EventOf<"changes.proposed">): void {
    const { changes } = event;
    const paths = changes.flatMap(({ path, from }) => [path, ...(from === null ? [] : [from])]);
    later(async () => {
      const toolCall: ToolCall = {
        toolCallId: `batch-${event.batch}`,
        title: titleOf(changes),
        kind: kindOfBatch(changes),
        status: "pending",
        locations: paths.map((path) => ({ path: absolute(path) })),
        content: await describeChanges(event, options),
      };
      batch = { changes, toolCall };
      return { sessionUpdate: "tool_call", ...toolCall };
    });
  }

  function showCall({ id, action, target, ok, text: result }: EventOf<"call.finished">): void {
    const kind = rowOf(action)?.kind;
    if (ok) done.add(`${action} ${target}`);
    if (kind === "change") {
      if (ok) showPlan(false);
      else think(`${action} ${target}: ${result}\n`);
      return;
    }
    const status = ok ? "completed" : "failed";
    const content = result === "" ? {} : { content: [{ type: "content" as const, content: text(result) }] };
    later(() => ({ sessionUpdate: "tool_call_update", toolCallId: id, status, ...content }));
  }

  function showCheck({ when, command, passed, output, exit }: EventOf<"check.finished">): void {
    if (passed === null || (when === "before" && passed)) return;
    const words = output.length > maxOutput ? `…${output.slice(-maxOutput)}` : output;
    later(() => ({
      sessionUpdate: "tool_call",
      toolCallId: `check-${when}-${crypto.randomUUID()}`,
      title: `check${when === "before" ? " before the change" : ""}: ${command}`,
      kind: "execute",
      status: passed ? "completed" : "failed",
      content: [{ type: "content", content: text(`${words.trimEnd()}\nexit ${exit ?? "none"}`.trimStart()) }],
    }));
  }

  const shows: { readonly [T in RunEvent["type"]]?: (event: EventOf<T>) => void } = {
    "plan.ready"(event) {
      plan = event.plan;
      if (plan.intent === "conversation") return;
      showPlan(false);
      say(renderPromise(event.plan, event.promise, said));
    },
    "model.delta"({ channel, text: piece }) {
      if (channel === "thought") think(piece);
      if (channel !== "reply") return;
      said += piece;
      say(piece);
    },
    "call.started"({ id, action, target }) {
      if (rowOf(action)?.kind === "change") return;
      later(() => ({
        sessionUpdate: "tool_call",
        toolCallId: id,
        title: `${action} ${target}`.trim(),
        kind: kindOfAction(action),
        status: "in_progress",
      }));
    },
    "call.finished": showCall,
    "changes.proposed": showProposed,
    "changes.decided": ({ batch: n, accept }) => update(`batch-${n}`, accept ? "in_progress" : "failed"),
    "changes.applied"({ batch: n, changes }) {
      if (changes.every(({ by }) => by === "command")) think(`by command: ${titleOf(changes)}\n`);
      else update(`batch-${n}`, "completed");
    },
    "changes.rolled_back"({ changes }) {
      if (changes.length > 0) say(`\nTaken back: ${titleOf(changes)}\n`);
    },
    "check.finished": showCheck,
    "memory.kept"({ facts }) {
      for (const { id, text: fact } of facts) say(`\nRemembered: ${fact} (dropped with: pai memory drop ${id})\n`);
    },
    notice({ level, text: words }) {
      if (level === "warning") say(`\nwarning: ${words}\n`);
      else think(`${words}\n`);
    },
  };

  return {
    sink: (event: StampedEvent) => {
      // An event that cannot be shown must not end the run; the outcome still tells everything.
      orNull(() => (shows[event.type] as ((event: RunEvent) => void) | undefined)?.(event));
    },
    shown: () => queue,
    batch: () => batch,
    plan: () => plan,
    async finish(outcome: Outcome) {
      if (plan !== null && outcome.ok) showPlan(true);
      say(renderEnd(outcome, said));
      await queue;
    },
  };
}

const modelCalls = (count: number) => `${count} model ${count === 1 ? "call" : "calls"}`;
const tokens = (count: number | null) => (count === null ? "" : `, about ${count.toLocaleString("en-US")} tokens`);
const price = (cost: number | null) =>
  cost === null ? "" : `, $${cost < 0.01 ? cost.toPrecision(2) : cost.toFixed(2)}`;

/** "2 steps. Expected 2 model calls, at most 3, about 2,400 tokens, $0.0012". `said`: what was shown of the reply. */
export function renderPromise(plan: Plan, { expected, at_most, tokens: count, cost }: Promised, said: string): string {
  const steps = workOf(plan).length;
  const reply = plan.reply === "" ? "" : said.trimEnd().endsWith(plan.reply.trimEnd()) ? "\n\n" : `${plan.reply}\n\n`;
  return `${reply}${steps} ${steps === 1 ? "step" : "steps"}. Expected ${modelCalls(expected)}, at most ${at_most}${tokens(count)}${price(cost)}.\n\n`;
}

function renderError(status: Status, { message, hint }: Failure, changes: Outcome["changes"]): string {
  const isPart = status === "partial";
  const lead = isPart ? "Kept" : "Changed and not taken back";
  const left =
    changes.length === 0 ? "Nothing was changed." : `${lead}: ${changes.map(({ path }) => path).join(", ")}.`;
  return `${isPart ? "" : `${status}: `}${message}${hint === null ? "" : ` (${hint})`}. ${left}`;
}

function renderStatus(outcome: Outcome): string {
  const { status, changes, error, calls, usage, cost } = outcome;
  const spent = `${modelCalls(calls.made)}${tokens(usage.input + usage.output)}${price(cost)}`;
  if (error !== null) return `${renderError(status, error, changes)} ${spent}.`;
  if (status === "answered") return `${spent}.`;
  const proof = renderProof(outcome);
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

/** Of larger files only the hunks are shown. */
const maxCharacters = 400_000;

/** One side of all hunks, in the order of the file. */
const sideOf = ({ hunks }: StructuredPatch, sign: "+" | "-") =>
  hunks
    .map(({ lines }) =>
      lines
        .filter((line) => line[0] === " " || line[0] === sign)
        .map((line) => line.slice(1))
        .join("\n"),
    )
    .join("\n…\n");

function readPatches(diff: string): ReadonlyMap<string, StructuredPatch> {
  const patches = orNull(() => parsePatch(diff)) ?? [];
  const nameOf = ({ oldFileName = "", newFileName = "" }: StructuredPatch) =>
    (newFileName === "/dev/null" ? oldFileName : newFileName).replace(/^[ab]\//, "");
  return new Map(patches.map((patch) => [nameOf(patch), patch]));
}

/** One diff for each changed file that is text. */
export async function describeChanges(
  { changes, diff }: Pick<EventOf<"changes.proposed">, "changes" | "diff">,
  { readText, absolute }: Omit<FaceOptions, "send">,
): Promise<ToolCallContent[]> {
  const patches = readPatches(diff);
  const described = changes.map(async ({ path, from, op }) => {
    const before = op === "create" || op === "mkdir" ? null : await readText(from ?? path).catch(() => null);
    const sides = sidesOf(op, before, patches.get(path));
    return sides === null ? [] : [{ type: "diff", path: absolute(path), ...sides } as const];
  });
  return (await Promise.all(described)).flat();
}

function sidesOf(
  op: ChangeSummary["op"],
  before: string | null,
  patch: StructuredPatch | undefined,
): { readonly oldText: string | null; readonly newText: string } | null {
  if (op === "mkdir") return null;
  if (op === "delete") return { oldText: before ?? "", newText: "" };
  // A move alone changes no line.
  if (patch === undefined) return op === "move" ? { oldText: before ?? "", newText: before ?? "" } : null;
  // A patch with masked keys does not fit.
  const after = (before?.length ?? 0) <= maxCharacters && applyPatch(before ?? "", patch);
  return after === false
    ? { oldText: sideOf(patch, "-"), newText: sideOf(patch, "+") }
    : { oldText: before, newText: after };
}
