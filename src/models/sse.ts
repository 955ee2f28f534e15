/** Server-sent events as servers and gateways really write them: comments, CRLF, no space, no last blank line. */

export interface ChunkReader {
  /** Takes the next piece of text, cut anywhere; returns the data of every event it completed. */
  push(piece: string): readonly string[];
  /** The end of the stream; returns the data of an event whose blank line never came. */
  end(): readonly string[];
  /** Lines that belong to no event: a plain JSON or HTML body. At most 64 Ki characters. */
  stray(): string;
}

const strayLimit = 65_536;
const field = /^(data|event|id|retry)(?::|$)/;

export function createSseReader(): ChunkReader {
  let rest = "";
  let data: string[] = [];
  let stray = "";

  function readLine(line: string, done: string[]): void {
    if (line === "") {
      if (data.length > 0) done.push(data.join("\n"));
      data = [];
    } else if (line.startsWith("data:")) {
      data.push(line.slice(line[5] === " " ? 6 : 5));
    } else if (!line.startsWith(":") && !field.test(line) && stray.length < strayLimit) {
      stray += `${line}\n`;
    }
  }

  return {
    push(piece) {
      rest += piece;
      const done: string[] = [];
      let start = 0;
      for (let at = nextBreak(rest, start); at !== -1; at = nextBreak(rest, start)) {
        readLine(rest.slice(start, at), done);
        start = at + (rest.startsWith("\r\n", at) ? 2 : 1);
      }
      rest = rest.slice(start);
      return done;
    },
    end() {
      const done: string[] = [];
      readLine(rest.replace(/\r$/, ""), done);
      readLine("", done);
      rest = "";
      return done;
    },
    stray: () => stray,
  };
}

/** Streams of one JSON value a line: every line is the data of an event. */
export function createLineReader(): ChunkReader {
  let rest = "";
  const full = (lines: readonly string[]) => lines.filter((line) => line.trim() !== "");
  return {
    push(piece) {
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      return full(lines);
    },
    end() {
      const last = rest;
      rest = "";
      return full([last]);
    },
    stray: () => "",
  };
}

const lineBreak = /[\r\n]/g;

/** Where the next line ends, or -1. A carriage return at the very end waits: its line feed may be in the next piece. */
function nextBreak(source: string, from: number): number {
  lineBreak.lastIndex = from;
  const at = lineBreak.exec(source)?.index ?? -1;
  return at === source.length - 1 && source[at] === "\r" ? -1 : at;
}
