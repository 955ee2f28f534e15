/** `pai context`: previews the first request of a task, without sending or paying for it. */

import { allActions } from "../../actions/registry.ts";
import { isProse } from "../../core/context/kind.ts";
import { PaiError } from "../../core/error.ts";
import type { Notice } from "../../core/question.ts";
import { createVeil } from "../../core/secrets/veil.ts";
import { type Preview, type PreviewPart, preview, type RankedFile } from "../../flows/preview.ts";
import type { Flow, RunOptions, Task } from "../../flows/run.ts";
import { runTask } from "../../flows/run-task.ts";
import { counted, grouped, priced } from "../../ui/amount.ts";
import { hang, pad, refit, widest } from "../../ui/layout.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import type { OpenedWorkspace } from "../../workspace/open.ts";
import { columnsOfResults, openLog, showResult } from "../answer-document.ts";
import { findMentions } from "../at-paths.ts";
import type { Context } from "../command.ts";
import { type Base, knownSecrets } from "../compose/base.ts";
import { listModels } from "../compose/compose-model.ts";
import { openHere } from "../compose/compose-task.ts";
import { describeChosen, priceOf } from "../compose/model-facts.ts";
import { composeOptions, limitTime, makeRunId } from "../compose/options.ts";
import { pickModel } from "../onboard/pick-model.ts";
import { openProjectMemory } from "../remember.ts";
import { readTask } from "./task.ts";

interface Previewed {
  readonly id: string;
  readonly task: Task;
  readonly options: RunOptions;
  readonly signal: AbortSignal;
  /** Reports what the ranking had to do without. */
  readonly notify: (notice: Notice) => void;
}

/** The first request of a task. Sends nothing and keeps nothing. Throws what preparing the request throws. */
export async function previewTask(
  base: Base,
  opened: Pick<OpenedWorkspace, "workspace" | "stateFolder">,
  { id, task, options, signal, notify }: Previewed,
): Promise<Preview> {
  const { now } = base.context;
  const { workspace } = opened;
  const price = priceOf(id, base, now());
  const seen: Preview[] = [];
  const flow: Flow = async (run) => void seen.push(await preview(run));
  const outcome = await runTask(flow, task, options, {
    id: makeRunId(now()),
    model: {
      ...describeChosen(id, base),
      address: null,
      stream() {
        throw new PaiError("internal", "pai context asked a model");
      },
    },
    price: () => price,
    veil: createVeil({ known: knownSecrets(base, workspace.root) }),
    workspace,
    memory: openProjectMemory(opened, "", { learns: false, isSeen: false, now }),
    actions: allActions,
    decide: async () => ({ accept: false, by: "policy", reason: "nothing is done", feedback: null }),
    sink: (event) => {
      if (event.type === "notice" && event.code.startsWith("checks_")) notify(event);
    },
    signal,
    now,
    planCache: null,
  });
  const [found] = seen;
  if (outcome.error !== null)
    throw new PaiError(outcome.error.code, outcome.error.message, { hint: outcome.error.hint });
  if (found === undefined) throw new PaiError("internal", "there is no preview");
  return found;
}

export async function contextCommand(context: Context): Promise<number> {
  const { notify } = openLog(context);
  const read = await readTask(context, context.signal, notify, "context");
  const opened = await openHere(context);
  const task = { ...read, files: await findMentions(opened.workspace, read.text) };
  const { base } = pickModel(context, opened.base);
  const { mode, model, limits } = base.settings;
  const [id] = listModels(model);
  const { signal, end } = limitTime(context.signal, limits.timeout);
  const options = composeOptions(context, base, "context", false);
  const found = await previewTask(base, opened, { id, task, options, signal, notify }).finally(end);
  const name = describeChosen(id, base).id;
  const columns = columnsOfResults(context);
  const text = `${renderRanking(found, columns)}\n${renderPreview(name, mode, found, columns)}`;
  return showResult(context, "context", { model: name, mode, ...found }, text);
}

const kindWidth = "instructions".length;

const nameOf = ({ kind, path }: PreviewPart) =>
  path === null ? kind : `${kind.padEnd(kindWidth)}  ${visibleLine(path)}`;

const maxRanges = 3;

function rangeOf({ lines }: PreviewPart): string {
  if (lines === null) return "";
  if (lines.shown === lines.total) return counted(lines.total, "line");
  if (lines.ranges.length === 0) return `a part of ${counted(lines.total, "line")}`;
  const ranges = lines.ranges.map(({ from, to }) => `${from}-${to}`);
  const shown = ranges.length > maxRanges ? [...ranges.slice(0, maxRanges), "…"] : ranges;
  return `lines ${shown.join(", ")} of ${lines.total}`;
}

