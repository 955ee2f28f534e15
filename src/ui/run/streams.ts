/** The streams of a run for people: results on standard output, the rest on standard error, blank lines in between. */
import { hang, wrap } from "../layout.ts";
import { visibleBut } from "../sanitize.ts";
import { type Meaning, mark, ownCodes, type Style } from "../style.ts";

export interface StreamOptions {
  /** Writes results to standard output. */
  readonly out: (text: string) => void;
  /** Writes everything else to standard error. */
  readonly err: (text: string) => void;
  /** Style of standard error. */
  readonly style: Style;
  /** Style of standard output, which may be a pipe although standard error is a terminal. */
  readonly outStyle: Style;
  /** Current width of the terminal, which may be resized during a run. */
  readonly columns: () => number;
  /** Shows only errors on standard error. */
  readonly quiet: boolean;
  /** Whether both streams are the same terminal; replies are then streamed, and nothing is shown twice. */
  readonly screen: boolean;
}

export interface Streams {
  /** Whether both streams are the same terminal. */
  readonly screen: boolean;
  /** The style of standard error, as `outStyle` is that of standard output. */
  readonly style: Style;
  /** Current width of standard error; null: no wrapping. */
  readonly columns: number | null;
  readonly outStyle: Style;
  readonly outColumns: number | null;
  /** `out` and `err` take text that ends in a line feed. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Writes the subject of a possible question to standard error; when quiet, only once the question is asked. */
  readonly subject: (text: string) => void;
  /** Shows the held subject, as a question follows. */
  readonly showSubject: () => void;
  /** Writes text to standard error that will be erased; it does not affect blank lines. */
  readonly redraw: (text: string) => void;
  /** Writes lines to standard error. */
  readonly say: (lines: readonly string[]) => void;
  /** Writes one line to standard error, with the symbol of its meaning. */
  readonly line: (meaning: Meaning, text: string) => void;
  /** Writes a dim line to standard error. */
  readonly aside: (text: string) => void;
  /** Begins a part: the next output follows a blank line, except at the top. */
  readonly section: () => void;
}

export function openStreams(options: StreamOptions): Streams {
  const { style, outStyle, quiet, screen } = options;
  const width = () => (style.plain ? null : options.columns());
  /** The last characters printed. */
  let tail = "";
  /** Whether the next output follows a blank line. */
  let gap = false;

  function print(write: (text: string) => void, text: string): void {
    if (gap && tail !== "" && tail !== "\n\n") write("\n");
    gap = false;
    write(visibleBut(ownCodes, text));
    tail = (tail + text).slice(-2);
  }

  /** The subject of a possible question. */
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
