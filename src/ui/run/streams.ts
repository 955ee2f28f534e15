/** The streams of a run for people: results on standard output, the rest on standard error, blank lines in between. */
import { hang, wrap } from "../layout.ts";
import { visibleBut } from "../sanitize.ts";
import { type Meaning, mark, ownCodes, type Style } from "../style.ts";

export interface StreamOptions {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Of standard error. */
  readonly style: Style;
  /** Of standard output, which may be a pipe although standard error is a terminal. */
  readonly outStyle: Style;
  /** Now: the terminal may be resized during a run. */
  readonly columns: () => number;
  /** Shows only errors on standard error. */
  readonly quiet: boolean;
  /** Whether both streams are the same terminal; replies are then streamed, and nothing is shown twice. */
  readonly screen: boolean;
}

export type Streams = ReturnType<typeof openStreams>;

export function openStreams(options: StreamOptions) {
  const { style, outStyle, quiet, screen } = options;
  const width = () => (style.plain ? null : options.columns());
  let tail = "";
  let gap = false;

  function print(write: (text: string) => void, text: string): void {
    if (gap && tail !== "" && tail !== "\n\n") write("\n");
    gap = false;
    write(visibleBut(ownCodes, text));
    tail = (tail + text).slice(-2);
  }

  let held = "";

  function err(text: string): void {
    if (!quiet && text !== "") print(options.err, text);
  }

  const say = (lines: readonly string[]) => err(lines.map((line) => `${line}\n`).join(""));

  return {
    screen,
    style,
    /** Current width of standard error; null: no wrapping. */
    get columns() {
      return width();
    },
    outStyle,
    get outColumns() {
      return outStyle.plain ? null : options.columns();
    },
    out(text: string) {
      if (text === "") return;
      if (screen) print(options.out, text);
      else options.out(visibleBut(ownCodes, text));
    },
    err,
    /** Writes the subject of a possible question to standard error; when quiet, only once the question is asked. */
    subject(text: string) {
      if (quiet) held = text;
      else err(text);
    },
    showSubject() {
      if (held !== "") print(options.err, held);
      held = "";
    },
    /** Writes text to standard error that will be erased; it does not affect blank lines. */
    redraw: quiet ? () => {} : options.err,
    say,
    line: (meaning: Meaning, text: string) => say(hang(`${mark(style, meaning)} `, text, width())),
    aside: (text: string) => say(wrap(text, width()).map((part) => style.paint("dim", part))),
    /** Begins a part: the next output follows a blank line, except at the top. */
    section() {
      gap = true;
    },
  };
}
