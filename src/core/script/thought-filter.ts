/** Leaves out the reasoning that some models write into their reply. */
import { afterClosing, findClosing, openingOf } from "./thought.ts";

export interface ThoughtFilter {
  /** What is left of a line, null when nothing is; blank lines right after a block go with it. */
  skip(line: string): string | null;
  /**
   * What follows a closing mark that nothing opened, where a line begins with one; null for any other line. Servers that
   * write the opening into the prompt send such replies: all before it was reasoning.
   */
  after(line: string): string | null;
  /** Whether a block is still open. */
  isOpen(): boolean;
}

export function createThoughtFilter(): ThoughtFilter {
  let open = false;
  let justClosed = false;

  function outside(line: string): string {
    let text = line;
    for (;;) {
      if (!open) {
        const start = openingOf(text);
        if (start === "") return text;
        text = text.slice(start.length);
        open = true;
      }
      const end = findClosing(text)?.end;
      if (end === undefined) return "";
      text = text.slice(end);
      open = false;
      justClosed = true;
    }
  }

  return {
    isOpen: () => open,
    skip(line) {
      const text = outside(line);
      if (text.trim() === "" && (open || justClosed)) return null;
      justClosed = false;
      return text;
    },
    after(line) {
      const rest = afterClosing(line);
      if (rest !== null) justClosed = true;
      return rest;
    },
  };
}
