/** Shows a run to a person, line by line: what it is asked for on standard output, all else on standard error. */
import type { StampedEvent } from "../../core/event.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Highlight } from "../highlight.ts";
import type { MarkdownOptions } from "../markdown.ts";
import { visibleLine } from "../sanitize.ts";
import type { Style } from "../style.ts";
import { renderFailure, sayUntouched } from "./render-outcome.ts";
import { renderPlan } from "./render-plan.ts";
import { openReply } from "./reply.ts";
import { showOutcome } from "./show-result.ts";
import { openSteps } from "./show-steps.ts";
import { openWaits, type WaitOptions } from "./show-waits.ts";
import { type EventHandlers, type EventOf, openWork } from "./show-work.ts";
import { openStreams, type StreamOptions } from "./streams.ts";

export interface TerminalOptions extends StreamOptions, WaitOptions {
  /** A plan is the result of `pai plan` and goes to standard output; after a run a session goes on. */
  readonly kind: "run" | "plan" | "session";
  /** Colours for code, once they are loaded. */
  readonly highlight?: () => Highlight | null;
  /** A person answers questions: changes that one is about are shown whole. */
  readonly asks?: boolean;
}

export interface Terminal {
  readonly sink: (event: StampedEvent) => void;
  /** A question is about to be asked: nothing may be drawn meanwhile. */
  readonly pause: () => void;
  /**
   * Prints the result of the run that was shown; the terminal is then ready for the next run.
   * `undoable`: what was changed can be taken back later; assumed when not said.
   */
  readonly finish: (outcome: Outcome, undoable?: boolean) => void;
}

/** A streamed reply that shows nothing new for so long has ended, as far as can be seen. */
const stillMs = 3000;

const isBehindReply = ({ replied, step, file }: EventOf<"model.progress">): boolean =>
  replied || step !== null || file !== null;

/** The terminal for one run. */
function openRun(options: TerminalOptions): Terminal {
  const { verbose, kind, now } = options;
  /** When the current stretch of work began; null: a question waits for its answer. */
  let since: number | null = now();
  let workedMs = 0;
  const planIsResult = kind === "plan";
  const seen = options.screen && !options.quiet;
  const streams = openStreams(options);
  const { style, outStyle, err, out, aside, section } = streams;
  const highlight = () => options.highlight?.() ?? null;
  const markdown = (target: Style, width: number | null): MarkdownOptions | null =>
    width === null ? null : { columns: width, style: target, highlight };
  const reply = openReply({
    write: err,
    begin: section,
    columns: () => streams.columns,
    markdown: () => markdown(style, streams.columns),
    streams: seen,
  });
  const waits = openWaits(streams, options);
  const { spinner } = waits;
  const steps = openSteps(streams, reply, { planIsResult, verbose });
  const work = openWork(streams, {
    verbose,
    reply,
    wait: waits.start,
    stopWaiting: waits.stop,
    highlight,
    asks: options.asks ?? false,
    fold: seen ? (path) => (kind === "session" ? `/diff ${path}` : "pai undo --dry-run") : undefined,
  });

  const handlers: EventHandlers = {
    ...waits.handlers,
    ...steps.handlers,
    ...work.handlers,
    "run.started"({ run, mode, model, root }) {
      if (verbose) aside(`run ${run}, ${mode}, ${visibleLine(model)}, ${visibleLine(root)}`);
    },
    "model.delta"({ channel, text }) {
      if (channel !== "reply") return;
      reply.push(text);
      watchSilence();
    },
    "budget.updated": () => {},
    "message.added": () => {},
    "context.sent": () => {},
    "conversation.replaced": () => {},
  };

  /** A reply that stalls is treated as over: the spinner shows that the model goes on with something else. */
  let silence: ReturnType<typeof setTimeout> | null = null;
  function watchSilence(): void {
    if (silence !== null) clearTimeout(silence);
    silence = null;
    if (!options.live || !reply.open) return;
    silence = setTimeout(() => {
      reply.close();
      spinner.resume();
    }, stillMs);
    silence.unref();
  }

  /** More of a streamed reply may come: only what follows it ends its line. Nothing is drawn but the spinner, at its own pace. */
  function showProgress(event: EventOf<"model.progress">): void {
    if (reply.open && !isBehindReply(event)) return;
    reply.close();
    watchSilence();
    show("model.progress", event);
    spinner.resume();
  }

  function show<T extends keyof EventHandlers>(type: T, event: EventOf<T>): void {
    handlers[type](event);
  }

  function pause(): void {
    spinner.stop();
    reply.close();
    watchSilence();
    workedMs += now() - (since ?? now());
    since = null;
  }

  return {
    sink(event) {
      since ??= now();
      if (event.type === "model.progress") return showProgress(event);
      spinner.clear();
      if (event.type !== "model.delta") reply.close();
      if (event.type !== "call.finished") work.showLooked();
      show(event.type, event);
      if (!reply.open) {
        watchSilence();
        spinner.resume();
      }
    },
    pause() {
      pause();
      streams.showSubject();
    },
    finish(outcome, undoable = true) {
      pause();
      work.showLooked();
      const again = outcome.code === 10 && !planIsResult && !options.screen;
      if (again && outcome.plan !== null && steps.promise !== null) {
        const shape = { columns: streams.outColumns, verbose, permitted: steps.permitted };
        out(renderPlan(outcome.plan, steps.promise, outStyle, shape));
      }
      const { applied, undone } = work;
      const shown = { replied: reply.shown, markdown: markdown(outStyle, streams.outColumns) };
      const noted = !options.quiet;
      const state = { seen, noted, session: kind === "session", undoable, ms: workedMs, applied, undone, ...shown };
      showOutcome(outcome, streams, state);
      // On a screen the status line has said that it was interrupted.
      const told = seen && outcome.error?.code === "interrupted" && outcome.error.hint === null;
      if (outcome.error === null || told) return;
      const untouched = seen && outcome.status === "failed" && !applied && !undone;
      const error = untouched ? sayUntouched(outcome.error, outcome) : outcome.error;
      options.err(renderFailure(error, style, streams.columns));
    },
  };
}

export function createTerminal(options: TerminalOptions): Terminal {
  /** Opened with its first event: the terminal may have been resized since the last run. */
  let run: Terminal | null = null;
  /** The hint how to stop is shown beside the first long wait, not beside every one. */
  let runs = 0;
  const how = options.kind === "session" ? "Esc stops" : "Ctrl+C stops";
  const note = () => (runs > 1 ? null : how);
  return {
    sink(event) {
      if (run === null) {
        runs += 1;
        run = openRun({ ...options, note });
      }
      run.sink(event);
    },
    pause: () => run?.pause(),
    finish(outcome, undoable) {
      (run ?? openRun(options)).finish(outcome, undoable);
      run = null;
    },
  };
}
