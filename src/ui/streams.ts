/** Where the text of a run goes: two streams that may be one screen, with a blank line before what begins something new. */
import { hang, wrap } from "./layout.ts";
import { type Meaning, mark, type Style } from "./style.ts";

export interface StreamOptions {
  /** Results: standard output. */
  readonly out: (text: string) => void;
  /** Everything else: standard error. */
  readonly err: (text: string) => void;
  /** Style of standard error. */
  readonly style: Style;
  /** Style of standard output, which may be a pipe while standard error is a terminal. */
  readonly outStyle: Style;
  /** Width of the terminal now; a run keeps the one it began with. */
  readonly columns: () => number;
  /** Only errors on standard error. */
  readonly quiet: boolean;
  /** Both streams are the same terminal: replies stream, and nothing is shown twice. */
  readonly screen: boolean;
}

export interface Streams {
  /** Both are the same terminal. */
  readonly screen: boolean;
  /** What standard error can show. */
  readonly style: Style;
  /** Its width; null: nothing is wrapped. */
  readonly columns: number | null;
  readonly outStyle: Style;
  readonly outColumns: number | null;
  /** Writes text that ends in a line feed. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Writes what will be taken away again: it does not count as text. */
  readonly redraw: (text: string) => void;
  /** Lines on standard error. */
  readonly say: (lines: readonly string[]) => void;
  /** One of them, with the symbol of its meaning. */
  readonly line: (meaning: Meaning, text: string) => void;
  /** Said in passing. */
  readonly aside: (text: string) => void;
  /** One blank line before what begins something new, but not at the top of the screen. */
  readonly section: () => void;
}

export function openStreams(options: StreamOptions): Streams {
  const { style, outStyle, quiet, screen } = options;
  const columns = style.plain ? null : options.columns();
  /** The last characters that were printed. */
  let tail = "";
  /** A blank line comes before whatever is printed next. */
  let gap = false;

  function print(write: (text: string) => void, text: string): void {
    if (gap && tail !== "" && tail !== "\n\n") write("\n");
    gap = false;
    write(text);
    tail = (tail + text).slice(-2);
  }

  function err(text: string): void {
    if (!quiet && text !== "") print(options.err, text);
  }

  const say = (lines: readonly string[]) => err(lines.map((line) => `${line}\n`).join(""));

  return {
    screen,
    style,
    columns,
    outStyle,
    outColumns: outStyle.plain ? null : options.columns(),
    out(text) {
      if (text === "") return;
      if (screen) print(options.out, text);
      else options.out(text);
    },
    err,
    redraw: quiet ? () => {} : options.err,
    say,
    line: (meaning, text) => say(hang(`${mark(style, meaning)} `, text, columns)),
    aside: (text) => say(wrap(text, columns).map((part) => style.paint("dim", part))),
    section() {
      gap = true;
    },
  };
}
