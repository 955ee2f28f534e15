/** Removes the reasoning that some models write into their replies, by the marks around it. */

const names = ["think", "thinking", "thought", "thoughts", "reasoning"];
const openings = [...names.map((name) => `<${name}>`), "[think]", "<|channel|>analysis<|message|>"];
const closing = new RegExp(`</(?:${names.join("|")})>|\\[/think\\]|<\\|channel\\|>final<\\|message\\|>`, "i");
const longestClosing = "<|channel|>final<|message|>".length;

const beginsMark = (start: string) => start.startsWith("<") || start.startsWith("[");

/** The text after a closing mark at its beginning, which blanks may precede; null: it does not begin with one. */
export function afterClosing(text: string): string | null {
  const start = text.trimStart();
  const found = beginsMark(start) ? findClosing(start) : null;
  return found?.at === 0 ? start.slice(found.end) : null;
}

/** The opening mark at the beginning of the text, with the blanks before it; "": it does not begin with one. */
export function openingOf(text: string): string {
  const start = text.trimStart();
  if (!beginsMark(start)) return "";
  const mark = openings.find((each) => start.slice(0, each.length).toLowerCase() === each) ?? "";
  return mark === "" ? "" : text.slice(0, text.length - start.length + mark.length);
}

export function findClosing(text: string): { readonly at: number; readonly end: number } | null {
  const match = closing.exec(text);
  return match === null ? null : { at: match.index, end: match.index + match[0].length };
}

/** A reply without the opening mark of reasoning that never ends: some models go on with the answer itself. */
export const withoutOpenThought = (text: string): string =>
  findClosing(text) === null ? text.slice(openingOf(text).length) : text;

export interface Split {
  readonly text: string;
  readonly thought: string;
}

/** Separates the reasoning at the beginning of a reply from the rest; pieces may have any size. */
export function createThoughtSplitter() {
  let state: "start" | "inside" | "text" = "start";
  let held = "";
  /** A thought has ended: the blanks after it do not belong to the text. */
  let parted = false;

  function takeStart(): Split {
    const opening = openingOf(held);
    const start = held.trimStart().toLowerCase();
    if (opening === "" && openings.some((mark) => mark.startsWith(start))) return { text: "", thought: "" };
    state = opening === "" ? "text" : "inside";
    const rest = held.slice(opening.length);
    held = "";
    return push(parted && state === "text" ? rest.trimStart() : rest);
  }

  function takeInside(): Split {
    const found = findClosing(held);
    if (found === null) {
      const safe = Math.max(0, held.length - longestClosing);
      const thought = held.slice(0, safe);
      held = held.slice(safe);
      return { text: "", thought };
    }
    const thought = held.slice(0, found.at);
    held = held.slice(found.end);
    state = "start";
    parted = true;
    const after = takeStart();
    return { text: after.text, thought: thought + after.thought };
  }

  function push(piece: string): Split {
    if (state === "text") return { text: piece, thought: "" };
    held += piece;
    return state === "start" ? takeStart() : takeInside();
  }

  return {
    push,
    /** The rest that was held back, at the end of the reply. */
    end(): Split {
      const rest = parted && state === "start" ? held.trimStart() : held;
      held = "";
      return state === "inside" ? { text: "", thought: rest } : { text: rest, thought: "" };
    },
  };
}
