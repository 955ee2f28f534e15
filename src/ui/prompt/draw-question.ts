/** Renders a question in full, with nothing hidden in it. */
import type { Question } from "../../core/question.ts";
import { counted } from "../amount.ts";
import { renderDiff } from "../diff/render-diff.ts";
import { wrap } from "../layout.ts";
import { markMixed, visible } from "../sanitize.ts";
import type { Style } from "../style.ts";

/** A question longer than this is followed by its size. */
const long = { lines: 15, bytes: 1000 };
/** More blanks in a row than this could push text out of sight. */
const padding = /[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]{17,}/g;
const emptyLines = /\n(?:[ \t]*\n){4,}/g;

/** The text of a question with hidden characters escaped, marked or counted. */
export function spellQuestion(text: string, isCommand: boolean): string {
  const shown = markMixed(visible(text))
    .trimEnd()
    .replace(emptyLines, (lines) => `\n[${counted(lines.split("\n").length - 2, "empty line")}]\n`)
    .replace(padding, (spaces) => `[${counted(spaces.length, "space")}]`);
  return isCommand ? shown.replaceAll("\t", "\\t") : shown;
}

/** The text of a question, ending in a line feed; "" for none. `columns` null: no wrapping. */
export function renderQuestion(question: Question, style: Style, columns: number | null): string {
  const text = spellQuestion(question.text, question.kind === "command");
  if (text === "") return "";
  const lines = question.text.trimEnd().split("\n").length;
  const bytes = Buffer.byteLength(question.text.trimEnd());
  const size = `(${counted(lines, "line")}, ${counted(bytes, "byte")})`;
  const note = lines > long.lines || bytes > long.bytes ? [style.paint("dim", size)] : [];
  const diff = renderDiff(question.diff ?? "", style, { columns, highlight: null, whole: true });
  const { bar } = style.glyphs;
  const marked = bar === "│" ? text : text.replace(/^│ /gm, `${bar} `);
  return `${[...wrap(marked, columns), ...note].join("\n")}\n${diff === "" ? "" : `\n${diff}\n`}`;
}
