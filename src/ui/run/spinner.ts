/** The waiting line: what pai waits for, how long, and how to stop it. */

import type { Purpose } from "../../core/model.ts";
import type { Wait } from "../../core/question.ts";
import { counted, grouped, renderDuration } from "../amount.ts";
import { cut, keepEnd, wrap } from "../layout.ts";
import { visible, visibleLine } from "../sanitize.ts";
import type { Glyphs, Style } from "../style.ts";
import { eraseFromRow } from "../tty.ts";
import type { EventHandlers, EventOf } from "./show-work.ts";
import type { Streams } from "./streams.ts";

/** What the user types meanwhile: lines that wait, and the end of the one that is being typed; "": none is. */
export interface TypedAhead {
  readonly queued: readonly string[];
  readonly typing: string;
}

export interface WaitOptions {
  /** Whether a line may be redrawn; else one is written when a wait begins, and one every half minute. */
  readonly live: boolean;
  /** Current width of the terminal, which may be resized during a wait. */
  readonly columns: () => number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** How to stop: shown after the time if there is room. */
  readonly note: string;
  readonly typed?: () => TypedAhead;
}

/** Milliseconds before anything is drawn: a short wait needs no spinner. */
const patienceMs = 200;
const frameMs = 250;

/** Milliseconds between lines where none can be redrawn: build servers end a job without output. */
const beatMs = 30_000;

/** Columns kept for the text, however long the time is, and where how to stop stands behind it. */
const minWidth = 8;
const minNoteWidth = 30;

/** "planning with gemini:x, 12 s", never wider than `columns`: a wrapped line could not be erased. */
export function renderElapsed(what: string, ms: number, columns: number, { more, dot }: Glyphs, note = ""): string {
  const seconds = Math.floor(ms / 1000);
  const time = seconds === 0 ? "" : `, ${renderDuration(seconds * 1000).replace(".0", "")}`;
  const noted = note === "" ? "" : ` ${dot} ${note}`;
  const beside = columns - Bun.stringWidth(time) - Bun.stringWidth(noted);
  // The note may replace the end of a long text, but not its beginning.
  if (noted !== "" && beside >= Math.min(Bun.stringWidth(what), minNoteWidth))
    return cut(what, beside, more) + time + noted;
  const room = Math.max(columns - Bun.stringWidth(time), minWidth);
  return cut(cut(what, room, more) + time, columns, more);
}

const maxPauseRows = 4;

/** "waiting 12 s, then asking again (2 of 5) · Esc stops · " and the reason; `ms`: time left. */
export function renderCountdown({ why, attempt, of }: Wait, ms: number, columns: number, { dot }: Glyphs, note = "") {
  const pause = `waiting ${Math.ceil(ms / 1000)} s, then asking again (${attempt} of ${of})`;
  const parts = [pause, note, visibleLine(why)].filter((part) => part !== "");
  return wrap(parts.join(` ${dot} `), columns).slice(0, maxPauseRows);
}

export interface SpinnerOptions extends WaitOptions {
  /** Writes what will be erased; `say` writes a line that stays. */
  readonly redraw: (text: string) => void;
  readonly say: (line: string) => void;
  readonly style: Style;
}

