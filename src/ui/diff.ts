/** A unified diff for people: one heading per file, line numbers, colours, long unchanged stretches folded. */
import { counted } from "./amount.ts";
import { diffWords, markRange } from "./diff-marks.ts";
import type { Highlight } from "./highlight.ts";
import { visible, visibleLine } from "./sanitize.ts";
import { mark, type Style } from "./style.ts";

interface Line {
  readonly kind: "add" | "delete" | "same" | "note" | "skip";
  /** Number in the new file, or in the old one where the line is gone; null: not a line of a file. */
  readonly number: number | null;
  readonly text: string;
}

interface FileDiff {
  from: string;
  to: string;
  /** The "---" line was seen; a "diff --git" line may come before it, or stand alone for a pure move. */
  named: boolean;
  readonly lines: Line[];
}

interface Reading {
  readonly files: FileDiff[];
  /** Lines of the hunk still to come, by its heading: inside a hunk, "--- x" is content. */
  oldLeft: number;
  newLeft: number;
  oldAt: number;
  newAt: number;
}

const hunkHead = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const count = (digits: string | undefined): number => (digits === undefined ? 1 : Number(digits));

function readHunkLine(reading: Reading, file: FileDiff, line: string): void {
  const text = line.slice(1);
  if (line.startsWith("+")) {
    file.lines.push({ kind: "add", number: reading.newAt++, text });
    reading.newLeft--;
  } else if (line.startsWith("-")) {
    file.lines.push({ kind: "delete", number: reading.oldAt++, text });
    reading.oldLeft--;
  } else {
    file.lines.push({ kind: "same", number: reading.newAt++, text });
    reading.oldAt++;
    reading.oldLeft--;
    reading.newLeft--;
  }
}

function readHunkHead(reading: Reading, file: FileDiff, match: RegExpExecArray): void {
  const start = Number(match[1]);
  const skipped = start - reading.oldAt;
  if (skipped > 0) file.lines.push({ kind: "skip", number: null, text: counted(skipped, "unchanged line") });
  reading.oldAt = start;
  reading.newAt = Number(match[3]);
  reading.oldLeft = count(match[2]);
  reading.newLeft = count(match[4]);
}

function startFile(reading: Reading, from: string, to: string): FileDiff {
  const file: FileDiff = { from, to, named: false, lines: [] };
  reading.files.push(file);
  reading.oldAt = 1;
  return file;
}

const escapes: Readonly<Record<string, string>> = { a: "\x07", b: "\b", t: "\t", n: "\n", v: "\v", f: "\f", r: "\r" };

/** A name quoted for its unusual characters, as git (octal bytes) or JSON do it. */
function unquote(name: string): string {
  if (!/^".*"$/.test(name)) return name;
  const bytes = name
    .slice(1, -1)
    .match(/\\[0-7]{3}|\\u[0-9a-f]{4}|\\.|[^\\]+/giu)
    ?.map((part) => {
      if (/^\\u./.test(part)) return Buffer.from(String.fromCharCode(Number.parseInt(part.slice(2), 16)));
      if (/^\\[0-7]/.test(part)) return Buffer.of(Number.parseInt(part.slice(1), 8));
      return Buffer.from(part.startsWith("\\") ? (escapes[part.slice(1)] ?? part.slice(1)) : part);
    });
  return Buffer.concat(bytes ?? []).toString();
}

/** Names of files. "diff --git" may come before "---" or stand alone for a pure move. */
function readName(reading: Reading, line: string): boolean {
  const file = reading.files.at(-1);
  const git = /^diff --git ("?a\/.+) ("?b\/.+)$/.exec(line);
  const name = /^(---|\+\+\+) ([^\t]*)/.exec(line);
  const path = unquote(name?.[2] ?? "");
  if (git) startFile(reading, unquote(git[1] ?? ""), unquote(git[2] ?? ""));
  else if (name?.[1] === "+++" && file) file.to = path;
  else if (name?.[1] === "---" && file?.named === false && (path === file.from || path === "/dev/null")) {
    Object.assign(file, { from: path, named: true });
  } else if (name?.[1] === "---") startFile(reading, path, "").named = true;
  return git !== null || name !== null;
}

