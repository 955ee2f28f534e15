/** The report of an evaluation: a row for each candidate, task and pair of candidates; as Markdown, HTML or lines. Pure. */
import { hang } from "../../ui/layout.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import type { EvalResult } from "./candidate.ts";

type CandidateRow = ReturnType<typeof candidateRow>;
type TaskRow = ReturnType<typeof taskRow>;
type PairRow = NonNullable<ReturnType<typeof pairRow>>;

export type Report = ReturnType<typeof makeReport>;

const nameOf = ({ model, mode }: Pick<EvalResult, "model" | "mode">): string =>
  mode === "none" ? model : `${model} ${mode}`;

const group = (results: readonly EvalResult[], keyOf: (result: EvalResult) => string) => [
  ...Map.groupBy(results, keyOf).values(),
];

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

const known = (results: readonly EvalResult[], of: (result: EvalResult) => number | null): readonly number[] =>
  results.map(of).filter((value) => value !== null);

const mean = (values: readonly number[]): number | null => (values.length === 0 ? null : sum(values) / values.length);

/** Means are null where no result has the figure; money in USD, times in milliseconds. */
function candidateRow(results: readonly EvalResult[]) {
  const [{ model, mode } = { model: "", mode: "" }] = results;
  const passed = results.filter((result) => result.passed).length;
  const costs = known(results, ({ cost }) => cost);
  const cost = costs.length === 0 ? null : sum(costs);
  const promises = results.filter(({ promise_kept }) => promise_kept !== null);
  return {
    model,
    mode,
    results: results.length,
    passed,
    pass_rate: passed / results.length,
    interval: wilson(passed, results.length),
    calls: mean(known(results, ({ calls }) => calls)),
    tokens: mean(known(results, ({ tokens }) => tokens)),
    cost,
    cost_per_solved: cost === null || passed === 0 ? null : cost / passed,
    ms: mean(results.map(({ ms }) => ms)) ?? 0,
    actions: mean(known(results, ({ actions }) => actions)),
    refused: sum(known(results, ({ refused }) => refused)),
    promises_kept: promises.filter(({ promise_kept }) => promise_kept === true).length,
    promises: promises.length,
    false_verified: results.filter((result) => result.false_verified).length,
    tampered: results.filter(({ tampered }) => tampered.length > 0).length,
    errors: results.filter(({ error }) => error !== null).length,
  };
}

/** One row for each task and candidate: time, actions, success, size of the change, refused paths. */
function taskRow(results: readonly EvalResult[]) {
  const [{ task, model, mode } = { task: "", model: "", mode: "" }] = results;
  return {
    task,
    model,
    mode,
    passed: results.filter((result) => result.passed).length,
    results: results.length,
    ms: mean(results.map(({ ms }) => ms)) ?? 0,
    actions: mean(known(results, ({ actions }) => actions)),
    added: mean(known(results, ({ added }) => added)),
    deleted: mean(known(results, ({ deleted }) => deleted)),
    refused: sum(known(results, ({ refused }) => refused)),
  };
}

/** Compares two candidates on the tasks and repeats that both have: `p` by McNemar, exact, two-sided. */
function pairRow(first: readonly EvalResult[], second: readonly EvalResult[]) {
  const others = new Map(second.map((result) => [`${result.task}\n${result.repeat}`, result] as const));
  const pairs = first.flatMap((one): (readonly [boolean, boolean])[] => {
    const other = others.get(`${one.task}\n${one.repeat}`);
    return other === undefined ? [] : [[one.passed, other.passed]];
  });
  const [one, other] = [first[0], second[0]];
  if (pairs.length === 0 || one === undefined || other === undefined) return null;
  const countOf = (a: boolean, b: boolean) => pairs.filter(([x, y]) => x === a && y === b).length;
  const [onlyFirst, onlySecond] = [countOf(true, false), countOf(false, true)];
  return {
    first: nameOf(one),
    second: nameOf(other),
    both: countOf(true, true),
    only_first: onlyFirst,
    only_second: onlySecond,
    neither: countOf(false, false),
    p: mcnemar(onlyFirst, onlySecond),
  };
}

export function makeReport(results: readonly EvalResult[]) {
  const candidates = group(results, nameOf);
  const pairs = candidates.flatMap((first, at) =>
    candidates.slice(at + 1).flatMap((second) => pairRow(first, second) ?? []),
  );
  return {
    candidates: candidates.map(candidateRow),
    tasks: group(results, (result) => `${result.task}\n${nameOf(result)}`)
      .map(taskRow)
      .sort((one, other) => (one.task < other.task ? -1 : one.task > other.task ? 1 : 0)),
    pairs,
  };
}

/** The 95 % interval of `passed / of` (Wilson); with `of` 0 it is 0 to 1. */
export function wilson(passed: number, of: number): { readonly low: number; readonly high: number } {
  if (of === 0) return { low: 0, high: 1 };
  const z = 1.959964;
  const share = passed / of;
  const scale = 1 + (z * z) / of;
  const middle = (share + (z * z) / (2 * of)) / scale;
  const margin = (z * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of))) / scale;
  return { low: Math.max(0, middle - margin), high: Math.min(1, middle + margin) };
}

