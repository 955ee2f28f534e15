/** Leaves out the `<think>` blocks that some models write into their reply. */

export interface ThoughtFilter {
  /** What is left of a line, null when nothing is; blank lines right after a block go with it. */
  skip(line: string): string | null;
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
        const start = /^\s*<think(?:ing)?>/.exec(text)?.[0];
        if (start === undefined) return text;
        text = text.slice(start.length);
        open = true;
      }
      const end = /<\/think(?:ing)?>/.exec(text);
      if (end === null) return "";
      text = text.slice(end.index + end[0].length);
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
  };
}
