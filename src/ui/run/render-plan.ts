/** Renders a plan for approval: steps as a table, files, checks, risk, and the promise. */
import type { Permitted } from "../../core/command/run-patterns.ts";
import type { Promised } from "../../core/outcome.ts";
import { type Plan, type PlanStep, workOf } from "../../core/plan/plan.ts";
import type { Concern } from "../../core/question.ts";
import { rowOf } from "../../core/vocabulary.ts";
import { counted, grouped, priced } from "../amount.ts";
import { hang, pad, widest, wrap, wrapPath } from "../layout.ts";
import { markMixed, visible, visibleLine } from "../sanitize.ts";
import type { Style } from "../style.ts";
import { renderAmended } from "./render-outcome.ts";
import type { ReplyText } from "./reply.ts";
import type { EventHandlers, EventOf } from "./show-work.ts";
import type { Streams } from "./streams.ts";

/** On a narrower terminal each step takes one line for the action and one for the purpose. */
const tableFrom = 56;
const gap = 2;

const rough = (tokens: number): string => grouped(Number(tokens.toPrecision(2)));

/** "expected 2, at most 3 calls, about 1,900 tokens (weighed 1,200), about $0.01"; leaves out unknown amounts. */
function renderPromise({ expected, at_most, tokens, weighed = tokens ?? 0, cost }: Promised): string {
  const kept = weighed < (tokens ?? 0) ? ` (weighed ${rough(weighed)})` : "";
  return [
    `expected ${grouped(expected)}`,
    `at most ${counted(at_most, "call")}`,
    ...(tokens === null || tokens === 0 ? [] : [`about ${rough(tokens)} tokens${kept}`]),
    ...(cost === null || cost === 0 ? [] : [`about ${priced(cost)}`]),
  ].join(", ");
}

type Concerns = ReadonlyMap<string, string>;

