/** Renders a diff for people: a heading for each file, numbered coloured lines, notes. */
import { classOf } from "../../core/closed-names.ts";
import type { Highlight } from "../highlight.ts";
import { expandTabs, wrapCode } from "../layout.ts";
import { listNaturally } from "../natural-order.ts";
import { markMixed, visible, visibleLine } from "../sanitize.ts";
import { type Meaning, mark, type Style } from "../style.ts";
import { cutLongLines } from "./long-lines.ts";
import { type DiffFile, type DiffLine, parseShownDiff } from "./read.ts";

export interface DiffOptions {
  readonly columns: number | null;
  /** A question follows, so every change is shown, however long its line. */
  readonly whole?: boolean;
  readonly highlight: Highlight | null;
  /** Names the command that shows the rest of a long file, which is then folded. Absent, or with `whole`: no folding. */
  readonly fold?: ((path: string) => string) | undefined;
}

/** Lines of one file shown before it is folded: about two screens. */
const maxFileLines = 60;

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
  const count = (kind: DiffLine["kind"]) => file.lines.filter((line) => line.kind === kind).length;
  const name = markMixed(visibleLine(nameOf(file, style.glyphs.arrow)));
  const counts = renderCounts(count("add"), count("delete"), style);
  const isAsked = file.to !== null && classOf(file.to.replace(/\/$/, "")) === "asked";
  return `${mark(style, "change")} ${name}  ${counts}${isAsked ? `  ${mark(style, "warn")}` : ""}`.trimEnd();
}

const signs = { add: " +", delete: " -", same: "", note: "", skip: "" } as const;
const meanings: Readonly<Record<DiffLine["kind"], Meaning>> = {
  add: "ok",
  delete: "error",
  same: "dim",
  note: "dim",
  skip: "dim",
};

/** The number column of a line, always `digits` plus five columns wide. */
function renderLead({ kind, number }: DiffLine, digits: number, style: Style): string {
  const text = kind === "skip" ? style.glyphs.more.slice(0, digits) : String(number ?? "");
  const column = `${text.padStart(digits)}${signs[kind]}`;
  return `  ${style.paint(meanings[kind], column)}${" ".repeat(digits + 3 - column.length)}`;
}

/** The new content in pieces between skipped lines, each highlighted as one text. */
function findCode(lines: readonly DiffLine[]): readonly (readonly DiffLine[])[] {
  const runs: DiffLine[][] = [[]];
  for (const line of lines) {
    if (line.kind === "skip") runs.push([]);
    else if (line.kind === "add" || line.kind === "same") runs.at(-1)?.push(line);
  }
  return runs;
}

function paintCode(lines: readonly DiffLine[], name: string, highlight: Highlight): ReadonlyMap<DiffLine, string> {
  const painted = new Map<DiffLine, string>();
  for (const run of findCode(lines)) {
    const texts = highlight(name)?.(run.map(({ text }) => text).join("\n")).split("\n") ?? [];
    for (const [at, text] of texts.entries()) painted.set(run[at] as DiffLine, text);
  }
  return painted;
}

function renderFile(file: DiffFile, style: Style, options: DiffOptions): string[] {
  const { columns, highlight, whole = false } = options;
  const path = file.to ?? file.from ?? "";
  const show = columns === null ? visible : (text: string) => expandTabs(visible(text));
  const all = explainLines(file).map((line) => ({ ...line, text: show(line.text) }));
  const lines = cutLongLines(all, style.glyphs.more, whole);
  const code = style.color && highlight !== null ? paintCode(lines, path, highlight) : null;
  const paint = ({ kind, text }: DiffLine) => (kind === "same" ? text : style.paint(meanings[kind], text));
  const last = lines.reduce((largest, { number }) => Math.max(largest, number ?? 0), 0);
  const digits = Math.max(String(last).length, 3);
  const margin = digits + 5;
  const body = lines.flatMap((line) =>
    wrapCode(code?.get(line) ?? paint(line), columns && columns - margin).map((part, at) => {
      const lead = at === 0 ? renderLead(line, digits, style) : " ".repeat(margin);
      return part === "" ? lead.trimEnd() : lead + part;
    }),
  );
  return [renderHeading(file, style), ...foldLines(body, visibleLine(path), style, options)];
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

/** The lines of a file; where all end in CRLF, one note says so. A last line without a line end does not count. */
function explainLines({ from, to, lines }: DiffFile): readonly DiffLine[] {
  const note = (text: string): DiffLine => ({ kind: "note", number: null, text });
  if (lines.length === 0 && from === to) return [note("other permissions, same content")];
  const ended = lines.filter(({ number }, at) => number !== null && lines[at + 1]?.kind !== "note");
  if (ended.length === 0 || !ended.every(({ text }) => text.endsWith("\r"))) return lines;
  return [note("lines end in CRLF"), ...lines.map((line) => ({ ...line, text: line.text.replace(/\r$/, "") }))];
}
