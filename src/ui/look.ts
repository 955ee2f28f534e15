/** What a look action found, as a person reads it: a file with line numbers, a tree as it is. */
import { counted } from "./amount.ts";
import type { Highlight } from "./highlight.ts";
import { visible } from "./sanitize.ts";
import type { Style } from "./style.ts";

const numbered = /^ *(\d+)(?: (.*))?$/;
const headLines = 30;
const tailLines = 5;
/** Folding fewer saves nothing worth a gap. */
const leastHidden = 10;

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

function renderFile(text: string, name: string, style: Style, highlight: Highlight | null): string[] {
  const rows = readRows(text);
  const colored = style.color ? highlight?.(name)?.(rows.map((row) => row.text).join("\n")).split("\n") : null;
  const digits = rows.reduce((most, row) => Math.max(most, row.number.length), 3);
  const lines = rows.map((row, at) =>
    `  ${style.paint("dim", `${row.number.padStart(digits)} ${style.glyphs.bar}`)} ${colored?.[at] ?? row.text}`.trimEnd(),
  );
  const hidden = lines.length - headLines - tailLines;
  if (hidden < leastHidden) return lines;
  const note = `  ${style.glyphs.more.padStart(digits)}   ${counted(hidden, "more line")}`;
  return [...lines.slice(0, headLines), style.paint("dim", note), ...lines.slice(-tailLines)];
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

/** Ends in a line feed; "" for nothing found. READ is folded when long, everything else is whole. */
export function renderLook({ action, target, text }: Look, style: Style, highlight: Highlight | null): string {
  const shown = visible(text).replace(/\n+$/, "");
  if (shown === "") return "";
  const lines =
    action === "READ"
      ? renderFile(shown, target.split(" ")[0] ?? "", style, highlight)
      : drawn(shown, style)
          .split("\n")
          .map((line) => `  ${line}`);
  return `${lines.join("\n")}\n`;
}
