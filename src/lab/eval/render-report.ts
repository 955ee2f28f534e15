/** A report as tables: Markdown for people and CI, HTML as one static page. Pure. */
import type { CandidateRow, PairRow, Report, TaskRow } from "./report.ts";

interface Table {
  readonly title: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const decimal = (value: number | null, digits = 1): string => (value === null ? "-" : value.toFixed(digits));
const dollars = (value: number | null): string => (value === null ? "unknown" : `$${value.toFixed(4)}`);
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const candidateTable = (rows: readonly CandidateRow[]): Table => ({
  title: "Candidates",
  heads: [
    ...["model", "mode", "passed", "of", "pass@1", "95 %", "calls", "tokens", "cost", "cost a solved task", "time"],
    ...["actions", "refused", "promises kept", "false “verified”", "tampered", "errors"],
  ],
  rows: rows.map((row) => [
    row.model,
    row.mode,
    String(row.passed),
    String(row.results),
    percent(row.pass_rate),
    `${percent(row.interval.low)} to ${percent(row.interval.high)}`,
    decimal(row.calls),
    decimal(row.tokens, 0),
    dollars(row.cost),
    dollars(row.cost_per_solved),
    seconds(row.ms),
    decimal(row.actions),
    String(row.refused),
    `${row.promises_kept} of ${row.promises}`,
    String(row.false_verified),
    String(row.tampered),
    String(row.errors),
  ]),
});

const pairTable = (rows: readonly PairRow[]): Table => ({
  title: "Pairs, on the same tasks",
  heads: ["first", "second", "both", "only first", "only second", "neither", "p (McNemar)"],
  rows: rows.map((row) => [
    row.first,
    row.second,
    String(row.both),
    String(row.only_first),
    String(row.only_second),
    String(row.neither),
    row.p.toFixed(3),
  ]),
});

const taskTable = (rows: readonly TaskRow[]): Table => ({
  title: "Tasks",
  heads: ["task", "model", "mode", "passed", "time", "actions", "lines added", "lines deleted", "refused"],
  rows: rows.map((row) => [
    row.task,
    row.model,
    row.mode,
    `${row.passed} of ${row.results}`,
    seconds(row.ms),
    decimal(row.actions),
    decimal(row.added, 0),
    decimal(row.deleted, 0),
    String(row.refused),
  ]),
});

const tablesOf = ({ candidates, pairs, tasks }: Report): readonly Table[] => [
  candidateTable(candidates),
  ...(pairs.length === 0 ? [] : [pairTable(pairs)]),
  taskTable(tasks),
];

/** A cell of Markdown cannot end its row, begin a tag or a link. */
const markdownCell = (text: string): string =>
  text.replace(/[\r\n\t]+/g, " ").replace(/[\\|<>[\]`*_]/g, (mark) => `\\${mark}`);

export function renderReportMarkdown(report: Report): string {
  return tablesOf(report)
    .map(({ title, heads, rows }) => {
      const line = (cells: readonly string[]) => `| ${cells.map(markdownCell).join(" | ")} |\n`;
      return `## ${title}\n\n${line(heads)}|${" --- |".repeat(heads.length)}\n${rows.map(line).join("")}`;
    })
    .join("\n");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (mark) => entities[mark] ?? mark);

const css =
  "body{font:15px/1.5 system-ui,sans-serif;margin:2rem;color-scheme:light dark}table{border-collapse:collapse}" +
  "td,th{padding:.25rem .75rem;border-bottom:1px solid #8884;text-align:right;white-space:nowrap}" +
  "td:first-child,th:first-child{text-align:left}main{overflow-x:auto}";

export function renderHtml(report: Report): string {
  const row = (cells: readonly string[], tag: "th" | "td") =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join("")}</tr>`;
  const tables = tablesOf(report).map(
    ({ title, heads, rows }) =>
      `<h2>${escapeHtml(title)}</h2><table><thead>${row(heads, "th")}</thead><tbody>` +
      `${rows.map((cells) => row(cells, "td")).join("")}</tbody></table>`,
  );
  const policy = "default-src 'none'; style-src 'unsafe-inline'";
  return (
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">` +
    `<meta name="viewport" content="width=device-width"><title>pai eval</title><style>${css}</style>` +
    `<main><h1>pai eval</h1>${tables.join("")}</main></html>\n`
  );
}
