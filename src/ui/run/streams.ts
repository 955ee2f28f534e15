/** The two streams of a run for people: results on standard output, all else on standard error, blank lines between parts. */
import { hang, wrap } from "../layout.ts";
import { visibleBut } from "../sanitize.ts";
import { type Meaning, mark, ownCodes, type Style } from "../style.ts";

export interface StreamOptions {
  /** Results: standard output. */
  readonly out: (text: string) => void;
  /** Everything else: standard error. */
  readonly err: (text: string) => void;
  /** Style of standard error. */
  readonly style: Style;
  /** Style of standard output, which may be a pipe while standard error is a terminal. */
  readonly outStyle: Style;
  /** Width of the terminal now: it may be resized while a run works. */
  readonly columns: () => number;
  /** Only errors on standard error. */
  readonly quiet: boolean;
  /** Whether both streams are the same terminal: then replies are streamed, and nothing is shown twice. */
  readonly screen: boolean;
}

export interface Streams {
  /** Whether both streams are the same terminal. */
  readonly screen: boolean;
  /** The style of standard error, as `outStyle` is that of standard output. */
  readonly style: Style;
  /** The width of standard error now; null: nothing is wrapped. */
  readonly columns: number | null;
  readonly outStyle: Style;
  readonly outColumns: number | null;
  /** `out` and `err` write text that ends in a line feed. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Writes to standard error what a question may be about; when quiet, it waits until one is asked. */
  readonly subject: (text: string) => void;
  /** A question is asked: its subject is shown above it. */
  readonly showSubject: () => void;
  /** Writes to standard error what will be erased again: blank lines around text do not depend on it. */
  readonly redraw: (text: string) => void;
  /** Writes lines to standard error. */
  readonly say: (lines: readonly string[]) => void;
  /** Writes one line to standard error, with the symbol of its meaning. */
  readonly line: (meaning: Meaning, text: string) => void;
  /** Writes a dim line to standard error. */
  readonly aside: (text: string) => void;
  /** Begins something new: one blank line comes before whatever is printed next, except at the top. */
  readonly section: () => void;
}

export function openStreams(options: StreamOptions): Streams {
  const { style, outStyle, quiet, screen } = options;
  const width = () => (style.plain ? null : options.columns());
  /** The last characters that were printed. */
  let tail = "";
  /** A blank line comes before whatever is printed next. */
  let gap = false;

  function print(write: (text: string) => void, text: string): void {
    if (gap && tail !== "" && tail !== "\n\n") write("\n");
    gap = false;
    write(visibleBut(ownCodes, text));
    tail = (tail + text).slice(-2);
  }

  /** What a question would be about. */
  let held = "";

  function err(text: string): void {
    if (!quiet && text !== "") print(options.err, text);
  }

  const say = (lines: readonly string[]) => err(lines.map((line) => `${line}\n`).join(""));

  return {
    screen,
    style,
    get columns() {
      return width();
    },
    outStyle,
    get outColumns() {
      return outStyle.plain ? null : options.columns();
    },
    out(text) {
      if (text === "") return;
      if (screen) print(options.out, text);
      else options.out(visibleBut(ownCodes, text));
    },
    err,
    subject(text) {
      if (quiet) held = text;
      else err(text);
    },
    showSubject() {
      if (held !== "") print(options.err, held);
      held = "";
    },
    redraw: quiet ? () => {} : options.err,
    say,
    line: (meaning, text) => say(hang(`${mark(style, meaning)} `, text, width())),
    aside: (text) => say(wrap(text, width()).map((part) => style.paint("dim", part))),
    section() {
      gap = true;
    },
  };
}