/** Folders are one line each and have no lines of their own. */
function readFolder(reading: Reading, line: string): boolean {
  const folder = /^(new|deleted) folder (.+)$/.exec(line);
  const name = unquote(folder?.[2] ?? "");
  if (folder?.[1] === "new") startFile(reading, "/dev/null", `b/${name}`);
  else if (folder) startFile(reading, `a/${name}`, "/dev/null");
  return folder !== null;
}

/** Lines outside hunks; what only repeats the names is passed over. */
function readHeading(reading: Reading, line: string): void {
  const file = reading.files.at(-1);
  if (readName(reading, line) || readFolder(reading, line) || file === undefined) return;
  const hunk = hunkHead.exec(line);
  const note = /^\\ (.*)|^(old mode .*|new mode .*)|^(Binary) /.exec(line);
  if (hunk) readHunkHead(reading, file, hunk);
  else if (line.startsWith("new file mode")) file.from = "/dev/null";
  else if (line.startsWith("deleted file mode")) file.to = "/dev/null";
  else if (note)
    file.lines.push({ kind: "note", number: null, text: (note[1] ?? note[2] ?? note[3] ?? "").toLowerCase() });
}

function readFiles(diff: string): readonly FileDiff[] {
  const reading: Reading = { files: [], oldLeft: 0, newLeft: 0, oldAt: 1, newAt: 1 };
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const file = reading.files.at(-1);
    const inHunk = reading.oldLeft > 0 || reading.newLeft > 0;
    if (file !== undefined && inHunk && !line.startsWith("\\")) readHunkLine(reading, file, line);
    else readHeading(reading, line);
  }
  return reading.files;
}

