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
import { openStreams, type StreamOptions } from "./streams.ts";

export interface TerminalOptions extends StreamOptions, Omit<WaitOptions, "note"> {
  readonly verbose: boolean;
  /** `plan`: the plan is the result and goes to standard output; `session`: a session continues after the run. */
  readonly kind: "run" | "plan" | "session";
  /** Returns the highlighter once it is loaded. */
  readonly highlight?: () => Highlight | null;
  /** A person answers questions, so their subject is shown in full. */
  readonly asks?: boolean;
}

export type Terminal = ReturnType<typeof openRun>;

/** A streamed reply without news for this many milliseconds is shown as ended. */
const stillMs = 3000;

/** `note`: how to stop, beside its waits; "": it was told. */
function openRun(options: TerminalOptions, note: string) {
  const { verbose, kind, now, live } = options;
  /** When the current stretch of work began; null: a question waits for its answer. */
  let since: number | null = now();
  let workedMs = 0;
  const isSession = kind === "session";
  const seen = options.screen && !options.quiet;
  const streams = openStreams(options);
  const { style, err, say, out, aside, section } = streams;
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
  const waits = openWaits(streams, { ...options, note });
  const { spinner } = waits;
  const work = openWork(streams, {
    verbose,
    reply,
    wait: spinner.start,
    stopWaiting: waits.stop,
    highlight,
    asks: options.asks ?? false,
    allOutput: isSession ? "/output shows all" : undefined,
    fold: seen ? (path) => (isSession ? `/diff ${path}` : "pai undo --dry-run") : undefined,
  });

  const handlers: EventHandlers = {
    ...waits.handlers,
    ...openSteps(streams, reply, { planIsResult: kind === "plan", verbose }),
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
    if (!live || !reply.open) return;
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
    if (live) spinner.clear();
    else spinner.stop();
    work.showLooked();
    reply.close();
    watchSilence();
    workedMs += now() - (since ?? now());
    since = null;
  }

  /**
   * Prints the message to standard output, or what failed or is not so to standard error as the model's words; nothing that
   * the screen shows already, or that eight-step's error says. Returns whether it went to standard output.
   */
  function showMessage(outcome: Outcome): boolean {
    const { mode, error, actions, claimed } = outcome;
    const text = claimed ?? outcome.text;
    // A failed check does not invalidate an answer without actions, nor a failed command any answer.
    const isAnswer = error?.code === "check_failed" && actions.done + actions.failed + actions.refused === 0;
    const isSo = (outcome.ok || error?.code === "partial") && claimed === undefined;
    const ok = isSo || isAnswer || error?.code === "command_failed";
    const rest = restOf(text, reply.shown);
    if (rest === "" || (!ok && mode === "eight-step")) return false;
    const { outStyle, outColumns } = streams;
    if (ok) out(renderAnswer(rest, outColumns, markdown(outStyle, outColumns)));
    else say(wrap(visible(`The model said: ${text}`), streams.columns));
    return ok;
  }

  function showResult(outcome: Outcome, hasMessage: boolean): void {
    const { screen, outStyle, outColumns: columns } = streams;
    section();
    const page = { style: outStyle, columns, screen };
    const result = renderResult(outcome, { ...page, applied: work.applied, session: isSession });
    out(!screen && result !== "" && hasMessage ? `\n${result}` : result);
    section();
    if ((outcome.calls.sent ?? outcome.calls.made) > 0) aside(renderFooter(outcome, workedMs));
  }

  function showUndo({ run, left }: Outcome, flags: string | null): void {
    if (flags === null || run === null) return;
    const redo = isSession ? `/redo ${run}` : `pai redo ${run}${flags}`;
    if (work.applied) out(`undo with: pai undo${flags}${isSession ? ", here: /undo" : ""}\n`);
    else if (work.undone && left === undefined) out(`bring its changes back with: ${redo}\n`);
  }

  return {
    sink(event: StampedEvent) {
      since ??= now();
      if (event.type === "model.progress") return showProgress(event);
      spinner.clear();
      if (event.type !== "model.delta" || event.channel !== "thought") thoughts.end();
      if (event.type !== "model.delta" && reply.open) {
        reply.close();
        section();
      }
      if (event.type !== "call.finished") work.showLooked();
      show(event.type, event);
      if (!reply.open) {
        watchSilence();
        spinner.resume();
      }
    },
    /** Shows anew what stands below the wait. */
    refresh: spinner.refresh,
    /** What is still waited for, such as a command, is shown again. */
    resume: spinner.resume,
    /** Call it before a question: nothing may be drawn until `resume`. */
    pause(): void {
      pause();
      streams.showSubject();
    },
    /** Prints the result of the run. `undoFlags`: what commands that undo it need besides; null: it cannot be undone. */
    finish(outcome: Outcome, undoFlags: string | null = ""): void {
      pause();
      spinner.stop();
      section();
      showResult(outcome, showMessage(outcome));
      showUndo(outcome, undoFlags);
      const { error, status, changes } = outcome;
      // The status line on the screen has already said that the run was interrupted.
      if (error === null || (seen && error.code === "interrupted" && error.hint === null)) return;
      const isOver = ["failed", "declined"].includes(status) && outcome.rolled_back === undefined;
      const untouched = seen && isOver && !work.applied && !work.undone && changes.length === 0;
      const told = untouched ? sayUntouched(error, outcome) : sayStays(error, outcome);
      options.err(renderFailure(told, style, streams.columns));
    },
  };
}

export function createTerminal(options: TerminalOptions): Terminal {
  let run: Terminal | null = null;
  let note = options.kind === "session" ? "Esc stops" : "Ctrl+C stops";
  return {
    sink(event) {
      run ??= openRun(options, note);
      note = "";
      run.sink(event);
    },
    refresh: () => run?.refresh(),
    pause: () => run?.pause(),
    resume: () => run?.resume(),
    finish(outcome, undoFlags) {
      (run ?? openRun(options, note)).finish(outcome, undoFlags);
      run = null;
    },
  };
}

/** `show` gets one line without its line feed; blank ones are left out. */
function openThoughts(show: (line: string) => void) {
  let begun = "";
  const push = (text: string): void => {
    const lines = (begun + text).split("\n");
    begun = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") show(`thinking: ${visible(line).trimEnd()}`);
  };
  /** `end` shows the last line, which no line feed ended. */
  return { push, end: () => push("\n") };
}