/** Rewrites its text only when that changes; where no line can be redrawn, says now and then what is waited for. */
export function createSpinner({ live, redraw, say, style, columns, now, note, typed }: SpinnerOptions) {
  let waitingFor: string | null = null;
  let since = 0;
  let paused: { readonly wait: Wait; readonly until: number } | null = null;
  let frame = 0;
  let below: readonly string[] = [];
  let drawn: string | null = null;
  /** The line was on the screen when it was cleared: it comes back at once. */
  let wasDrawn = false;
  let timer: ReturnType<typeof setInterval> | null = null;

  function renderAhead(width: number): readonly string[] {
    const { queued, typing } = typed?.() ?? { queued: [], typing: "" };
    const { more } = style.glyphs;
    const rows = queued.map((line) => cut(visibleLine(`next: ${line}`), width, more));
    return typing === "" ? rows : [...rows, `pai> ${keepEnd(visibleLine(typing), width - "pai> ".length, more)}`];
  }

  function draw(): void {
    const at = now();
    if (waitingFor === null || (!wasDrawn && at - since < patienceMs)) return;
    const { glyphs } = style;
    // Leaves room for the symbol, and for the cursor after the last column.
    const width = columns() - 4;
    const texts =
      paused !== null && at < paused.until
        ? renderCountdown(paused.wait, paused.until - at, width, glyphs, note)
        : [renderElapsed(waitingFor, at - since, width, glyphs, note)];
    // The cursor stays after the symbol: if a narrower terminal wraps the line, it can still be erased from there.
    const turn = style.paint("change", glyphs.spinner[frame % glyphs.spinner.length] ?? "");
    const lines = below.map((line) => `${glyphs.bar} ${line}`);
    const others = lines.map((line) => cut(visibleLine(line), width, glyphs.more));
    const rows = [...texts, ...others, ...renderAhead(width)];
    const shown = rows.map((row) => `  ${style.paint("dim", row)}`).join("\r\n");
    const back = rows.length > 1 ? `\x1b[${rows.length - 1}A` : "";
    redraw(`${shown === drawn ? "" : `${eraseFromRow}${shown}${back}`}\r${turn}`);
    frame++;
    drawn = shown;
  }

  function beat(): void {
    if (waitingFor !== null) say(renderElapsed(waitingFor, now() - since, 200, style.glyphs));
  }

  function stopTimer(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  function clear(): void {
    if (!live) return;
    stopTimer();
    if (drawn !== null) redraw(eraseFromRow);
    wasDrawn ||= drawn !== null;
    drawn = null;
  }

  function resume(): void {
    if (waitingFor === null || timer !== null) return;
    timer = setInterval(live ? draw : beat, live ? frameMs : beatMs);
    timer.unref();
    if (wasDrawn) draw();
  }

  return {
    /** Starts another wait; its time starts at zero, or at `from`. */
    start(what: string, from = now()) {
      stopTimer();
      waitingFor = visibleLine(what);
      since = from;
      paused = null;
      below = [];
      if (!live) say(`${waitingFor} ${style.glyphs.more}`);
      resume();
    },
    update(what: string) {
      if (waitingFor !== null) waitingFor = visibleLine(what);
    },
    /** Lines below the wait, until another one starts. */
    show(lines: readonly string[]) {
      below = lines;
    },
    countDown(wait: Wait) {
      paused = { wait, until: now() + wait.seconds * 1000 };
    },
    refresh() {
      if (drawn !== null) draw();
    },
    clear,
    resume,
    stop() {
      clear();
      stopTimer();
      waitingFor = null;
      paused = null;
      wasDrawn = false;
    },
  };
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

function renderPromise(purpose: Purpose, atMost: number): string {
  if (purpose === "plan") return ` in at most ${counted(atMost, "call")}`;
  return purpose === "execute" ? ", mostly 1 or 2 calls," : "";
}

function renderProgress(purpose: Purpose, { thought, lines }: EventOf<"model.progress">): string {
  if (thought > 0) return `thinking, ${grouped(thought)} tokens`;
  return lines === 0 ? words[purpose] : `${words[purpose]}, ${counted(lines, "line")}`;
}

export const lastLines = (text: string): readonly string[] =>
  text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-5);

export function openWaits(streams: Streams, options: WaitOptions & { readonly verbose: boolean }) {
  const { style, redraw, line, aside } = streams;
  const { verbose, live, now } = options;
  const spinner = createSpinner({ ...options, redraw, say: aside, style });
  let purpose: Purpose = "turn";
  let asked: { readonly what: string; readonly from: number } | null = null;

  return {
    /** Ends the wait; if a model is being asked, shows that wait again. */
    stop() {
      if (asked === null) spinner.stop();
      else spinner.start(asked.what, asked.from);
    },
    spinner,
    handlers: {
      "check.started": ({ command, when }) =>
        spinner.start(`check ${command}${when === "before" ? " (before the change)" : ""}`),
      /** Not of a check that runs while the model is asked. */
      "command.output"({ lines }) {
        if (asked === null) spinner.show(lastLines(lines));
      },
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
        const told = verbose && details !== undefined ? `${text} (${details})` : text;
        if (!live || wait === undefined || verbose) line(level === "warning" ? "warn" : "dim", visible(told));
      },
      "run.finished"() {
        asked = null;
        spinner.stop();
      },
    } satisfies Partial<EventHandlers>,
  };
}