const shownRanks = 20;

/** How the words of the task point to a file: by its name, by what it defines, or by what it is called. */
function namingOf({ path, named, symbols, lines, definitions }: RankedFile): readonly string[] {
  if (named === null) return [];
  const verb = isProse(path) ? "has the heading" : "defines";
  const defined = definitions
    .slice(0, maxRanges)
    .map(({ name, line }) => `${verb} ${visibleLine(name)} at line ${line}`);
  if (symbols.length > 0)
    return defined.length > 0 ? defined : [`matches ${visibleLine(symbols.slice(0, maxRanges).join(", "))}`];
  const at = lines.filter((line) => !definitions.some((each) => each.line === line)).slice(0, maxRanges);
  const place = at.length === 0 ? "" : ` at line${at.length > 1 ? "s" : ""} ${at.join(", ")}`;
  return [`named in the ${named}${place}`, ...defined];
}

/** Why a file is ranked where it is; none: it hardly has to do with the task. */
function reasonsOf(file: RankedFile): string[] {
  const { words, history, frequency } = file;
  const reasons = [
    ...namingOf(file),
    words >= 0.01 ? `words ${words.toFixed(2)}` : "",
    history >= 0.01 ? `commits ${history.toFixed(2)}` : "",
    frequency >= 0.5 ? "often changed" : "",
    file.kind === "code" ? "" : `a ${file.kind} file`,
  ];
  return reasons.filter((reason) => reason !== "");
}

const maxAligned = 60;

/** The ranking as text; each figure is relative to the highest one. `columns` null: no wrapping. */
export function renderRanking({ ranking, lacks }: Pick<Preview, "ranking" | "lacks">, columns: number | null): string {
  if (ranking.length === 0) return "No file matches the words of the task\n";
  const shown = ranking.slice(0, shownRanks).filter((file) => reasonsOf(file).length > 0);
  const width = Math.min(maxAligned, widest(shown.map(({ path }) => visibleLine(path))));
  const rows = shown.map((file, at) => {
    const row = `  ${String(at + 1).padStart(2)}  ${pad(visibleLine(file.path), width)}  ${reasonsOf(file).join(", ")}`;
    return refit(row, columns);
  });
  const rest =
    ranking.length > shown.length ? [`  and others: --json lists ${ranking.length - shown.length} more`] : [];
  const missing = lacks.length === 0 ? [] : hang("missing  ", lacks.join("; "), columns);
  const title = hang("", "The likeliest files, and why (figures are relative to the highest one):", columns);
  return [...title, ...rows, ...rest, ...missing, ""].join("\n");
}

type Row = readonly [name: string, range: string, size: string];

function renderParts(rows: readonly Row[], columns: number | null): string[] {
  const [first = 0, second = 0, third = 0] = [0, 1, 2].map((at) => widest(rows.map((row) => row[at] ?? "")));
  return rows.map(([name, range, size]) =>
    refit(`  ${pad(name, first)}  ${pad(range, second)}  ${size.padStart(third)} tokens`, columns),
  );
}

/** The preview as text. `columns` null: no wrapping. */
export function renderPreview(
  id: string,
  mode: string,
  { parts, tokens, masked, promise, cost }: Preview,
  columns: number | null,
): string {
  const rows = parts.map((part): Row => [nameOf(part), rangeOf(part), grouped(part.tokens)]);
  const places = parts.flatMap(({ path, masked: at }) => at.map((line) => `${visibleLine(path ?? "")}:${line}`));
  const secrets = masked === 0 ? "none" : `${counted(masked, "value")}, sent as names: ${places.join(", ")}`;
  const calls = `at most ${promise.at_most}${mode === "tool-loop" ? "" : " calls until there is a plan, which says how many it takes"}`;
  return [
    "The first call would send, by estimate:",
    ...renderParts([...rows, ["all of it", "", grouped(tokens)]], columns),
    ...hang("model   ", visibleLine(id), columns),
    ...hang("masked  ", secrets.replace(/: $/, ""), columns),
    ...hang("calls   ", calls, columns),
    ...hang("price   ", cost === null ? "unknown" : `about ${priced(cost)} for what this call sends`, columns),
    "Nothing was sent\n",
  ].join("\n");
}
