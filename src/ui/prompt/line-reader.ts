/** Reads a line or a message from the keyboard with the editor, and draws it. */
import { PaiError } from "../../core/error.ts";
import { wrap } from "../layout.ts";
import { visible } from "../sanitize.ts";
import type { Style } from "../style.ts";
import { type Completion, openEditor } from "./editor.ts";
import type { Keystroke } from "./keystrokes.ts";
import { openLineScreen, openPlainScreen } from "./line-screen.ts";
import type { Reader, Settle } from "./raw-input.ts";

export interface MessageOptions {
  /** One row; may be coloured. */
  readonly prompt: string;
  /** Earlier messages, oldest first. */
  readonly history: readonly string[];
  /** Completions at the end of the text; null: unknown. */
  readonly complete: (before: string) => Promise<Completion | null>;
  /** Called for every key except Ctrl+C. */
  readonly pressed?: () => void;
  /** Receives the typed text if the reading is cut off. */
  readonly keep: (draft: string) => void;
  /** Edits the message in the user's editor, which has the terminal meanwhile (Ctrl+X Ctrl+E). Never rejects. */
  readonly editOutside?: (text: string) => Promise<string>;
}

export interface OutsideEdit {
  readonly outside: string;
}

export interface LineOptions {
  /** Shown before the line, on its row. */
  readonly prompt: string;
  /** null: a one-line answer to a question, where Ctrl+C always interrupts. */
  readonly message: MessageOptions | null;
  /** Initial text. */
  readonly text: string;
  /** Keys that are an answer alone, without Enter; absent: none. */
  readonly keys?: string;
}

export interface LineTerminal {
  readonly err: (text: string) => void;
  readonly style: Style;
  readonly size: () => { readonly columns: number; readonly rows: number };
}

/** Settles with the line, with a message to edit outside, or with null at the end of input. */
export function openLineReader(
  { prompt, message, text, keys = "" }: LineOptions,
  settle: Settle<string | OutsideEdit | null>,
  { err, style, size }: LineTerminal,
): Reader {
  const editor = openEditor({ history: message?.history ?? [], rows: message !== null, text });
  const screen = style.plain
    ? openPlainScreen(err)
    : openLineScreen({ err, columns: () => size().columns, rows: () => size().rows, keepsPrompt: message === null });
  let stale = false;
  /** The process is stopped, so the screen belongs to the shell. */
  let away = false;

  function draw(at = editor.line.at): void {
    stale = false;
    const lead =
      editor.search === null ? prompt : `(${editor.missed ? "not found" : "search"}: ${visible(editor.search)}) `;
    screen.draw(lead, editor.line.text, at);
  }

  /** Schedules one redraw for all keys that have arrived. */
  function drawSoon(): void {
    if (stale) return;
    stale = true;
    queueMicrotask(() => {
      if (stale) draw();
    });
  }

  function leave(): void {
    draw(editor.line.text.length);
    screen.leave();
  }

  async function complete(): Promise<void> {
    const { line } = editor;
    const found = await message?.complete(line.text.slice(0, line.at)).catch(() => null);
    if (!found) return;
    const words = editor.complete(found);
    if (words.length > 0) {
      leave();
      err(`${wrap(words.map(visible).join("  "), size().columns).join("\r\n")}\r\n`);
    }
    draw();
  }

  const acts = {
    edited: drawSoon,
    beep: () => {},
    /** A question must stay visible, so the screen is not cleared. */
    clear() {
      if (message === null) return;
      screen.clear();
      draw();
    },
    complete,
    submit() {
      leave();
      settle.done(editor.line.text);
    },
    outside() {
      if (message?.editOutside === undefined) return;
      leave();
      settle.done({ outside: editor.line.text });
    },
    interrupt() {
      leave();
      settle.fail(new PaiError("interrupted", "interrupted at a question"));
    },
    end() {
      leave();
      settle.done(null);
    },
    stop() {
      leave();
      away = true;
      settle.stop();
    },
  };

  /** For an answer Ctrl+C interrupts instead of clearing, and Escape counts as no answer. */
  function actOf(key: Keystroke): keyof typeof acts {
    if (message === null && key.name === "ctrl+c") return "interrupt";
    if (message === null && key.name === "escape" && editor.search === null) return "end";
    return editor.press(key);
  }

  const isAnswer = ({ name, text: typed }: Keystroke) =>
    name === "text" && typed.length === 1 && editor.line.text === "" && keys.includes(typed.toLowerCase());

  draw();
  return {
    press(key) {
      if (key.name !== "ctrl+c") message?.pressed?.();
      const isWhole = isAnswer(key);
      const act = acts[actOf(key)];
      return isWhole ? acts.submit() : act();
    },
    resume() {
      away = false;
      screen.leave();
      draw();
    },
    resize() {
      if (away) return;
      screen.resize();
      draw();
    },
    cut() {
      if (!away) leave();
      if (message !== null && editor.draft.trim() !== "") message.keep(editor.draft);
    },
  };
}