function nameOf({ from, to }: FileDiff, arrow: string): string {
  const bare = (name: string) => name.replace(/^[ab]\//, "");
  const prefixed = (from === "/dev/null" || from.startsWith("a/")) && (to === "/dev/null" || to.startsWith("b/"));
  const [before, after] = prefixed ? [bare(from), bare(to)] : [from, to];
  if (before === "/dev/null") return `${after} (new)`;
  if (after === "/dev/null") return `${before} (deleted)`;
  return before === after || after === "" ? before : `${before} ${arrow} ${after}`;
}

/** Replaces the middle of each stretch of more than `2 * keep + 1` unchanged lines. */
function foldLines(lines: readonly Line[], keep: number): Line[] {
  const kept: Line[] = [];
  for (let start = 0; start < lines.length; ) {
    let end = start;
    while (lines[end]?.kind === "same") end++;
    if (end === start) end++;
    const run = lines.slice(start, end);
    const before = start === 0 ? 0 : keep;
    const after = end === lines.length ? 0 : keep;
    const hidden = run.length - before - after;
    if (run[0]?.kind === "same" && hidden > 1) {
      const skip: Line = { kind: "skip", number: null, text: counted(hidden, "unchanged line") };
      kept.push(...run.slice(0, before), skip, ...run.slice(run.length - after));
    } else kept.push(...run);
    start = end;
  }
  return kept;
}

/** How the lines of a file are shown: those there now in the colours of their language, changed words marked. */
function drawLines(lines: readonly Line[], name: string, style: Style, highlight: Highlight | null): Map<Line, string> {
  const drawn = new Map<Line, string>();
  const color = (run: readonly Line[]) => {
    const colored = highlight?.(name)?.(run.map(({ text }) => visible(text)).join("\n")).split("\n");
    for (const [at, line] of run.entries()) {
      const text = visible(line.text);
      drawn.set(line, colored?.[at] ?? (line.kind === "add" ? style.paint("ok", text) : text));
    }
  };
  let run: Line[] = [];
  for (const line of lines) {
    if (line.kind === "add" || line.kind === "same") run.push(line);
    else if (line.kind === "delete") drawn.set(line, style.paint("error", visible(line.text)));
    else {
      color(run);
      run = [];
    }
  }
  color(run);
  for (const [before, after] of pairs(lines)) {
    const ranges = diffWords(visible(before.text), visible(after.text));
    if (ranges === null) continue;
    drawn.set(before, markRange(drawn.get(before) ?? "", ranges[0], style));
    drawn.set(after, markRange(drawn.get(after) ?? "", ranges[1], style));
  }
  return drawn;
}

/** Deleted lines with the added ones in their place, where they are as many. */
function pairs(lines: readonly Line[]): [Line, Line][] {
  const found: [Line, Line][] = [];
  for (let start = 0; start < lines.length; ) {
    const gone = countFrom(lines, start, "delete");
    const come = countFrom(lines, start + gone, "add");
    if (gone === come) {
      for (let at = start; at < start + gone; at++) {
        const [before, after] = [lines[at], lines[at + gone]];
        if (before && after) found.push([before, after]);
      }
    }
    start += Math.max(1, gone + come);
  }
  return found;
}

function countFrom(lines: readonly Line[], start: number, kind: Line["kind"]): number {
  let end = start;
  while (lines[end]?.kind === kind) end++;
  return end - start;
}

function renderLine(line: Line, drawn: string, digits: number, style: Style): string {
  const number = (line.number === null ? "" : String(line.number)).padStart(digits);
  const text = drawn === "" ? "" : ` ${drawn}`;
  switch (line.kind) {
    case "add":
      return `  ${style.paint("ok", `${number} +`)}${text}`;
    case "delete":
      return `  ${style.paint("error", `${number} -`)}${text}`;
    case "same":
      return `  ${style.paint("dim", number)}${text === "" ? "" : `  ${text}`}`;
    case "note":
      return `  ${" ".repeat(digits)}   ${style.paint("dim", visible(line.text))}`;
    case "skip":
      return style.paint("dim", `  ${style.glyphs.more.slice(0, digits).padStart(digits)}   ${line.text}`);
  }
}

/** "+12 -3", with colours; "" for neither. */
export function renderCounts(added: number, deleted: number, style: Style): string {
  const parts = [
    ...(added > 0 ? [style.paint("ok", `+${added}`)] : []),
    ...(deleted > 0 ? [style.paint("error", `-${deleted}`)] : []),
  ];
  return parts.join(" ");
}

export interface DiffOptions {
  /** How many unchanged lines to keep beside a change. */
  readonly fold: number;
  /** null: no colours for code. */
  readonly highlight?: Highlight | null;
}

/** Any unified diff. Ends in a line feed; "" for no diff. */
export function renderDiff(unifiedDiff: string, style: Style, { fold, highlight = null }: DiffOptions): string {
  return readFiles(unifiedDiff)
    .map((file) => {
      const added = file.lines.filter((line) => line.kind === "add").length;
      const deleted = file.lines.filter((line) => line.kind === "delete").length;
      const digits = String(file.lines.reduce((most, line) => Math.max(most, line.number ?? 0), 0)).length;
      const name = visibleLine(nameOf(file, style.glyphs.arrow));
      const path = file.to === "/dev/null" ? file.from : file.to;
      const lines = foldLines(file.lines, fold);
      const drawn = drawLines(lines, path, style, style.color ? highlight : null);
      return [
        `${mark(style, "change")} ${name}  ${renderCounts(added, deleted, style)}`.trimEnd(),
        ...lines.map((line) => renderLine(line, drawn.get(line) ?? "", Math.max(digits, 3), style)),
      ];
    })
    .map((lines) => `${lines.join("\n")}\n`)
    .join("\n");
}
