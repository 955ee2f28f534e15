/** Shows what a run waits for (the model, a command, the next attempt), and its notices. */
import type { Purpose } from "../../core/model.ts";
import type { ReplyProgress } from "../../core/reply-progress.ts";
import { counted, grouped, renderDuration } from "../amount.ts";
import { visible, visibleLine } from "../sanitize.ts";
import type { EventHandlers } from "./show-work.ts";
import { createHeartbeat, createSpinner, type Spinner } from "./spinner.ts";
import type { Streams } from "./streams.ts";

export interface WaitOptions {
  readonly verbose: boolean;
  /** Whether a line on standard error may be redrawn. */
  readonly live: boolean;
  /** Current width of the terminal. */
  readonly columns: () => number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** How to stop, for the first wait; null: already shown. */
  readonly note?: () => string | null;
}

export interface Waits {
  /** Shows what pai waits for, until the next call or `spinner.stop`. */
  readonly start: (what: string) => void;
  /** Ends the wait; if a model is being asked, shows that wait again. */
  readonly stop: () => void;
  readonly spinner: Spinner;
  readonly handlers: EventHandlers<
    "model.started" | "model.progress" | "model.finished" | "check.started" | "notice" | "run.finished"
  >;
}

const words: Readonly<Record<Purpose, string>> = {
  plan: "planning",
  replan: "planning again",
  repair: "asking for a correction",
  execute: "working",
  resume: "asking for the rest of the reply",
  integrity: "judging the work",
  heal: "mending",
  summary: "summing up",
  answer: "asking for the answer as JSON",
  turn: "thinking",
  explore: "exploring",
  compact: "shortening the conversation",
};

/** What the first call promises, to follow its purpose. */
function renderPromise(purpose: Purpose, atMost: number): string {
  if (purpose === "plan") return `, at most ${counted(atMost, "call")},`;
  return purpose === "execute" ? `: 1 call if all is in view, else 2, at most ${atMost},` : "";
}

/** The progress of a reply: "planning, step 3 of the plan", "working, src/a.ts, 120 lines". */
function renderProgress(purpose: Purpose, { thought, step, file }: ReplyProgress): string {
  if (thought > 0) return `thinking, ${grouped(thought)} tokens`;
  if (step !== null) return `${words[purpose]}, step ${step} of the plan`;
  if (file === null) return words[purpose];
  return `${words[purpose]}, ${file.path}${file.lines === 0 ? "" : `, ${counted(file.lines, "line")}`}`;
}

export function openWaits(streams: Streams, { verbose, live, columns, now, note }: WaitOptions): Waits {
  const { style, redraw, line, aside } = streams;
  const spinner = live
    ? createSpinner({ err: redraw, style, columns, now, note })
    : createHeartbeat({ say: aside, style, now });
  let purpose: Purpose = "turn";
  /** The current request to a model, and when it began. */
  let asked: { readonly what: string; readonly from: number } | null = null;

  return {
    start: spinner.start,
    stop() {
      if (asked === null) spinner.stop();
      else spinner.start(asked.what, asked.from);
    },
    spinner,
    handlers: {
      "check.started": ({ command, when }) =>
        spinner.start(`check ${command}${when === "before" ? " (before the change)" : ""}`),
      "model.started"(event) {
        purpose = event.purpose;
        const { n, model, at_most = 0 } = event;
        const promised = n === 1 && at_most > 0 ? renderPromise(purpose, at_most) : "";
        asked = { what: `${words[purpose]}${promised} with ${model}`, from: now() };
        spinner.start(asked.what);
      },
      "model.progress": (event) => spinner.update(renderProgress(purpose, event)),
      "model.finished"({ n, usage, served, ms }) {
        asked = null;
        spinner.stop();
        if (!verbose) return;
        const tokens = `${grouped(usage.input)} in, ${grouped(usage.output)} out`;
        aside(`call ${n}: ${visibleLine(served)}, ${tokens}, ${renderDuration(ms)}`);
      },
      /** A wait before a retry is shown only while it lasts; it leaves no line. */
      notice({ level, text, details, wait }) {
        if (live && wait !== undefined) spinner.countDown(wait);
        if (!live || wait === undefined || verbose)
          line(
            level === "warning" ? "warn" : "dim",
            visible(verbose && details !== undefined ? `${text} (${details})` : text),
          );
      },
      "run.finished"() {
        asked = null;
        spinner.stop();
      },
    },
  };
}
