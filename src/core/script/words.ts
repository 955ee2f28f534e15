/** The words to the user in an action script that still arrives. Pure. */
import { readNext } from "./body.ts";
import { isFence } from "./code-fence.ts";
import { type Header, isTag, readHeader, undecorate } from "./header.ts";
import { createThoughtSplitter } from "./thought.ts";

export interface WordsReader {
  /** Takes a piece of the reply; returns what is now surely words to the user, as it stands in the reply. */
  readonly push: (piece: string) => string;
  /** The rest, once the reply is whole. */
  readonly end: () => string;
}

/** A line that has begun with this many characters and is no header will not become one. */
const longestHeader = 24;
const filesLine = /^[\s>*_`#-]*FILES\b/i;
/** Not words: JSON, edits, the word PLAN. */
const otherForm = /^\s*(?:[{["]|<{3,}|[>*_`#"'.:]*PLAN[*_`"'.!:]*\s*$)/;

const cmdOf = (header: Header | null): string | null =>
  header?.kind === "body" ? header.cmd : header?.kind === "action" ? header.action.cmd : null;

/**
 * Reads the sentences before the first action, and the message of a FINISH that no action precedes. What may be an
 * action, JSON or an edit ends it: what follows is known only when the reply is whole. `code`: fences are words, too.
 */
export function createWordsReader(code: boolean): WordsReader {
  const thoughts = createThoughtSplitter();
  let place: "start" | "words" | "message" | "over" = "start";
  let isCode = false;
  let line = "";
  /** Where the words of the line begin; Infinity: it has none; null: more of it must come. */
  let from: number | null = null;
  let shown = 0;

  function beginOf(whole: boolean): number | null {
    const none = Number.POSITIVE_INFINITY;
    const bare = undecorate(line);
    if (place === "over") return none;
    if (!whole && bare.length < longestHeader) return null;
    const header = isCode ? null : readHeader(bare);
    const isFinish = place !== "message" && cmdOf(header) === "FINISH";
    if (isFinish && header?.kind === "action") {
      const { arg = "" } = header.action;
      if (!whole && isTag(arg)) return null;
      place = "over";
      return arg === "" ? none : line.lastIndexOf(arg);
    }
    if (header !== null || (place === "message" && (readNext(line) !== null || bare.startsWith("END::"))))
      place = isFinish ? "message" : "over";
    else if (!isCode && (otherForm.test(line) || (isFence(line) && !code))) place = "over";
    if (header !== null || place === "over" || filesLine.test(line) || (place === "start" && bare === "")) return none;
    if (isFence(line)) isCode = !isCode;
    if (place === "start") place = "words";
    return 0;
  }

  function show(whole: boolean): string {
    from ??= beginOf(whole);
    const words = line.slice(Math.max(shown, from ?? line.length));
    if (from !== null) shown = line.length;
    return words;
  }

  function take(text: string): string {
    const [first = "", ...rest] = text.split("\n");
    line += first;
    let words = "";
    for (const next of rest) {
      words += show(true);
      if (from !== null && from < line.length + 1) words += "\n";
      [line, from, shown] = [next, null, 0];
    }
    return words + show(false);
  }

  return {
    push: (piece) => take(thoughts.push(piece).text),
    end: () => take(thoughts.end().text) + show(true),
  };
}