const plainPath = (path: string) => path.replace(/^\.\//, "");

function pathChanged({ action, target, destination }: PlanStep): string | null {
  const { form, right } = rowOf(action) ?? {};
  if (form === "pair") return plainPath(destination ?? "");
  return right === null || right === undefined || right === "command" ? null : plainPath(target);
}

function targetOf(step: PlanStep, concerns: Concerns, style: Style): string {
  const target = markMixed(visibleLine(step.target));
  const mark = concerns.has(pathChanged(step) ?? "") ? ` ${style.glyphs.warn.trim()}` : "";
  if (step.destination === null || step.destination === "") return target + mark;
  const other = visibleLine(step.destination);
  return ["pair", "setting"].includes(rowOf(step.action)?.form ?? "")
    ? `${target} ${style.glyphs.arrow} ${other}${mark}`
    : `${target} in ${other}`;
}

const purposeOf = (step: PlanStep): string => visible(step.purpose || step.expected_outcome).replace(/\s+/g, " ");

function stepLines(steps: readonly PlanStep[], concerns: Concerns, style: Style, columns: number | null): string[] {
  const numbers = String(steps.length).length;
  return steps.flatMap((step, at) => {
    const lead = `${String(at + 1).padStart(numbers)}  ${style.paint("change", step.action)} `;
    const why = purposeOf(step);
    return [
      ...hang(lead, targetOf(step, concerns, style), columns).map((line) => line.trimEnd()),
      ...(why === "" ? [] : hang(" ".repeat(numbers + gap), why, columns).map((line) => style.paint("dim", line))),
    ];
  });
}

/** Widths of step, action, target and purpose. The last two share the rest; the target gets up to half of it. */
function columnWidths(rows: readonly (readonly string[])[], columns: number): [number, number, number, number] {
  const need = (index: number) => widest(rows.map((row) => row[index] ?? ""));
  const room = columns - need(0) - need(1) - 3 * gap;
  const target = Math.min(need(2), Math.max(Math.floor(room / 2), room - need(3)));
  return [need(0), need(1), target, Math.min(need(3), room - target)];
}

function tableLines(steps: readonly PlanStep[], concerns: Concerns, style: Style, columns: number): string[] {
  const purposes = steps.map(purposeOf);
  const head = ["step", "action", "target", purposes.every((purpose) => purpose === "") ? "" : "purpose"];
  const rows = steps.map((step, at) => [
    String(at + 1).padStart(4),
    step.action,
    targetOf(step, concerns, style),
    purposes[at] ?? "",
  ]);
  const widths = columnWidths([head, ...rows], columns);
  const between = " ".repeat(gap);
  const lay = (cells: readonly string[]) => cells.map((cell, index) => pad(cell, widths[index] ?? 0));
  const body = rows.flatMap((row) => {
    const cells = row.map((cell, index) => (index === 2 ? wrapPath : wrap)(cell, widths[index] ?? columns));
    const height = Math.max(...cells.map((lines) => lines.length));
    return Array.from({ length: height }, (_, line) => {
      const [step = "", action = "", target = "", purpose = ""] = lay(cells.map((lines) => lines[line] ?? ""));
      return [step, style.paint("change", action), target, purpose.trimEnd()].join(between).trimEnd();
    });
  });
  const dim = (cells: readonly string[]) => style.paint("dim", cells.join(between).trimEnd());
  return [dim(lay(head)), dim(widths.map((width) => style.glyphs.rule.repeat(width))), ...body];
}

const noRisk = /^(?:(?:very |sangat )?(?:low|minimal|rendah|kecil)|none|no risk|n\/a|tidak ada)(?: risk)?\.?$/i;

function factsOf(plan: Plan, promise: string, concerns: Concerns, style: Style): Facts {
  const { analysis, execution_plan: work } = plan;
  const stepped = new Set(work?.steps.map(({ target }) => plainPath(target)));
  /** Leaves out what a step already says. */
  const listed = (items: readonly string[] | undefined) =>
    (items ?? [])
      .filter((item) => !stepped.has(plainPath(item)))
      .map(visibleLine)
      .join(", ");
  const untold = work?.steps.every((step) => purposeOf(step) === "");
  const aims = untold ? (analysis?.success_criteria ?? []) : [];
  return [
    ["aims", aims.map((aim, at) => `${at + 1}. ${visibleLine(aim)}`).join("\n")],
    ["reads", listed(analysis?.files_to_read)],
    ["creates", listed(analysis?.files_to_create)],
    ["modifies", listed(analysis?.files_to_modify)],
    ["deletes", listed(analysis?.files_to_delete)],
    [
      `${style.glyphs.warn.trim()} asked`,
      [...concerns].map(([path, why]) => `${visibleLine(path)}: ${why}`).join("\n"),
    ],
    ["checks", (work?.checks ?? []).map(visibleLine).join("\n")],
    ["calls", promise],
  ];
}

type Facts = readonly (readonly [name: string, value: string])[];

function layFacts(facts: Facts, style: Style, columns: number | null): string[] {
  const filled = facts.filter(([, value]) => value !== "");
  const width = widest(filled.map(([name]) => name)) + gap;
  return filled.flatMap(([name, value]) => hang(style.paint("dim", pad(name, width)), value, columns));
}

const renderPermitted = (permitted: readonly Permitted[]): Facts[number] => [
  "permitted",
  permitted.map(({ command, pattern }) => `${visibleLine(command)}  (--allow-run=${visibleLine(pattern)})`).join("\n"),
];

function headLines(plan: Plan, style: Style, columns: number | null): string[] {
  const { analysis, intelligence_notes: notes } = plan;
  const risk = visible(analysis?.risk_assessment ?? "").trim();
  const facts: Facts = [
    ["intent", visible(analysis?.user_intent ?? "").trim()],
    ["complexity", notes?.complexity_assessment ?? ""],
    ["risk", risk === "" || noRisk.test(risk) ? "" : risk],
  ];
  return layFacts(facts, style, columns);
}

function unaskedLines({ execution_plan: work, intelligence_notes: notes }: Plan): Facts {
  const joined = (texts: readonly string[] | undefined) => (texts ?? []).map(visible).join("\n");
  return [
    ["time", visible(notes?.estimated_time ?? "").trim()],
    ["challenges", joined(notes?.key_challenges)],
    ["advice", joined(notes?.recommendations)],
    ["fallback", joined(work?.fallback_strategies)],
  ];
}

interface PlanOptions {
  /** null: not a terminal, no wrapping. */
  readonly columns: number | null;
  /** Includes the model's further notes. */
  readonly verbose?: boolean;
  readonly permitted?: readonly Permitted[] | undefined;
  readonly concerns?: readonly Concern[] | undefined;
  readonly guides?: readonly string[] | undefined;
}

/** Renders the whole plan, ending in a line feed. Nothing is cut; long lines are wrapped. */
export function renderPlan(plan: Plan, promise: Promised, style: Style, options: PlanOptions): string {
  const { columns, verbose = false, permitted = [], concerns = [], guides = [] } = options;
  const steps = workOf(plan);
  const asTable = !style.plain && columns !== null && columns >= tableFrom;
  const asked: Concerns = new Map(concerns.map(({ path, why }) => [path, why]));
  const lines = asTable ? tableLines(steps, asked, style, columns) : stepLines(steps, asked, style, columns);
  const head = headLines(plan, style, columns);
  const unasked = verbose ? unaskedLines(plan) : [];
  const allowed = renderPermitted(permitted);
  const follows: Facts[number] = ["follows", guides.map(visibleLine).join(", ")];
  const told = [follows, ...factsOf(plan, renderPromise(promise), asked, style), allowed, ...unasked];
  const facts = layFacts(told, style, columns);
  return `${[...(head.length === 0 ? [] : [...head, ""]), ...(steps.length === 0 ? [] : [...lines, ""]), ...facts].join("\n")}\n`;
}

type StepHandlers = EventHandlers<
  "plan.ready" | "plan.amended" | "memory.kept" | "phase.started" | "step.started" | "tasks.updated"
>;

const marks = { pending: " ", in_progress: "~", completed: "x" } as const;

/** `planIsResult`: the plan is printed to standard output. */
export function openSteps(
  streams: Streams,
  reply: ReplyText,
  { planIsResult, verbose }: { readonly planIsResult: boolean; readonly verbose: boolean },
): StepHandlers {
  const { out, subject, say, aside, section, style, outStyle } = streams;
  function showPlan(event: EventOf<"plan.ready">): void {
    const { plan, promise } = event;
    if (plan.intent === "conversation") return;
    reply.show(plan.reply);
    section();
    if (planIsResult) out(renderPlan(plan, promise, outStyle, { ...event, columns: streams.outColumns, verbose }));
    else subject(renderPlan(plan, promise, style, { ...event, columns: streams.columns, verbose }));
    section();
  }

  return {
    "plan.ready": showPlan,
    "plan.amended"(amendment) {
      if (amendment.accept) say(renderAmended([amendment], streams));
    },
    "memory.kept"({ facts }) {
      section();
      for (const { id, text, pending } of facts) {
        const how = pending
          ? `proposed, kept with: pai memory accept ${id}`
          : `remembered, dropped with: pai memory drop ${id}`;
        say(wrap(`${visibleLine(text)}  (${how})`, streams.columns));
      }
    },
    "phase.started"() {
      reply.show();
      section();
    },
    "step.started"({ step, of, title, text }) {
      section();
      aside(`step ${step}/${of}  ${visibleLine(title)}`);
      if (text !== "") say(wrap(visible(text), streams.columns));
    },
    "tasks.updated"({ tasks }) {
      say(tasks.map(({ status, content }) => `[${marks[status]}] ${visibleLine(content)}`));
    },
  };
}
