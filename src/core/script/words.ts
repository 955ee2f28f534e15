/** The words to the user in an action script that still arrives. Pure. */
import { readNext } from "./body.ts";
import { isFence } from "./code-fence.ts";
import { type Header, isTag, readHeader, undecorate } from "./header.ts";
import { createThoughtSplitter } from "./thought.ts";

/** A line that has begun with this many characters and is no header will not become one. */
const longestHeader = 24;
const filesLine = /^[\s>*_`#-]*FILES\b/i;
/** Not words: JSON, edits, the word PLAN, the end of a message. */
const otherForm = /^\s*(?:[{["]|<{3,}|[>*_`#"'.:]*(?:PLAN[*_`"'.!:]*|END(?:::.*|:\w*)?)\s*$)/;

type Place = "start" | "words" | "message" | "over";

/** `later`: more must come; `over`: none follow; `message`: that of FINISH follows; a number: words from there. */
type Kind = "later" | "skip" | "over" | "message" | "words" | number;

interface Known {
  readonly place: Place;
  readonly code: boolean;
  readonly isCode: boolean;
}

const beginsMessage = (header: Header | null): boolean => header?.kind === "body" && header.cmd === "FINISH";

function kindOf(line: string, whole: boolean, { place, code, isCode }: Known): Kind {
  if (place === "over") return "over";
  const bare = undecorate(line);
  if (!whole && bare.length < longestHeader) return "later";
  // A model may put its whole script in a fence, so FINISH begins the message there, too.
  const header = readHeader(bare.replace(/^FINISH:?$/, "FINISH::EOT"));
  if (isCode && !beginsMessage(header)) return "words";
  if (header !== null) return place === "message" ? "over" : kindOfHeader(header, line, whole);
  const isEnd = place === "message" && readNext(line) !== null;
  if (isEnd || otherForm.test(line) || (isFence(line) && !code)) return "over";
  return filesLine.test(line) || (place === "start" && bare === "") ? "skip" : "words";
}

function kindOfHeader(header: Header, line: string, whole: boolean): Kind {
  if (header.kind === "body") return beginsMessage(header) ? "message" : "over";
  if (header.kind === "fault" || header.action.cmd !== "FINISH") return "over";
  const { arg = "" } = header.action;
  return !whole && isTag(arg) ? "later" : line.lastIndexOf(arg);
}

function placeAfter(kind: Kind, place: Place): Place {
  if (kind === "words") return place === "start" ? "words" : place;
  if (kind === "skip") return place;
  return kind === "message" ? kind : "over";
}

/** The sentences before the first action, and the message of a FINISH without any. `code`: fences are words, too. */
export function createWordsReader(code: boolean) {
  const thoughts = createThoughtSplitter();
  let place: Place = "start";
  let isCode = false;
  let line = "";
  /** Where the words of the line begin; Infinity: it has none; null: more of it must come. */
  let from: number | null = null;
  let shown = 0;

  function beginOf(whole: boolean): number | null {
    const kind = kindOf(line, whole, { place, code, isCode });
    if (kind === "later") return null;
    if (kind === "message" || (kind === "words" && isFence(line))) isCode = kind === "words" && !isCode;
    place = placeAfter(kind, place);
    if (kind === "words") return 0;
    return typeof kind === "number" ? kind : Number.POSITIVE_INFINITY;
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
    /** Takes a piece of the reply; returns what is now surely words to the user, as it stands in the reply. */
    push: (piece: string): string => take(thoughts.push(piece).text),
    end: (): string => take(thoughts.end().text) + show(true),
  };
}
