/** Renders the result of a look for people: a file with line numbers, a tree as it is. */
import { rowOf } from "../../core/vocabulary.ts";
import { counted, grouped } from "../amount.ts";
import type { Highlight } from "../highlight.ts";
import { expandTabs, refit, wrapCode } from "../layout.ts";
import { visible } from "../sanitize.ts";
import type { Style } from "../style.ts";

const numbered = /^ *(\d+)(?: (.*))?$/;
const headLines = 30;
const tailLines = 5;
/** Lines shown of a tree or search result before it is folded. */
const maxLines = 40;
/** Lines shown of the output of a command: its end says how it went. */
const command = { head: 10, tail: 30 };
const minHidden = 10;
const longestLine = 400;
/** Columns around a line number: two before it, a bar between blanks after it. */
const gutter = 5;

interface Row {
  readonly number: string;
  readonly text: string;
}

function readRows(text: string): Row[] {
  return text.split("\n").map((line) => {
    const match = numbered.exec(line);
    return match ? { number: match[1] ?? "", text: match[2] ?? "" } : { number: "", text: line };
  });
}

function cutLine(text: string, more: string): string {
  const left = text.length - longestLine;
  return expandTabs(left > 0 ? `${text.slice(0, longestLine)}${more} ${grouped(left)} more characters` : text);
}

function renderFile(text: string, name: string, { style, columns, highlight, whole }: LookOptions): string[] {
  const { bar, more } = style.glyphs;
  const rows = readRows(text);
  const digits = rows.reduce((longest, row) => Math.max(longest, row.number.length), 3);
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
  if (whole === true || hidden < minHidden) return draw(rows);
  const note = `  ${more.padStart(digits)}   ${counted(hidden, "more line")} (${wayToAll})`;
  return [...draw(rows.slice(0, headLines)), style.paint("dim", note), ...draw(rows.slice(-tailLines))];
}

const branches = /^(?:│ {3}| {4})*(?:├── |└── )/gm;

/** A terminal without such characters gets indentation in the place of branches. */
function drawn(text: string, { glyphs }: Style): string {
  if (glyphs.bar === "│") return text;
  return text.replace(branches, (branch) => " ".repeat(branch.length - 2));
}

export interface ShownLook {
  readonly action: string;
  readonly target: string;
  readonly text: string;
}

export interface LookOptions {
  readonly style: Style;
  readonly columns: number | null;
  readonly highlight: Highlight | null;
  readonly whole?: boolean;
  readonly allOutput?: string | undefined;
}

const wayToAll = "-v shows all";

function fold(action: string, lines: readonly string[], { style, whole, allOutput }: LookOptions): readonly string[] {
  const hidden = lines.length - maxLines;
  if (whole === true || hidden < minHidden) return lines;
  const isCommand = rowOf(action)?.kind === "command";
  const way = isCommand ? (allOutput ?? wayToAll) : wayToAll;
  const note = `${style.glyphs.more} ${counted(hidden, "more line")} (${way})`;
  return isCommand
    ? [...lines.slice(0, command.head), note, ...lines.slice(-command.tail)]
    : [...lines.slice(0, maxLines), note];
}

/** Renders a look, folded if it is long. Ends in a line feed; "" if nothing was found. */
export function renderLook({ action, target, text }: ShownLook, options: LookOptions): string {
  const { style, columns } = options;
  const shown = visible(text).replace(/\n+$/, "");
  if (shown === "") return "";
  const room = columns && columns - 2;
  const fit = (line: string) =>
    rowOf(action)?.kind === "command" ? wrapCode(line, room) : refit(line, room).split("\n");
  const lines =
    rowOf(action)?.form === "lines"
      ? renderFile(shown, target.split(" ")[0] ?? "", options)
      : fold(action, drawn(shown, style).split("\n"), options)
          .flatMap((line) => fit(cutLine(line, style.glyphs.more)))
          .map((line) => `  ${line}`);
  return `${lines.join("\n")}\n`;
}
