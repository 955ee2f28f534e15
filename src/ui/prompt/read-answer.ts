/** Draws a question at the terminal, and reads what the answer to it means. */
import type { Question } from "../../core/question.ts";
import { counted } from "../amount.ts";
import { renderDiff } from "../diff/render-diff.ts";
import { wrap } from "../layout.ts";
import { markMixed, visible } from "../sanitize.ts";
import type { Style } from "../style.ts";

export type Answer = "yes" | "no" | "always" | "review" | "show" | "help" | "again" | { readonly feedback: string };

const no = /^(?:n|no|nope|tidak|batal)(?:[\s,.!]+(?:thanks?|thank|you))*[\s.!]*$/i;
const always = /^(?:(?:y|yes|ya|ok)[\s,]+)?(?:a|always)[\s.!]*$/i;
const yes = /^(?:y|yes|yeah|yep|ya|ok|okay|oke|sure|lanjut)[\s.!]*$/i;
const plainYes =
  /^(?:y|yes|yeah|yep|ya|ok|okay|oke|sure|lanjut)(?:[\s,.!]+(?:please|go|ahead|on|do|it|that|thanks?|thank|you|fine|great|good|perfect|yes|ok|okay|proceed|continue|silakan|saja))*[\s.!]*$/i;
/** A command of a session or a shell command, which only a prompt takes: no model is asked for it as a correction. */
const atPrompt = /^(?:!|\/[a-z]+\s)/;
const goOn = new Set(["y", "ya", "yes", "ok", "oke", "go", "lanjut", "continue", "proceed"]);

/**
 * Interprets the answer to a question. `text` null: Ctrl+D, which means no. `feedback` false: only yes or no are
 * valid. `always`: `a` is valid too; `review`: `d` is a yes, else it shows the question again. "again": ask once more, as
 * after a yes with words that add nothing.
 */
export function readAnswer(
  text: string | null,
  {
    feedback,
    always: takesAlways = false,
    review = false,
  }: { readonly feedback: boolean; readonly always?: boolean; readonly review?: boolean },
): Answer {
  if (text === null) return "no";
  const said = text.trim();
  const word = said.toLowerCase();
  if (yes.test(said)) return "yes";
  if (no.test(said)) return "no";
  if (always.test(said)) return takesAlways ? "always" : "again";
  if (word === "d") return review ? "review" : "show";
  if (word === "?") return "help";
  if (!feedback || plainYes.test(said)) return "again";
  const marked = /^f\s+(\S.*)$/is.exec(said)?.[1];
  if (marked !== undefined) return { feedback: marked };
  return /\S\s+\S/.test(said) && !atPrompt.test(said) ? { feedback: said } : "again";
}

export const isNo = (text: string): boolean => no.test(text.trim());
export const isContinue = (text: string): boolean => goOn.has(text.trim().toLowerCase());

/** Whether a text that was typed before a question came could have been meant as an answer to one. */
export function couldAnswer(text: string): boolean {
  const answer = readAnswer(text, { feedback: true, always: true });
  const isYes = isContinue(text) || plainYes.test(text.trim());
  return text.trim().length < 2 || isYes || (typeof answer === "string" && answer !== "again");
}

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
