/** Renders statistics of runs: one row with a bar for each group, and the totals in words. */
import { noUsage, weighedOf } from "../core/model.ts";
import type { GroupTotals } from "../core/run-summary.ts";
import { counted, grouped, priced, renderDuration } from "./amount.ts";
import { cut, pad, widest } from "./layout.ts";
import { visibleLine } from "./sanitize.ts";
import type { Style } from "./style.ts";

const barWidth = 10;
const gap = 2;
const minKeyWidth = 12;

const share = (part: number, whole: number): string => (whole === 0 ? "-" : `${Math.round((100 * part) / whole)} %`);

function renderBar(count: number, maxRuns: number, style: Style): string {
  const width = Math.max(1, Math.round((count / Math.max(1, maxRuns)) * barWidth));
  return (style.glyphs.more === "..." ? "#" : "█").repeat(width);
}

/** Shortens a folder at its beginning, so that its name stays. */
function shortKey(key: string, width: number, style: Style): string {
  const text = visibleLine(key === "" ? "unknown" : key);
  if (Bun.stringWidth(text) <= width) return text;
  const more = style.glyphs.more;
  return key.startsWith("/") ? more + text.slice(text.length - width + more.length) : cut(text, width, more);
}

const heads = ["runs", "solved", "kept", "calls", "tokens", "cost"] as const;

function cellsOf({ runs, solved, kept, calls, tokens, cost, unpriced }: GroupTotals): readonly string[] {
  const money = unpriced === runs ? "unknown" : priced(cost);
  return [grouped(runs), share(solved, runs), share(kept, runs), grouped(calls), grouped(tokens), money];
}

function renderTable(rows: readonly GroupTotals[], by: string, style: Style, columns: number | null) {
  const cells = rows.map(cellsOf);
  const widths = heads.map((head, at) => widest([head, ...cells.map((row) => row[at] ?? "")]));
  const others = [barWidth, ...widths].reduce((sum, width) => sum + gap + width, 0);
  const room = columns === null ? Number.POSITIVE_INFINITY : Math.max(minKeyWidth, columns - others);
  const keys = rows.map(({ key }) => shortKey(key, room, style));
  const first = Math.max(widest(keys), by.length);
  const maxRuns = Math.max(...rows.map(({ runs }) => runs));
  const line = (key: string, bar: string, values: readonly string[]) =>
    [pad(key, first), pad(bar, barWidth), ...values.map((value, at) => value.padStart(widths[at] ?? 0))]
      .join(" ".repeat(gap))
      .trimEnd();
  return [
    style.paint("dim", line(by, "", heads)),
    ...rows.map((row, at) => line(keys[at] ?? "", renderBar(row.runs, maxRuns, style), cells[at] ?? [])),
  ];
}

function renderWhole(whole: GroupTotals): readonly string[] {
  const { runs, solved, verified, kept, cost, unpriced, ms, refused, amended, changed, undone } = whole;
  const perSolved = solved === 0 || unpriced === runs ? "" : `, ${priced(cost / solved)} a solved run`;
  const takenBack = `${share(undone, changed)} of the runs that changed files were undone`;
  const priceless = unpriced > 0 && unpriced < runs ? `; ${counted(unpriced, "run")} without a known price` : "";
  return [
    `${counted(runs, "run")}: ${share(solved, runs)} solved, ${share(verified, runs)} verified by checks`,
    `calls: ${grouped(whole.calls)}, within the promise in ${share(kept, runs)} of the runs`,
    `tokens: ${grouped(whole.tokens)}, of them ${grouped(whole.cached)} cached, weighed ${grouped(weighedOf({ ...noUsage, input: whole.tokens, cached: whole.cached }))}`,
    `cost: ${unpriced === runs ? "unknown" : priced(cost)}${perSolved}${priceless}`,
    `time: ${renderDuration(ms)} in all, ${renderDuration(runs === 0 ? 0 : ms / runs)} a run`,
    `${counted(refused, "refused action")}, ${counted(amended, "amendment")}, ${changed === 0 ? "no run changed files" : takenBack}`,
  ];
}

/** The whole page, each line ended. `rows` must not be empty. `columns` null: not a terminal, nothing is cut. */
export function renderStats(
  rows: readonly GroupTotals[],
  whole: GroupTotals,
  by: string,
  { style, columns }: { readonly style: Style; readonly columns: number | null },
): string {
  return [...renderTable(rows, by, style, columns), "", ...renderWhole(whole)].map((line) => `${line}\n`).join("");
}
