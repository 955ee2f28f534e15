/** `pai context`: previews the first request of a task, without sending or paying for it. */
import { PaiError } from "../../core/error.ts";
import type { Model } from "../../core/model.ts";
import type { Notice } from "../../core/question.ts";
import type { Price } from "../../core/spending/cost.ts";
import { type Preview, type PreviewPart, preview, type RankedFile } from "../../flows/preview.ts";
import type { RunOptions, Task } from "../../flows/run.ts";
import { runTask } from "../../flows/run-task.ts";
import { describeModel } from "../../models/catalogue.ts";
import { parseModelId } from "../../models/open.ts";
import { counted, grouped, priced } from "../../ui/amount.ts";
import { pad, widest } from "../../ui/layout.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import { showResult } from "../answer-document.ts";
import { findMentions } from "../at-paths.ts";
import type { Context } from "../command.ts";
import { type ComposedWorkspace, composeOptions, limitTime, makeRunId } from "../compose/compose.ts";
import { listModels, priceOf } from "../compose/compose-model.ts";
import { openHere } from "../compose/open-here.ts";
import { openProjectMemory } from "../compose/project-memory.ts";
import { pickModel } from "../onboard/pick-model.ts";
import { openLog } from "../open-log.ts";
import { readTask } from "./task.ts";

/** A model that is never asked; only its limits matter for the preview. */
function describeOnly(id: string): Model {
  const { provider, name } = parseModelId(id);
  return {
    ...describeModel(provider, name),
    address: null,
    stream: () => {
      throw new PaiError("internal", "pai context asked a model");
    },
  };
}

const nameOf = ({ kind, path }: PreviewPart) =>
  path === null ? kind : `${kind.padEnd("instructions".length)}  ${visibleLine(path)}`;

/** Line ranges shown in a row. */
const maxRanges = 3;

function rangeOf({ lines }: PreviewPart): string {
  if (lines === null) return "";
  if (lines.shown === lines.total) return counted(lines.total, "line");
  const ranges = lines.ranges.map(({ from, to }) => `${from}-${to}`);
  const shown = ranges.length > maxRanges ? [...ranges.slice(0, maxRanges), "…"] : ranges;
  return `lines ${shown.join(", ")} of ${lines.total}`;
}

/** Rows shown of the ranking. */
const shownRanks = 20;

/** How the words of the task point to a file: by its name or by its content. */
function namingOf({ named, symbols, lines }: RankedFile): string {
  const at = lines.length === 0 ? "" : ` at line${lines.length > 1 ? "s" : ""} ${lines.slice(0, maxRanges).join(", ")}`;
  const names = visibleLine(symbols.slice(0, maxRanges).join(", "));
  if (named === null) return "";
  if (symbols.length === 0) return `named in the ${named}${at}`;
  return lines.length === 0 ? `is called ${names}` : `defines ${names}${at}`;
}

/** Why a file is ranked where it is. */
function reasonsOf(file: RankedFile): string {
  const { kind, words, history, frequency, company } = file;
  const reasons = [
    namingOf(file),
    words >= 0.01 ? `words ${words.toFixed(2)}` : "",
    history >= 0.01 ? `commits ${history.toFixed(2)}` : "",
    frequency >= 0.5 ? "often changed" : "",
    company ? "changes with the first ones" : "",
    kind === "code" ? "" : kind === "side" ? "beside the code" : `a ${kind} file`,
  ];
  const told = reasons.filter((reason) => reason !== "");
  return told.length === 0 ? "words below 0.01" : told.join(", ");
}

/** The ranking as text; each figure is relative to the highest one. */
function renderRanking({ ranking, lacks }: Pick<Preview, "ranking" | "lacks">): string {
  if (ranking.length === 0) return "No file matches the words of the task\n";
  const shown = ranking.slice(0, shownRanks);
  const width = Math.min(60, widest(shown.map(({ path }) => visibleLine(path))));
  const rows = shown.map((file, at) =>
    `  ${String(at + 1).padStart(2)}  ${pad(visibleLine(file.path), width)}  ${reasonsOf(file)}`.trimEnd(),
  );
  const rest = ranking.length > shown.length ? [`  and ${ranking.length - shown.length} more`] : [];
  const without = lacks.length === 0 ? [] : [`without ${lacks.join("; ")}`];
  return [
    `The likeliest files, and why (figures are relative to the highest one):`,
    ...rows,
    ...rest,
    ...without,
    "",
  ].join("\n");
}

