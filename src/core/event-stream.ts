/** Reads server-sent events as servers really write them: with comments, CRLF, no space, no last blank line. */

/** An answer that is no stream may be a whole reply. */
const strayLimit = 2 ** 24;
const passedOver = /^(?:(?:data|event|id|retry)(?::|$)|:)/;

export function createSseReader() {
  const cut = createLineCutter();
  let data: string | null = null;
  let stray = "";

  function readLine(line: string, done: string[]): void {
    if (line.startsWith("data:")) data = data === null ? dataOf(line) : `${data}\n${dataOf(line)}`;
    else if (line === "") {
      if (data !== null) done.push(data);
      data = null;
    } else if (!line.startsWith("event:") && stray.length < strayLimit && !passedOver.test(line)) stray += `${line}\n`;
  }

  function readLines(lines: readonly string[]): readonly string[] {
    const done: string[] = [];
    for (const line of lines) readLine(line, done);
    return done;
  }

  return {
    /** Takes the next piece of text, cut anywhere; returns the data of every event that it completes. */
    push: (piece: string) => readLines(cut.push(piece)),
    /** The end of the stream; returns the data of an event whose blank line never came. */
    end: () => readLines([cut.end(), ""]),
    /** Lines that belong to no event, as of a plain JSON or HTML body. */
    stray: () => stray,
    /** Characters of the event that is not complete yet. */
    held: () => cut.held() + (data?.length ?? 0),
  };
}

const dataOf = (line: string) => line.slice(line[5] === " " ? 6 : 5);

/** Reads streams with one JSON value on each line: every line is the data of one event. */
export function createLineReader(): ReturnType<typeof createSseReader> {
  const cut = createLineCutter();
  const full = (lines: readonly string[]) => lines.filter((line) => line.trim() !== "");
  return {
    push: (piece) => full(cut.push(piece)),
    end: () => full([cut.end()]),
    stray: () => "",
    held: cut.held,
  };
}

/** Cuts text into lines, whatever their endings; reads no character twice, however long a line is. */
function createLineCutter() {
  let rest = "";
  /** A carriage return at the very end, which waits because its line feed may be in the next piece. */
  let waits = "";
  return {
    push(piece: string): string[] {
      const text = waits + piece;
      waits = text.endsWith("\r") ? "\r" : "";
      const whole = text.slice(0, text.length - waits.length);
      const lines = whole.includes("\r") ? whole.split(/\r\n?|\n/) : whole.split("\n");
      lines[0] = rest + lines[0];
      rest = lines.pop() ?? "";
      return lines;
    },
    held: () => rest.length,
    end(): string {
      const last = rest;
      rest = waits = "";
      return last;
    },
  };
}