/** How likely a difference this large is when both are equally good (McNemar, exact, two-sided). */
export function mcnemar(onlyFirst: number, onlySecond: number): number {
  const of = onlyFirst + onlySecond;
  let tail = 0;
  let logTerm = -of * Math.LN2;
  for (let hits = 0; hits <= Math.min(onlyFirst, onlySecond); hits += 1) {
    tail += Math.exp(logTerm);
    logTerm += Math.log(of - hits) - Math.log(hits + 1);
  }
  return Math.min(1, 2 * tail);
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const decimal = (value: number | null, digits = 1): string => (value === null ? "-" : value.toFixed(digits));
const dollars = (value: number | null): string => (value === null ? "unknown" : `$${value.toFixed(4)}`);
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

const makeTable = <Row>(title: string, rows: readonly Row[], columns: Columns<Row>) => ({
  title,
  heads: Object.keys(columns),
  rows: rows.map((row) => Object.values(columns).map((cell) => cell(row))),
});

const candidateColumns: Columns<CandidateRow> = {
  model: (row) => row.model,
  mode: (row) => row.mode,
  passed: (row) => String(row.passed),
  of: (row) => String(row.results),
  "pass@1": (row) => percent(row.pass_rate),
  "95 %": (row) => `${percent(row.interval.low)} to ${percent(row.interval.high)}`,
  calls: (row) => decimal(row.calls),
  tokens: (row) => decimal(row.tokens, 0),
  cost: (row) => dollars(row.cost),
  "cost a solved task": (row) => dollars(row.cost_per_solved),
  time: (row) => seconds(row.ms),
  actions: (row) => decimal(row.actions),
  refused: (row) => String(row.refused),
  "promises kept": (row) => `${row.promises_kept} of ${row.promises}`,
  "false “verified”": (row) => String(row.false_verified),
  tampered: (row) => String(row.tampered),
  errors: (row) => String(row.errors),
};

const pairColumns: Columns<PairRow> = {
  first: (row) => row.first,
  second: (row) => row.second,
  both: (row) => String(row.both),
  "only first": (row) => String(row.only_first),
  "only second": (row) => String(row.only_second),
  neither: (row) => String(row.neither),
  "p (McNemar)": (row) => row.p.toFixed(3),
};

const taskColumns: Columns<TaskRow> = {
  task: (row) => row.task,
  model: (row) => row.model,
  mode: (row) => row.mode,
  passed: (row) => `${row.passed} of ${row.results}`,
  time: (row) => seconds(row.ms),
  actions: (row) => decimal(row.actions),
  "lines added": (row) => decimal(row.added, 0),
  "lines deleted": (row) => decimal(row.deleted, 0),
  refused: (row) => String(row.refused),
};

const tablesOf = ({ candidates, pairs, tasks }: Report) => [
  makeTable("Candidates", candidates, candidateColumns),
  ...(pairs.length === 0 ? [] : [makeTable("Pairs, on the same tasks", pairs, pairColumns)]),
  makeTable("Tasks", tasks, taskColumns),
];

/** A cell of Markdown cannot end its row, begin a tag or a link. */
const markdownCell = (text: string): string =>
  text.replace(/[\r\n\t]+/g, " ").replace(/[\\|<>[\]`*_~&]/g, (mark) => `\\${mark}`);

export const renderReportMarkdown = (report: Report): string =>
  tablesOf(report)
    .map(({ title, heads, rows }) => {
      const line = (cells: readonly string[]) => `| ${cells.map(markdownCell).join(" | ")} |\n`;
      return `## ${title}\n\n${line(heads)}|${" --- |".repeat(heads.length)}\n${rows.map(line).join("")}`;
    })
    .join("\n");

/** For a terminal: each row as lines of its names and values, since its table would be wider than most screens. */
export function renderReportLines(report: Report, columns: number): string {
  const renderRow = (heads: readonly string[], cells: readonly string[]) =>
    hang("  ", heads.map((head, at) => `${head} ${visibleLine(cells[at] ?? "")}`).join(", "), columns);
  return tablesOf(report)
    .map(({ title, heads, rows }) => `${[title, ...rows.flatMap((cells) => renderRow(heads, cells))].join("\n")}\n`)
    .join("\n");
}

const css =
  "body{font:15px/1.5 system-ui,sans-serif;margin:2rem;color-scheme:light dark}table{border-collapse:collapse}" +
  "td,th{padding:.25rem .75rem;border-bottom:1px solid #8884;text-align:right;white-space:nowrap}" +
  "td:first-child,th:first-child{text-align:left}main{overflow-x:auto}";

export function renderHtml(report: Report): string {
  const policy = "default-src 'none'; style-src 'unsafe-inline'";
  return (
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">` +
    `<meta name="viewport" content="width=device-width"><title>pai eval</title><style>${css}</style>` +
    `<main><h1>pai eval</h1>${Bun.markdown.html(renderReportMarkdown(report))}</main></html>\n`
  );
}
