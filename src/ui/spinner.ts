/** The one line that is redrawn: what is waited for, and since when (R36). */
import { spent } from "./amount.ts";
import { visibleLine } from "./sanitize.ts";
import type { Style } from "./style.ts";

export interface Spinner {
  /** Starts to wait for something else; the time starts anew. */
  readonly start: (what: string) => void;
  /** Takes the line away until `resume`, so that other text can be written. */
  readonly clear: () => void;
  /** Shows it again, if something is still waited for. */
  readonly resume: () => void;
  readonly stop: () => void;
}

export interface SpinnerOptions {
  readonly err: (text: string) => void;
  readonly style: Style;
  readonly columns: number;
  /** Milliseconds of any clock that only goes forward. */
  readonly now: () => number;
}

/** Below this nothing is drawn: what is done at once needs no spinner. */
const patienceMs = 200;
const frameMs = 250;
const eraseLine = "\r\x1b[K";

/** Draws at most five times a second, on standard error, and leaves nothing behind. */
export function createSpinner({ err, style, columns, now }: SpinnerOptions): Spinner {
  let waitingFor: string | null = null;
  let since = 0;
  let frame = 0;
  let drawn = false;
  let timer: ReturnType<typeof setInterval> | null = null;

  function draw(): void {
    if (waitingFor === null || now() - since < patienceMs) return;
    const { spinner } = style.glyphs;
    const elapsed = Math.floor((now() - since) / 1000);
    const time = elapsed === 0 ? "" : `, ${spent(Math.max(elapsed * 1000, 0)).replace(".0", "")}`;
    const what = Bun.sliceAnsi(waitingFor, 0, Math.max(columns - Bun.stringWidth(time) - 4, 8));
    err(
      `${eraseLine}${style.paint("change", spinner[frame % spinner.length] ?? "")} ${style.paint("dim", what + time)}`,
    );
    frame++;
    drawn = true;
  }

  function clear(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
    if (drawn) err(eraseLine);
    drawn = false;
  }

  function resume(): void {
    if (waitingFor === null || timer !== null) return;
    timer = setInterval(draw, frameMs);
    timer.unref();
  }

  return {
    start(what) {
      waitingFor = visibleLine(what);
      since = now();
      resume();
    },
    clear,
    resume,
    stop() {
      clear();
      waitingFor = null;
    },
  };
}
