/** Renders a diff for people: a heading for each file, numbered coloured lines, marked words, notes. */
import { classOf } from "../../core/closed-names.ts";
import { grouped } from "../amount.ts";
import type { Highlight } from "../highlight.ts";
import { expandTabs, wrapCode } from "../layout.ts";
import { markMixed, visible, visibleLine } from "../sanitize.ts";
import { invertColors, type Meaning, mark, type Style } from "../style.ts";
import { type DiffFile, type DiffLine, noteLine, parseShownDiff } from "./read.ts";

export interface DiffOptions {
  /** Width at which lines wrap, indented; null: no wrapping. */
  readonly columns: number | null;
  /** A question follows, so every change is shown, however long its line. */
  readonly whole?: boolean;
  /** null: code is not highlighted. */
  readonly highlight: Highlight | null;
  /** Names the command that shows the rest of a long file, which is folded; absent, or with `whole`: none is. */
  readonly fold?: ((path: string) => string) | undefined;
}

/** Characters from `from` up to, but without, `to`. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** A line as it is shown. `mark`: the part that differs from the line it replaces; null: none. */
interface DiffRow extends DiffLine {
  readonly mark: Range | null;
}

const words = /(?:\p{L}|\p{M}|\p{N}|_)+|\s+|./gsu;
/** Share of the longer line. If more differs, the lines have too little in common to mark anything. */
const maxChanged = 0.7;

function countFrom(lines: readonly DiffLine[], start: number, kind: DiffLine["kind"]): number {
  let end = start;
  while (lines[end]?.kind === kind) end += 1;
  return end - start;
}

type Pair = readonly [before: DiffLine, after: DiffLine];

/** Deleted lines with those that take their place: as many added ones directly behind them. */
function findPairs(lines: readonly DiffLine[]): readonly Pair[] {
  const found: Pair[] = [];
  for (let start = 0; start < lines.length; ) {
    const gone = countFrom(lines, start, "delete");
    const come = countFrom(lines, start + gone, "add");
    const end = start + Math.max(1, gone + come);
    for (let at = start + gone; gone > 0 && gone === come && at < end; at += 1) {
      const [before, after] = [lines[at - gone], lines[at]];
      if (before !== undefined && after !== undefined) found.push([before, after]);
    }
    start = end;
  }
  return found;
}

function sharedLength(one: readonly string[], other: readonly string[]): number {
  let length = 0;
  for (const [at, word] of one.entries()) {
    if (word !== other[at]) return length;
    length += word.length;
  }
  return length;
}

/** The differing middle part of each line; null: they have too little in common. */
function diffWords(before: string, after: string): readonly [Range, Range] | null {
  const [old, now] = [before.match(words) ?? [], after.match(words) ?? []];
  const start = sharedLength(old, now);
  const rest = Math.min(before.length, after.length) - start;
  const end = Math.min(sharedLength(old.toReversed(), now.toReversed()), rest);
  const changed = Math.max(before.length, after.length) - start - end;
  if (changed > maxChanged * Math.max(before.length, after.length)) return null;
  return [
    { from: start, to: before.length - end },
    { from: start, to: after.length - end },
  ];
}

function findMarks(lines: readonly DiffLine[]): ReadonlyMap<DiffLine, Range> {
  const marks = new Map<DiffLine, Range>();
  // A note on a missing line feed stands between a last line and the one that replaces it.
  const content = lines.filter(({ kind }) => kind !== "note");
  for (const [before, after] of findPairs(content)) {
    const ranges = diffWords(before.text, after.text);
    if (ranges === null) continue;
    marks.set(before, ranges[0]);
    marks.set(after, ranges[1]);
  }
  return marks;
}

const meanings: Readonly<Record<DiffRow["kind"], Meaning | null>> = {
  add: "ok",
  delete: "error",
  same: null,
  note: "dim",
  skip: "dim",
};

/** The new content in pieces between skipped lines, each highlighted as one text. */
function findCode(rows: readonly DiffRow[]): readonly (readonly DiffRow[])[] {
  const runs: DiffRow[][] = [[]];
  for (const row of rows) {
    if (row.kind === "skip") runs.push([]);
    else if (row.kind === "add" || row.kind === "same") runs.at(-1)?.push(row);
  }
  return runs;
}

/** Each row's text in colours that do not nest. `name` determines the language. */
function paintRows(rows: readonly DiffRow[], name: string, style: Style, highlight: Highlight | null) {
  const painted = new Map<DiffRow, string>();
  for (const row of rows) {
    const meaning = meanings[row.kind];
    painted.set(row, meaning === null ? row.text : style.paint(meaning, row.text));
  }
  if (highlight === null) return painted;
  for (const run of findCode(rows)) {
    const lines = highlight(name)?.(run.map(({ text }) => text).join("\n")).split("\n");
    for (const [at, row] of run.entries()) painted.set(row, lines?.[at] ?? painted.get(row) ?? "");
  }
  return painted;
}

