/** Measures what the first call of a run would send, and finds secrets in it, without sending it. */

import type { ExcerptRange } from "../core/context/excerpts.ts";
import type { Ranked } from "../core/context/rank.ts";
import type { Definition } from "../core/context/signals.ts";
import { noUsage, textOf } from "../core/model.ts";
import type { RelPath } from "../core/path.ts";
import { planPromise } from "../core/plan/promise.ts";
import { makeBriefing, type Part, rankTask, renderOuter } from "./briefing/briefing.ts";
import { readKnowledge, renderGuide, type Source } from "./briefing/sources.ts";
import { eightStepPlan } from "./eight-step.ts";
import { singleShotPlan } from "./planning.ts";
import type { Run } from "./run.ts";
import { composeMessage, instructionsOf, maxTurns } from "./tool-loop/tool-loop.ts";

export interface PreviewPart {
  readonly kind: "instructions" | Part["kind"];
  readonly path: RelPath | null;
  readonly tokens: number;
  readonly lines: { readonly shown: number; readonly total: number; readonly ranges: readonly ExcerptRange[] } | null;
  readonly masked: readonly number[];
}

export interface RankedFile extends Omit<Ranked, "signal"> {
  /** Which text names it, or a name that it defines; null: none does. */
  readonly named: "request" | "output" | null;
  /** If the file itself is not named: the names that it defines or is called after. */
  readonly symbols: readonly string[];
  /** Lines that are named with it, or define names that are named. */
  readonly lines: readonly number[];
  readonly definitions: readonly Definition[];
}

/** `cost`: USD of this call's input; null: price unknown. `lacks`: what the ranking lacks, one clause each. */
export type Preview = Awaited<ReturnType<typeof preview>>;

async function composePlanCall(run: Run) {
  const { mode } = run.invocation;
  const kind = mode === "eight-step" ? eightStepPlan : singleShotPlan;
  const briefing = await makeBriefing(run);
  const form = kind.format.isOptional === true ? "" : JSON.stringify(kind.format.schema);
  const instructions = kind.offer?.(run, briefing) ?? kind.system(run.changing.strict) + form;
  const likely = await briefing.likely();
  return { instructions, parts: briefing.parts, promise: planPromise(run.planning.maxRounds), likely };
}

async function composeLoopCall(run: Run) {
  const read = await readKnowledge(run);
  const knowledge: readonly Part[] = [
    ...renderOuter(read),
    ...read.files.map((file): Part => ({ kind: "knowledge", text: renderGuide(file.path, file.shown), file })),
  ];
  const said = run.conversation.messages.map(textOf).join("");
  const conversation: Part[] = said === "" ? [] : [{ kind: "conversation", text: said, file: null }];
  return {
    instructions: await instructionsOf(run),
    parts: [...knowledge, ...conversation, ...(await composeMessage(run))],
    promise: { expected: 1, at_most: maxTurns },
    likely: await rankTask(run),
  };
}

const countLines = (text: string) => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

function linesOf({ text, shown, part }: Source): PreviewPart["lines"] {
  const total = countLines(text);
  if (part === undefined) {
    const count = text === shown ? total : Math.min(total, shown.split("\n").length - 1);
    return { shown: count, total, ranges: [{ from: 1, to: count }] };
  }
  const count = part.ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  return { shown: count, total, ranges: part.ranges };
}

/** Lines of the file on which a value is hidden, among those that are shown; from 1. */
function maskedLines({ veil }: Run, { text, shown, part }: Source): readonly number[] {
  if (veil.namesIn(shown).length === 0) return [];
  const lines = (part === undefined ? shown : text).split("\n");
  const isShown = (line: number) => part?.ranges.some(({ from, to }) => from <= line && line <= to) ?? true;
  return lines.flatMap((line, at) => (isShown(at + 1) && veil.namesIn(line).length > 0 ? [at + 1] : []));
}

const round = (share: number) => Math.round(share * 1000) / 1000;

const toRankedFile = ({ path, score, kind, words, history, frequency, signal }: Ranked): RankedFile => ({
  path,
  score: round(score),
  kind,
  words: round(words),
  history: round(history),
  frequency: round(frequency),
  named: signal?.by ?? null,
  symbols: signal?.symbols ?? [],
  lines: signal?.lines ?? [],
  definitions: signal?.definitions ?? [],
});

export async function preview(run: Run) {
  const { ledger, veil, calling, invocation } = run;
  const compose = invocation.mode === "tool-loop" ? composeLoopCall : composePlanCall;
  const { instructions, parts, promise, likely } = await compose(run);
  const weigh = (text: string) => ledger.estimate(veil.hide(text).length);
  const weighed = parts.map(({ kind, text, file }): PreviewPart => {
    const about = file === null ? null : { lines: linesOf(file), masked: maskedLines(run, file) };
    return { kind, path: file?.path ?? null, tokens: weigh(text), ...(about ?? { lines: null, masked: [] }) };
  });
  const first: PreviewPart = { kind: "instructions", path: null, tokens: weigh(instructions), lines: null, masked: [] };
  const all = [first, ...weighed];
  const tokens = all.reduce((sum, part) => sum + part.tokens, 0);
  const maxCalls = Math.min(promise.at_most, calling.caps.calls ?? promise.at_most);
  return veil.cover({
    parts: all,
    tokens,
    masked: veil.count,
    ranking: likely.files.map(toRankedFile),
    lacks: likely.lacks,
    promise: { expected: Math.min(promise.expected, maxCalls), at_most: maxCalls },
    cost: ledger.priceOf({ ...noUsage, input: tokens }, "plan"),
  });
}
