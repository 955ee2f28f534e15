/** Renders a diff for people: a heading for each file, numbered coloured lines, marked words, notes. */
import { classOf } from "../../core/closed-names.ts";
import type { Highlight } from "../highlight.ts";
import { expandTabs, wrapCode } from "../layout.ts";
import { listNaturally } from "../natural-order.ts";
import { markMixed, visible, visibleLine } from "../sanitize.ts";
import { mark, type Style } from "../style.ts";
import { findMarks } from "./marks.ts";
import { cutRow, type DiffRow, isShownByPart, longLine, markWords, paintRows } from "./paint.ts";
import { type DiffFile, type DiffLine, parseShownDiff } from "./read.ts";

export interface DiffOptions {
  /** Width at which lines wrap, indented; null: no wrapping. */
  readonly columns: number | null;
  /** A question follows, so every change is shown, however long its line. */
  readonly whole?: boolean;
  /** null: code is not highlighted. */
  readonly highlight: Highlight | null;
  /**
   * Names the command that shows the rest of a long file, which is then folded. Absent, or with `whole`: no folding.
   */
  readonly fold?: ((path: string) => string) | undefined;
}

/** Lines of one file shown before it is folded: about two screens. */
const maxFileLines = 60;

/** The first lines, and one that says how many more there are and where to see them. */
function foldLines(
  lines: readonly string[],
  path: string,
  style: Style,
  { fold, whole }: DiffOptions,
): readonly string[] {
  const more = lines.length - maxFileLines;
  if (fold === undefined || whole === true || more < 10) return lines;
  const note = `  ${style.glyphs.more} ${more} more lines: ${fold(path)}`;
  return [...lines.slice(0, maxFileLines), style.paint("dim", note)];
}

/** "+12 -3" in colours; "" if both are 0. */
export function renderCounts(added: number, deleted: number, style: Style): string {
  const parts = [
    ...(added > 0 ? [style.paint("ok", `+${added}`)] : []),
    ...(deleted > 0 ? [style.paint("error", `-${deleted}`)] : []),
  ];
  return parts.join(" ");
}

function nameOf({ from, to, isLink }: DiffFile, arrow: string): string {
  const what = isLink ? " link" : "";
  if (from === null) return `${to} (new${what})`;
  if (to === null) return `${from} (deleted${what})`;
  return from === to ? to : `${from} ${arrow} ${to}`;
}

/** Ends with a warning sign if the file may run code later or steer agents. */
function renderHeading(file: DiffFile, style: Style): string {
  const count = (kind: DiffRow["kind"]) => file.lines.filter((line) => line.kind === kind).length;
  const name = markMixed(visibleLine(nameOf(file, style.glyphs.arrow)));
  const counts = renderCounts(count("add"), count("delete"), style);
  const isAsked = file.to !== null && classOf(file.to.replace(/\/$/, "")) === "asked";
  return `${mark(style, "change")} ${name}  ${counts}${isAsked ? `  ${mark(style, "warn")}` : ""}`.trimEnd();
}

/** The number column of a row, always `digits` plus five columns wide. */
function renderLead({ kind, number }: DiffRow, digits: number, style: Style): string {
  const column = (number === null ? "" : String(number)).padStart(digits);
  switch (kind) {
    case "add":
      return `  ${style.paint("ok", `${column} +`)} `;
    case "delete":
      return `  ${style.paint("error", `${column} -`)} `;
    case "skip":
      return `  ${style.paint("dim", style.glyphs.more.slice(0, digits).padStart(digits))}   `;
    case "same":
    case "note":
      return `  ${style.paint("dim", column)}   `;
  }
}

function renderFile(file: DiffFile, style: Style, options: DiffOptions): string[] {
  const { columns, highlight, whole = false } = options;
  const show = columns === null ? visible : (text: string) => expandTabs(visible(text));
  const lines = explainLines(file).map((line) => ({ ...line, text: show(line.text) }));
  // Marks are needed for colours, and to choose where a long line is cut.
  const marks = style.color || lines.some(({ text }) => text.length > longLine) ? findMarks(lines) : null;
  const rows = lines.flatMap((line) => {
    const row = { ...line, mark: marks?.get(line) ?? null };
    return whole && !isShownByPart(row) ? [row] : cutRow(row, style.glyphs.more);
  });
  const painted = style.color ? paintRows(rows, file.to ?? file.from ?? "", style, highlight) : null;
  const last = rows.reduce((largest, { number }) => Math.max(largest, number ?? 0), 0);
  const digits = Math.max(String(last).length, 3);
  const margin = digits + 5;
  const body = rows.flatMap((row) =>
    wrapCode(markWords(row, painted?.get(row) ?? row.text, style), columns && columns - margin).map((part, at) => {
      const lead = at === 0 ? renderLead(row, digits, style) : " ".repeat(margin);
      return part === "" ? lead.trimEnd() : lead + part;
    }),
  );
  return [renderHeading(file, style), ...foldLines(body, visibleLine(file.to ?? file.from ?? ""), style, options)];
}

/** Renders a unified diff of core/diff.ts. Ends in a line feed; "" for an empty diff. */
export function renderDiff(diff: string, style: Style, options: DiffOptions): string {
  const files = parseShownDiff(diff);
  const listed = listNaturally(files, ({ from, to }) => {
    const path = to ?? from ?? "";
    return { path: path.replace(/\/$/, ""), isNewFolder: from === null && path.endsWith("/") };
  });
  return listed.map((file) => `${renderFile(file, style, options).join("\n")}\n`).join("\n");
}

const note = (text: string): DiffLine => ({ kind: "note", number: null, text });
const isContent = ({ kind }: DiffLine) => kind === "add" || kind === "delete" || kind === "same";

/** If all lines end in CRLF, replaces the marks on each by one note. A last line without a line end does not count. */
function sayReturns(lines: readonly DiffLine[]): readonly DiffLine[] {
  if (!lines.some(({ text }) => text.endsWith("\r"))) return lines;
  const ended = lines.filter((line, at) => isContent(line) && lines[at + 1]?.kind !== "note");
  if (ended.length === 0 || !ended.every(({ text }) => text.endsWith("\r"))) return lines;
  return [note("lines end in CRLF"), ...lines.map((line) => ({ ...line, text: line.text.replace(/\r$/, "") }))];
}

/** The lines of a file, with notes on permissions and CRLF. */
function explainLines({ from, to, lines }: DiffFile): readonly DiffLine[] {
  if (lines.length === 0 && from === to) return [note("other permissions, same content")];
  return sayReturns(lines);
}