/** Cuts a coloured text at positions in the uncoloured one. */
function cutPainted(painted: string, { from, to }: Range): string {
  if (from >= to) return "";
  let at = 0;
  let out = "";
  for (const [part, on = "", text = part, off = ""] of painted.matchAll(
    /(\x1b\[\d+m)([^\x1b]*)(\x1b\[\d+m)|[^\x1b]+/g,
  )) {
    const cut = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (cut !== "") out += on + cut + off;
    at += text.length;
  }
  return out;
}

function markWords({ kind, text, mark }: DiffRow, painted: string, style: Style): string {
  if (mark === null || !style.color) return painted;
  const marked = invertColors(style, meanings[kind] ?? "dim", text.slice(mark.from, mark.to));
  const rest = cutPainted(painted, { from: mark.to, to: text.length });
  return cutPainted(painted, { from: 0, to: mark.from }) + marked + rest;
}

/** Longer lines, in characters, are cut to what changed in them. */
const longLine = 400;
/** Characters of a cut line: shown at most, and on each side of the change. */
const maxShown = 2000;
const beside = 100;

function chooseRange({ kind, text, mark }: DiffRow): Range {
  const changed = mark ?? { from: 0, to: kind === "same" ? 0 : text.length };
  const from = Math.max(0, changed.from - beside);
  return { from, to: Math.min(text.length, changed.to + beside, from + maxShown) };
}

/** Whether the part of a long line that is shown holds all that changed in it. */
const isShownByPart = ({ kind, mark }: DiffRow): boolean =>
  kind === "same" || (mark !== null && mark.to - mark.from <= maxShown - beside);

/** The row itself; of a row that is too long a part, with a note on how much is missing. `more` marks the cuts. */
function cutRow(row: DiffRow, more: string): readonly DiffRow[] {
  const { text, mark } = row;
  if (text.length <= longLine) return [row];
  const { from, to } = chooseRange(row);
  if (to - from === text.length) return [row];
  const lead = from > 0 ? more : "";
  // The cut may split a surrogate pair; half a character is shown as "?".
  const shown = text.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "?");
  const move = (at: number) => Math.min(Math.max(at - from, 0), shown.length) + lead.length;
  const hidden = `${grouped(text.length - (to - from))} of ${grouped(text.length)} characters not shown`;
  return [
    {
      ...row,
      text: lead + shown + (to < text.length ? more : ""),
      mark: mark && { from: move(mark.from), to: move(mark.to) },
    },
    { ...noteLine(hidden), mark: null },
  ];
}

const { compare } = new Intl.Collator("en", { numeric: true });

/** Sorts items naturally and drops new folders that contain another item, whose path implies them. */
export function listNaturally<T>(items: readonly T[], of: (item: T) => { path: string; isNewFolder: boolean }): T[] {
  if (items.length < 2) return [...items];
  const paths = items.map((item) => of(item).path);
  const isTold = (folder: string) => paths.some((path) => path.startsWith(`${folder}/`));
  return items
    .filter((item) => !of(item).isNewFolder || !isTold(of(item).path))
    .toSorted((a, b) => compare(of(a).path, of(b).path));
}

/** Lines of one file shown before it is folded: about two screens. */
const maxFileLines = 60;

function foldLines(lines: readonly string[], path: string, style: Style, { fold, whole }: DiffOptions) {
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

const signs: Readonly<Partial<Record<DiffRow["kind"], string>>> = { add: " +", delete: " -" };

/** The number column of a row, always `digits` plus five columns wide. */
function renderLead({ kind, number }: DiffRow, digits: number, style: Style): string {
  const column = kind === "skip" ? style.glyphs.more.slice(0, digits) : String(number ?? "");
  const sign = signs[kind] ?? "";
  const gap = sign === "" ? "   " : " ";
  return `  ${style.paint(meanings[kind] ?? "dim", column.padStart(digits) + sign)}${gap}`;
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

const isContent = ({ kind }: DiffLine) => kind === "add" || kind === "delete" || kind === "same";

/** The lines of a file, with a note on permissions, or on CRLF where all lines but a last one without a line end have it. */
function explainLines({ from, to, lines }: DiffFile): readonly DiffLine[] {
  if (lines.length === 0 && from === to) return [noteLine("other permissions, same content")];
  const ended = lines.filter((line, at) => isContent(line) && lines[at + 1]?.kind !== "note");
  if (ended.length === 0 || !ended.every(({ text }) => text.endsWith("\r"))) return lines;
  return [noteLine("lines end in CRLF"), ...lines.map((line) => ({ ...line, text: line.text.replace(/\r$/, "") }))];
}
