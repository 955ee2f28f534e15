/** Shows a run to a person, line by line: its result on standard output, the rest on standard error. */
import type { StampedEvent } from "../../core/event.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Highlight } from "../highlight.ts";
import { wrap } from "../layout.ts";
import type { MarkdownOptions } from "../markdown.ts";
import { visible, visibleLine } from "../sanitize.ts";
import type { Style } from "../style.ts";
import { renderFailure, renderFooter, renderResult, sayStays, sayUntouched } from "./render-outcome.ts";
import { openSteps } from "./render-plan.ts";
import { openReply, renderAnswer, restOf } from "./reply.ts";
import { type EventHandlers, type EventOf, openWork } from "./show-work.ts";
import { openWaits, type WaitOptions } from "./spinner.ts";
import { openStreams, type StreamOptions, type Streams } from "./streams.ts";

export interface TerminalOptions extends StreamOptions, WaitOptions {
  /** `plan`: the plan is the result and goes to standard output; `session`: a session continues after the run. */
  readonly kind: "run" | "plan" | "session";
  /** Returns the highlighter once it is loaded. */
  readonly highlight?: () => Highlight | null;
  /** A person answers questions, so their subject is shown in full. */
  readonly asks?: boolean;
}

export interface Terminal {
  readonly sink: (event: StampedEvent) => void;
  /** Call it before a question: nothing may be drawn until `resume`. */
  readonly pause: () => void;
  /** What is still waited for, such as a command, is shown again. */
  readonly resume: () => void;
  /**
   * Prints the result of the run, after which the terminal can show the next one. `undoFlags`: what the
   * commands to undo them later must have besides; null: they cannot be undone, absent: nothing.
   */
  readonly finish: (outcome: Outcome, undoFlags?: string | null) => void;
  /** Shows anew what stands below the wait. */
  readonly refresh: () => void;
}

/** A streamed reply without news for this many milliseconds is shown as ended. */
const stillMs = 3000;

function openRun(options: TerminalOptions): Terminal {
  const { verbose, kind, now } = options;
  /** When the current stretch of work began; null: a question waits for its answer. */
  let since: number | null = now();
  let workedMs = 0;
  const planIsResult = kind === "plan";
  const seen = options.screen && !options.quiet;
  /** What one event shows is one write: a busy machine would else show a screen without its line for long. */
  let held: string | null = null;
  function flush(): void {
    const text = held ?? "";
    held = null;
    if (text !== "") options.err(text);
  }
  const streams = openStreams({
    ...options,
    out(text) {
      const isHeld = held !== null;
      flush();
      options.out(text);
      if (isHeld) held = "";
    },
    err(text) {
      if (held === null) options.err(text);
      else held += text;
    },
  });
  const { style, outStyle, err, aside, section } = streams;
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
  const thoughts = openThoughts(aside);
  const waits = openWaits(streams, options);
  const { spinner } = waits;
  const work = openWork(streams, {
    verbose,
    reply,
    wait: waits.start,
    stopWaiting: waits.stop,
    highlight,
    asks: options.asks ?? false,
    allOutput: kind === "session" ? "/output shows all" : undefined,
    fold: seen ? (path) => (kind === "session" ? `/diff ${path}` : "pai undo --dry-run") : undefined,
  });

  const handlers: EventHandlers = {
    ...waits.handlers,
    ...openSteps(streams, reply, { planIsResult, verbose }),
    ...work.handlers,
    "run.started"({ run, mode, model, root }) {
      if (verbose) aside(`run ${run}, ${mode}, ${visibleLine(model)}, ${visibleLine(root)}`);
    },
    "model.delta"({ channel, text, n }) {
      if (channel === "thought" && verbose) thoughts.push(text);
      if (channel !== "reply") return;
      reply.push(text, n);
      watchSilence();
    },
    "budget.updated": null,
    "message.added": null,
    "context.sent": null,
    "conversation.replaced": null,
    "files.known": null,
  };

  /** Treats a stalled reply as ended, so that the spinner shows that the model is still at work. */
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

  /** Only output that follows a reply ends its line, as more of it may come; the spinner alone is drawn meanwhile. */
  function showProgress(event: EventOf<"model.progress">): void {
    if (reply.open && !event.replied) return;
    reply.close();
    watchSilence();
    show("model.progress", event);
    spinner.resume();
  }

  function show<T extends keyof EventHandlers>(type: T, event: EventOf<T>): void {
    handlers[type]?.(event);
  }

  function pause(): void {
    if (options.live) spinner.clear();
    else spinner.stop();
    work.showLooked();
    reply.close();
    watchSilence();
    workedMs += now() - (since ?? now());
    since = null;
  }

  function take(event: StampedEvent): void {
    since ??= now();
    if (event.type === "model.progress") {
      showProgress(event);
      return;
    }
    spinner.clear();
    if (event.type !== "model.delta" || event.channel !== "thought") thoughts.end();
    if (event.type !== "model.delta" && reply.open) {
      reply.close();
      streams.section();
    }
    if (event.type !== "call.finished") work.showLooked();
    show(event.type, event);
    if (!reply.open) {
      watchSilence();
      spinner.resume();
    }
  }

  return {
    sink(event) {
      held = "";
      take(event);
      flush();
    },
    refresh: spinner.refresh,
    resume: spinner.resume,
    pause() {
      pause();
      streams.showSubject();
    },
    finish(outcome, undoFlags = "") {
      pause();
      spinner.stop();
      const { applied, undone } = work;
      const shown = { replied: reply.shown, markdown: markdown(outStyle, streams.outColumns) };
      const noted = !options.quiet;
      const state = { seen, noted, session: kind === "session", undoFlags, ms: workedMs, applied, undone, ...shown };
      showOutcome(outcome, streams, state);
      // The status line on the screen has already said that the run was interrupted.
      const isShown = seen && outcome.error?.code === "interrupted" && outcome.error.hint === null;
      if (outcome.error === null || isShown) return;
      const isOver = ["failed", "declined"].includes(outcome.status) && outcome.rolled_back === undefined;
      const untouched = seen && isOver && !applied && !undone && outcome.changes.length === 0;
      const error = untouched ? sayUntouched(outcome.error, outcome) : sayStays(outcome.error, outcome);
      options.err(renderFailure(error, style, streams.columns));
    },
  };
}

