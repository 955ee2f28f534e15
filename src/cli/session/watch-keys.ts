/** While a run works: Escape stops it, and other keys make a queue of messages for later. */
import { closeSync } from "node:fs";
import { type Keystroke, openKeys } from "../../ui/prompt/keystrokes.ts";
import { couldAnswer } from "../../ui/prompt/read-answer.ts";
import { isInForeground, openTyped, readTyped } from "../../ui/tty.ts";

/** What is typed while a task works: lines for later, which are sent one by one, and the line that is being typed. */
export interface Ahead {
  lines: string[];
  text: string;
  /** A task was stopped since: each line waits at the prompt for its own Enter. */
  isHeld: boolean;
}

function queue(ahead: Ahead): void {
  if (ahead.text.trim() !== "") ahead.lines.push(ahead.text.trim());
  ahead.text = "";
}

export function hold(ahead: Ahead): void {
  queue(ahead);
  ahead.isHeld = ahead.lines.length > 0;
}

/** Drops the queued lines that could have been meant as an answer, as what they would answer came later. Returns them. */
export function dropAnswers(ahead: Ahead): readonly string[] {
  const dropped = ahead.lines.filter(couldAnswer);
  ahead.lines = ahead.lines.filter((line) => !couldAnswer(line));
  return dropped;
}

/** The queued line that is sent next; null: none is sent by itself. */
export const nextQueued = ({ lines, isHeld }: Ahead): string | null => (isHeld ? null : (lines.shift() ?? null));

/** What stands at the next prompt: the first line that is held, else the line that was being typed. */
export function takeDraft(ahead: Ahead): string {
  const text = ahead.lines.shift() ?? ahead.text;
  if (!ahead.isHeld) ahead.text = "";
  ahead.isHeld = ahead.lines.length > 0;
  return text;
}

function press(ahead: Ahead, { name, text }: Keystroke): void {
  if (text !== "") ahead.text += text;
  else if (name === "backspace" || name === "ctrl+h") ahead.text = Array.from(ahead.text).slice(0, -1).join("");
  else if (name === "ctrl+u") ahead.text = "";
  else if (name === "up" && ahead.text === "") ahead.text = ahead.lines.pop() ?? "";
  else if (name === "enter") queue(ahead);
}

export interface KeyWatch {
  /** Leaves the terminal to a question. Returns the lines that it drops: what was typed before it never answers it. */
  readonly pause: () => readonly string[];
  readonly resume: () => void;
  /** Restores the terminal. `isStopped`: the user stopped the work, so no queued line is sent by itself. */
  readonly stop: (isStopped: boolean) => void;
}

const off: KeyWatch = { pause: () => [], resume() {}, stop() {} };

/** The keys that mean a signal, which the terminal does not send in this mode. */
const signals: Readonly<Record<string, NodeJS.Signals>> = {
  "ctrl+c": "SIGINT",
  "ctrl+z": "SIGTSTP",
  "ctrl+\\": "SIGQUIT",
};

/** Milliseconds between polls, and the time for the rest of a key that begins with Escape. */
const tickMs = 50;

/** Reads keys into `ahead` until `stop`; nothing without a terminal. `typed`: called when `ahead` has changed. */
export function watchKeys(onEscape: () => void, ahead: Ahead, typed: () => void): KeyWatch {
  const { stdin } = process;
  const fd = stdin.isTTY ? openTyped(0) : null;
  if (fd === null) return off;
  const decoder = new TextDecoder();
  const keys = openKeys();
  let paused = false;
  /** Without echo and line mode: otherwise a line arrives only with Enter, and Escape not before it. */
  const setRaw = (on: boolean) => {
    // In the background this would stop the process.
    if (isInForeground()) stdin.setRawMode(on);
  };
  /** On Ctrl+Z, turns the echo on for the shell, as not every shell does that itself. */
  const suspend = () => {
    setRaw(false);
    process.off("SIGTSTP", suspend);
    process.kill(process.pid, "SIGTSTP");
    process.on("SIGTSTP", suspend);
  };
  const wake = () => {
    if (paused) return;
    setRaw(false);
    setRaw(true);
  };
  /** Takes what has been typed; an Escape after which nothing came for a tick is the key. */
  const take = () => {
    const wasBegun = keys.begun;
    const more = readTyped(fd, decoder);
    if (more !== "") keys.push(more);
    else if (wasBegun) keys.settle();
    let isChanged = false;
    for (let key = keys.next(); key !== null; key = keys.next()) {
      const signal = signals[key.name];
      if (signal !== undefined) process.kill(0, signal);
      if (key.name === "escape") onEscape();
      press(ahead, key);
      isChanged = true;
    }
    if (isChanged) typed();
  };
  const tick = () => {
    // In the background, accessing the terminal would stop the process.
    if (paused || !isInForeground()) return;
    // A question, for example, may have ended the mode.
    if (!stdin.isRaw) setRaw(true);
    take();
  };
  const timer = setInterval(tick, tickMs);
  const restore = () => {
    clearInterval(timer);
    process.off("SIGTSTP", suspend).off("SIGCONT", wake).off("exit", restore);
    setRaw(false);
  };
  process.on("SIGTSTP", suspend).on("SIGCONT", wake).once("exit", restore);
  setRaw(true);
  return {
    pause() {
      if (isInForeground()) take();
      paused = true;
      const dropped = dropAnswers(ahead);
      if (ahead.text.trim() === "" || !couldAnswer(ahead.text)) return dropped;
      const { text } = ahead;
      ahead.text = "";
      return [...dropped, text];
    },
    resume() {
      paused = false;
    },
    stop(isStopped) {
      if (!paused && isInForeground()) take();
      closeSync(fd);
      restore();
      if (isStopped) hold(ahead);
    },
  };
}
