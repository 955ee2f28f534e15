/** Wraps, pads and indents lines by the width that a terminal shows. */

/** Wraps between words, within one only if it is wider than a line: after a slash if it has one. `columns` null: not. */
export function wrap(text: string, columns: number | null): string[] {
  const lines = text.split("\n");
  if (columns === null) return lines;
  const width = Math.max(columns, 2);
  const divide = (path: string) => (Bun.stringWidth(path) <= width ? path : wrapPath(path, width).join(" "));
  return lines.flatMap((line) => {
    if (Bun.stringWidth(line) <= width) return [line];
    return Bun.wrapAnsi(line.replace(/\S*\/\S+/g, divide), width, { hard: true, wordWrap: true }).split("\n");
  });
}

/** Like `wrap` for code, coloured or not; keeps all blanks. */
export function wrapCode(line: string, columns: number | null): readonly string[] {
  if (columns === null || Bun.stringWidth(line) <= columns) return [line];
  const lines = Bun.wrapAnsi(line, Math.max(columns, 10), { hard: true, wordWrap: true, trim: false }).split("\n");
  // Of two codes around a break Bun ends only the inner one: the background would go on in the margin.
  let isInverse = false;
  return lines.map((part) => {
    const text = isInverse ? `\x1b[7m${part}` : part;
    isInverse = text.lastIndexOf("\x1b[7m") > text.lastIndexOf("\x1b[27m");
    return isInverse ? `${text}\x1b[27m` : text;
  });
}

const tabWidth = 8;

export function expandTabs(text: string): string {
  if (!text.includes("\t")) return text;
  let column = 0;
  return text.replace(/([^\t]*)(\t|$)/g, (_, part: string, tab: string) => {
    column += Bun.stringWidth(part);
    const blanks = tab === "" ? 0 : tabWidth - (column % tabWidth);
    column += blanks;
    return part + " ".repeat(blanks);
  });
}

export function wrapPath(path: string, columns: number): string[] {
  const lines = [""];
  for (const part of path.split(/(?<=[/ ])/).flatMap((piece) => wrap(piece, columns))) {
    const last = lines.at(-1) ?? "";
    if (Bun.stringWidth(last + part.trimEnd()) <= columns) lines[lines.length - 1] = last + part;
    else lines.push(part);
  }
  return lines;
}

export function cut(line: string, columns: number, more: string): string {
  return Bun.sliceAnsi(line, 0, Math.max(columns, 0), more);
}

/** The end of a line without colours, in `columns`; `more` marks what is cut before it. */
export function keepEnd(line: string, columns: number, more: string): string {
  const width = Bun.stringWidth(line);
  return width <= columns ? line : more + Bun.sliceAnsi(line, width - Math.max(columns - Bun.stringWidth(more), 0));
}

export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - Bun.stringWidth(text)));
}

export function widest(texts: readonly string[]): number {
  let width = 0;
  for (const text of texts) width = Math.max(width, Bun.stringWidth(text));
  return width;
}

/** `lead` and the text, with further lines indented below the text's beginning. Both may be coloured. */
export function hang(lead: string, text: string, columns: number | null): string[] {
  const margin = Bun.stringWidth(lead);
  const room = columns === null ? null : Math.max(columns - margin, 10);
  return wrap(text, room).map((line, index) => (index === 0 ? lead : " ".repeat(margin)) + line);
}

/** Lines for a wider terminal: a long one goes on below its last column that leaves room. `columns` null: as they are. */
export function refit(text: string, columns: number | null): string {
  if (columns === null) return text;
  const refitted = text.split("\n").flatMap((line) => {
    if (Bun.stringWidth(line) <= columns) return [line];
    const starts = [...line.matchAll(/^ +|(?<=\S) {2,}/g)].map(({ index, 0: gap }) => index + gap.length);
    const start = starts.findLast((at) => Bun.stringWidth(line.slice(0, at)) <= columns / 2) ?? 0;
    return hang(line.slice(0, start), line.slice(start), columns);
  });
  return refitted.join("\n");
}

/** Like `wrap` for text in pieces: holds a word back until it is complete. */
export function openWrap(columns: number | null) {
  let column = 0;
  let held = "";

  /** Places a word with the space before it; at the start of a new line the space is dropped. */
  function place(word: string): string {
    const feed = word.lastIndexOf("\n") + 1;
    if (feed > 0) {
      column = Bun.stringWidth(word.slice(feed));
      return word.replace(/[^\S\n]+(?=\n)/g, "");
    }
    const width = Bun.stringWidth(word);
    const fits = columns === null || column === 0 || column + width <= columns;
    if (fits) {
      column += width;
      return word;
    }
    const bare = word.trimStart();
    column = Bun.stringWidth(bare);
    return `\n${bare}`;
  }

  return {
    push(chunk: string) {
      const words = (held + chunk).split(/(?<=\S)(?=\s)/);
      held = words.pop() ?? "";
      return words.map(place).join("");
    },
    end() {
      const last = place(held);
      held = "";
      return last;
    },
  };
}