export function createTerminal(options: TerminalOptions): Terminal {
  /** Opened with its first event, as the terminal may have been resized since the last run. */
  let run: Terminal | null = null;
  /** Number of runs with a wait: the note how to stop is shown only beside the first. */
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
    refresh: () => run?.refresh(),
    pause: () => run?.pause(),
    resume: () => run?.resume(),
    finish(outcome, undoFlags) {
      (run ?? openRun(options)).finish(outcome, undoFlags);
      run = null;
    },
  };
}

interface ResultState {
  /** Whether the run was shown on the same screen, so that nothing is repeated. */
  readonly seen: boolean;
  /** Whether notices were shown, on either stream. */
  readonly noted: boolean;
  /** Whether a session continues, so that /undo is named too. */
  readonly session: boolean;
  /** Whether the changes can be undone later. */
  readonly undoFlags: string | null;
  /** Time that pai worked, in milliseconds. */
  readonly ms: number;
  readonly applied: boolean;
  readonly undone: boolean;
  /** The reply that is already on the screen; "" for none. */
  readonly replied: string;
  /** How Markdown is rendered on standard output; null: it stays as it is. */
  readonly markdown: MarkdownOptions | null;
}

/**
 * Prints the message: of a successful run to standard output, what failed or is not so to standard error as the model's words.
 * Prints nothing if the screen shows it already, or if eight-step failed, whose error says the same. Returns whether it
 * went to standard output.
 */
function showMessage(outcome: Outcome, streams: Streams, { replied, markdown }: ResultState): boolean {
  const { mode, error, actions, claimed } = outcome;
  const text = claimed ?? outcome.text;
  // A failed check does not invalidate an answer without actions, nor a failed command any answer.
  const isAnswer = error?.code === "check_failed" && actions.done + actions.failed + actions.refused === 0;
  const isSo = (outcome.ok || error?.code === "partial") && claimed === undefined;
  const ok = isSo || isAnswer || error?.code === "command_failed";
  const rest = restOf(text, replied);
  if (rest === "" || (!ok && mode === "eight-step")) return false;
  if (ok) streams.out(renderAnswer(rest, streams.outColumns, markdown));
  else streams.say(wrap(visible(`The model said: ${text}`), streams.columns));
  return ok;
}

/** Prints the result after the message, and the footer between the result and the undo hint. */
function showOutcome(outcome: Outcome, streams: Streams, state: ResultState): void {
  const { screen, out, aside, section, outStyle, outColumns } = streams;
  const { seen, noted, session, applied } = state;
  section();
  const hasMessage = showMessage(outcome, streams, state);
  section();
  const result = renderResult(outcome, { style: outStyle, columns: outColumns, applied, screen: seen, noted, session });
  out(!screen && result !== "" && hasMessage ? `\n${result}` : result);
  section();
  if ((outcome.calls.sent ?? outcome.calls.made) > 0) aside(renderFooter(outcome, state.ms));
  const { undoFlags } = state;
  if (undoFlags === null || outcome.run === null) return;
  if (applied) out(`undo with: pai undo${undoFlags}${session ? ", here: /undo" : ""}\n`);
  else if (state.undone && outcome.left === undefined)
    out(`bring its changes back with: ${session ? "/redo" : "pai redo"} ${outcome.run}${session ? "" : undoFlags}\n`);
}

/** `show` gets one line without its line feed; blank ones are left out. */
function openThoughts(show: (line: string) => void) {
  let begun = "";
  const showAll = (lines: readonly string[]) => {
    for (const line of lines) if (line.trim() !== "") show(`thinking: ${visible(line).trimEnd()}`);
  };
  return {
    push(text: string) {
      const lines = (begun + text).split("\n");
      begun = lines.pop() ?? "";
      showAll(lines);
    },
    /** Shows the last line, which no line feed ended. */
    end() {
      const last = begun;
      begun = "";
      showAll([last]);
    },
  };
}
