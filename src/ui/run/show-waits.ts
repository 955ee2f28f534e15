/** Shows what a run waits for: the model, a command, the next attempt; and what is to be noticed. */
import type { Purpose } from "../../core/model.ts";
import { grouped, spent } from "../amount.ts";
import { visible, visibleLine } from "../sanitize.ts";
import type { Shows } from "./show-work.ts";
import { createSpinner, type Spinner } from "./spinner.ts";
import type { Streams } from "./streams.ts";

export interface WaitOptions {
  readonly verbose: boolean;
  /** Whether a line on standard error may be redrawn. */
  readonly live: boolean;
  /** Width of the terminal now. */
  readonly columns: () => number;
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number;
}

export interface Waits {
  /** Says what is waited for, until something else is or `spinner.stop`. */
  readonly start: (what: string) => void;
  readonly spinner: Spinner;
  /** Stops waiting, whatever it is for. */
  readonly stop: () => void;
  readonly shows: Shows<"model.started" | "model.finished" | "check.started" | "notice" | "run.finished">;
}

/** Milliseconds between two lines that say that something is still waited for. */
const beatMs = 30_000;

const words: Readonly<Record<Purpose, string>> = {
  plan: "planning",
  replan: "planning again",
  repair: "asking for a readable plan",
  execute: "working",
  resume: "asking for the rest of the reply",
  integrity: "judging the work",
  heal: "mending",
  summary: "summing up",
  turn: "thinking",
  explore: "exploring",
  compact: "shortening the conversation",
};

export function openWaits(streams: Streams, { verbose, live, columns, now }: WaitOptions): Waits {
  const { style, redraw, line, aside } = streams;
  const spinner = createSpinner({ err: redraw, style, columns, now });

  let beat: ReturnType<typeof setInterval> | null = null;

  function stop(): void {
    spinner.stop();
    if (beat !== null) clearInterval(beat);
    beat = null;
  }

  /** Where no line can be redrawn there is one at the start, and one every half minute. */
  function start(what: string): void {
    stop();
    if (live) {
      spinner.start(what);
      return;
    }
    aside(`${visibleLine(what)} ${style.glyphs.more}`);
    const since = now();
    beat = setInterval(() => aside(`${visibleLine(what)}, ${spent(now() - since)}`), beatMs);
    beat.unref();
  }

  return {
    start,
    spinner,
    stop,
    shows: {
      "check.started": ({ command, when }) =>
        start(`check ${command}${when === "before" ? " (before the change)" : ""}`),
      "model.started": ({ purpose, model }) => start(`${words[purpose]} with ${model}`),
      "model.finished"({ n, usage, served, ms }) {
        stop();
        const tokens = `${grouped(usage.input)} in, ${grouped(usage.output)} out`;
        if (verbose) aside(`call ${n}: ${visibleLine(served)}, ${tokens}, ${spent(ms)}`);
      },
      /** A pause is seen while it lasts, and leaves no line once the request went through. */
      notice({ level, text, wait }) {
        if (live && wait !== undefined) spinner.countDown(wait);
        if (!live || wait === undefined || verbose) line(level === "warning" ? "warn" : "dim", visible(text));
      },
      "run.finished": stop,
    },
  };
}
