/** What a look action found, as a person reads it: a file with line numbers, a tree as it is. */
import { rowOf } from "../../core/vocabulary.ts";
import { counted, grouped } from "../amount.ts";
import type { Highlight } from "../highlight.ts";
import { expandTabs, wrapCode } from "../layout.ts";
import { visible } from "../sanitize.ts";
import type { Style } from "../style.ts";

const numbered = /^ *(\d+)(?: (.*))?$/;
const headLines = 30;
const tailLines = 5;
/** Lines of what is not a file before it is folded. */
const maxLines = 40;
/** Fewer lines than this are not worth folding. */
const leastHidden = 10;
/** Characters of a line that are shown. */
const longestLine = 400;
/** Columns beside a line's number: two before it, a bar between blanks after it. */
const gutter = 5;

interface Row {
  readonly number: string;
  readonly text: string;
}

/** Lines come numbered as the model reads them; notes around them have no number. */
function readRows(text: string): Row[] {
  return text.split("\n").map((line) => {
    const match = numbered.exec(line);
    return match ? { number: match[1] ?? "", text: match[2] ?? "" } : { number: "", text: line };
  });
}

/** A line that is longer than anybody reads is cut, and says so. Tabs are as wide as a terminal shows them. */
function cutLine(text: string, more: string): string {
  const left = text.length - longestLine;
  return expandTabs(left > 0 ? `${text.slice(0, longestLine)}${more} ${grouped(left)} more characters` : text);
}

function renderFile(text: string, name: string, { style, columns, highlight, whole }: LookOptions): string[] {
  const { bar, more } = style.glyphs;
  const rows = readRows(text);
  const digits = rows.reduce((most, row) => Math.max(most, row.number.length), 3);
  const room = columns === null ? null : columns - digits - gutter;
  const draw = (part: readonly Row[]) => {
    const code = part.map((row) => cutLine(row.text, more)).join("\n");
    const painted = (style.color && highlight?.(name)?.(code)) || code;
    return painted.split("\n").flatMap((line, at) =>
      wrapCode(line, room).map((piece, n) => {
        const number = (n === 0 ? (part[at]?.number ?? "") : "").padStart(digits);
        return `  ${style.paint("dim", `${number} ${bar}`)} ${piece}`.trimEnd();
      }),
    );
  };
  const hidden = rows.length - headLines - tailLines;
  if (whole === true || hidden < leastHidden) return draw(rows);
  const note = `  ${more.padStart(digits)}   ${counted(hidden, "more line")} (${wayToAll})`;
  return [...draw(rows.slice(0, headLines)), style.paint("dim", note), ...draw(rows.slice(-tailLines))];
}

const branches = /^(?:│ {3}| {4})*(?:├── |└── )/gm;

/** A tree's branches in what the terminal can show; read aloud, indentation is enough. */
function drawn(text: string, { plain, glyphs }: Style): string {
  if (plain) return text.replace(branches, (branch) => " ".repeat(branch.length - 2));
  if (glyphs.bar === "│") return text;
  return text.replace(branches, (branch) => branch.replaceAll("│", "|").replace("├──", "|--").replace("└──", "`--"));
}

export interface Look {
  readonly action: string;
  /** What was looked at: a path for READ. */
  readonly target: string;
  readonly text: string;
}

export interface LookOptions {
  readonly style: Style;
  /** null: lines stay as they are. */
  readonly columns: number | null;
  /** null: no colours for code. */
  readonly highlight: Highlight | null;
  /** Nothing is folded. */
  readonly whole?: boolean;
}

const wayToAll = "-v shows all";

/** Folds what is longer than anybody reads between a question and its answer. */
function fold(lines: readonly string[], { style, whole }: LookOptions): readonly string[] {
  const hidden = lines.length - maxLines;
  if (whole === true || hidden < leastHidden) return lines;
  return [...lines.slice(0, maxLines), `${style.glyphs.more} ${counted(hidden, "more line")} (${wayToAll})`];
}

/** Ends in a line feed; "" for nothing found. What is long is folded. */
export function renderLook({ action, target, text }: Look, options: LookOptions): string {
  const { style, columns } = options;
  const shown = visible(text).replace(/\n+$/, "");
  if (shown === "") return "";
  const lines =
    rowOf(action)?.form === "lines"
      ? renderFile(shown, target.split(" ")[0] ?? "", options)
      : fold(drawn(shown, style).split("\n"), options)
          .flatMap((line) => wrapCode(cutLine(line, style.glyphs.more), columns && columns - 2))
          .map((line) => `  ${line}`);
  return `${lines.join("\n")}\n`;
}