/** The preview as text. */
export function renderPreview(id: string, mode: string, { parts, tokens, masked, promise, cost }: Preview): string {
  const rows = parts.map((part) => [nameOf(part), rangeOf(part), grouped(part.tokens)] as const);
  const total = ["all of it", "", grouped(tokens)] as const;
  const [first = 0, second = 0, third = 0] = [0, 1, 2].map((at) =>
    widest([...rows, total].map((row) => row[at] ?? "")),
  );
  const lines = [...rows, total].map(
    ([name, range, size]) => `  ${pad(name, first)}  ${pad(range, second)}  ${size.padStart(third)} tokens`,
  );
  const places = parts.flatMap(({ path, masked: at }) => at.map((line) => `${visibleLine(path ?? "")}:${line}`));
  const secrets = masked === 0 ? "none" : `${counted(masked, "value")}, sent as names: ${places.join(", ")}`;
  return [
    "The first call would send, by estimate:",
    ...lines,
    `model   ${visibleLine(id)}`,
    `masked  ${secrets.replace(/: $/, "")}`,
    `calls   at most ${promise.at_most}${mode === "tool-loop" ? "" : " calls to plan; the plan then promises the rest"}`,
    `price   ${cost === null ? "unknown" : `about ${priced(cost)} for what this call sends`}`,
    "Nothing was sent\n",
  ].join("\n");
}

export interface Previewed {
  /** Model id, "provider:name". */
  readonly id: string;
  readonly opened: Pick<ComposedWorkspace, "workspace" | "stateFolder">;
  readonly task: Task;
  readonly options: RunOptions;
  readonly price: Price | null;
  readonly signal: AbortSignal;
  readonly now: () => Date;
  /** Reports what the ranking had to do without. */
  readonly notify: (notice: Notice) => void;
}

/** The first request of a task. Sends nothing and keeps nothing. Throws what preparing the request throws. */
export async function previewTask({
  id,
  opened,
  task,
  options,
  price,
  signal,
  now,
  notify,
}: Previewed): Promise<Preview> {
  const seen: Preview[] = [];
  const outcome = await runTask(
    async (run) => {
      seen.push(await preview(run));
    },
    task,
    options,
    {
      id: makeRunId(now()),
      model: describeOnly(id),
      price,
      workspace: opened.workspace,
      memory: openProjectMemory(opened, { run: "", learns: false, isSeen: false, now }),
      actions: async () => (await import("../../actions/match-vocabulary.ts")).allActions,
      decide: async () => ({ accept: false, by: "policy", reason: "nothing is done", feedback: null }),
      sink: (event) => {
        if (event.type === "notice" && event.code.startsWith("checks_")) notify(event);
      },
      signal,
      now,
      planCache: null,
    },
  );
  const [found] = seen;
  if (outcome.error !== null)
    throw new PaiError(outcome.error.code, outcome.error.message, { hint: outcome.error.hint ?? undefined });
  if (found === undefined) throw new PaiError("internal", "there is no preview");
  return found;
}

export async function contextCommand(context: Context): Promise<number> {
  const { notify } = openLog(context);
  const read = await readTask(context, context.signal, notify, "context");
  const opened = await openHere(context);
  const task = { ...read, files: await findMentions(opened.workspace, read.text) };
  const { settings } = pickModel(context, opened.base).base;
  const [id] = listModels(settings.model);
  const { signal, end } = limitTime(context.signal, settings.limits.timeout);
  const options = composeOptions(context, settings, "context", false);
  const price = priceOf(id, settings, context.now());
  const found = await previewTask({ id, opened, task, options, price, signal, now: context.now, notify }).finally(end);
  const model = describeOnly(id).id;
  return showResult(
    context,
    "context",
    { model, mode: settings.mode, ...found },
    `${renderRanking(found)}\n${renderPreview(model, settings.mode, found)}`,
  );
}
