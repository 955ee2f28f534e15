/** Reads a line or a message from the keyboard with the editor, and draws it. */
import { PaiError } from "../../core/error.ts";
import { cut, pad, wrap } from "../layout.ts";
import { visible, visibleLine } from "../sanitize.ts";
import type { Style } from "../style.ts";
import { type Completion, openEditor } from "./editor.ts";
import type { Keystroke } from "./keystrokes.ts";
import { openLineScreen, openPlainScreen } from "./line-screen.ts";
import type { Reader, Settle } from "./raw-input.ts";

export interface MessageOptions {
  readonly prompt: string;
  readonly text?: string;
  readonly history: readonly string[];
  readonly complete: (before: string) => Promise<Completion | null>;
  readonly pressed?: () => void;
  readonly keep: (draft: string) => void;
  /** Edits the message in the user's editor, which has the terminal meanwhile (Ctrl+X Ctrl+E). Never rejects. */
  readonly editOutside?: (text: string) => Promise<string>;
}

export interface OutsideEdit {
  readonly outside: string;
}

/** Milliseconds in which a key that is an answer may still become the first letter of words. */
const soonMs = 300;

export interface LineTerminal {
  readonly err: (text: string) => void;
  readonly style: Style;
  readonly size: () => { readonly columns: number; readonly rows: number };
}

/** Keys after which what may follow is offered; a message from the history offers nothing. */
const offering = new Set(["text", "paste", "backspace", "ctrl+h", "ctrl+w", "alt+backspace"]);

const menuRows = 8;

/** The words that the text may go on with, below it; none is chosen until the user goes down. */
function openMenu({ style, size }: Pick<LineTerminal, "style" | "size">) {
  let found: Completion | null = null;
  let at = -1;
  return {
    open(next: Completion) {
      found = next;
      at = -1;
    },
    close() {
      found = null;
    },
    chosen() {
      const word = found?.words[at];
      return found === null || word === undefined ? null : { from: found.from, word };
    },
    move(by: number): boolean {
      if (found === null || at + by >= found.words.length) return false;
      at += by;
      return true;
    },
    rows(): readonly string[] {
      const { columns, rows } = size();
      const height = Math.min(menuRows, rows - 3);
      if (found === null || height < 1) return [];
      const { words, notes = [] } = found;
      const room = words.length > height ? height - 1 : height;
      const first = Math.max(0, at - room + 1);
      const shown = words.slice(first, first + room).map(visibleLine);
      const wide = Math.max(0, ...shown.map((word) => Bun.stringWidth(word)));
      const lines = shown.map((word, n) => {
        const note = notes[first + n] ?? "";
        return `${first + n === at ? "> " : "  "}${note === "" ? word : `${pad(word, wide)}  ${note}`}`;
      });
      const { more } = style.glyphs;
      const rest = words.length > height ? [`  ${more} ${words.length - room} more`] : [];
      return [...lines, ...rest].map((line) => cut(line, columns - 1, more));
    },
  };
}

/**
 * Settles with the line, with a message to edit outside, or with null after Ctrl+D. `message` null: a one-line answer to a
 * question, where Ctrl+C always interrupts. `keys`: those that are an answer alone, without Enter, if no other follows soon.
 */
export function openLineReader(
  prompt: string,
  message: MessageOptions | null,
  { text = "", keys = "" }: { readonly text?: string; readonly keys?: string },
  settle: Settle<string | OutsideEdit | null>,
  { err, style, size }: LineTerminal,
): Reader {
  const editor = openEditor(message?.history ?? [], message !== null, text);
  const screen = style.plain ? openPlainScreen(err) : openLineScreen(err, size);
  const menu = openMenu({ style, size });
  let stale = false;
  /** The process is stopped, so the screen belongs to the shell. */
  let away = false;

  function draw(at = editor.line.at): void {
    stale = false;
    const lead =
      editor.search === null ? prompt : `(${editor.missed ? "not found" : "search"}: ${visible(editor.search)}) `;
    screen.draw(lead, editor.line.text, at, menu.rows());
  }

  function drawSoon(): void {
    if (stale) return;
    stale = true;
    queueMicrotask(() => {
      if (stale) draw();
    });
  }

  /** Offers what the text may go on with, once it is known; a later key makes that void. */
  async function offer(): Promise<void> {
    const asked = editor.line;
    if (message === null || style.plain || editor.search !== null || editor.line.text === "") return;
    const found = await message.complete(asked.text.slice(0, asked.at)).catch(() => null);
    if (editor.line !== asked || found === null) return;
    const typed = asked.text.slice(found.from, asked.at);
    if (found.words.length === 0 || (found.words.length === 1 && found.words[0] === typed)) return;
    menu.open(found);
    draw();
  }

  function leave(): void {
    menu.close();
    draw(editor.line.text.length);
    screen.leave();
  }

  async function complete(): Promise<void> {
    const { line } = editor;
    const found = await message?.complete(line.text.slice(0, line.at)).catch(() => null);
    if (!found) return;
    const words = editor.complete(found);
    if (words.length > 0 && !style.plain) editor.choose(found.from, words[0] ?? "");
    else if (words.length > 0) {
      leave();
      err(`${wrap(words.map(visible).join("  "), size().columns).join("\r\n")}\r\n`);
    }
    draw();
    void offer();
  }

  /** Moves in the menu, or takes the word that is chosen in it; false: the key has its usual meaning. */
  function pressInMenu({ name }: Keystroke): boolean {
    const chosen = menu.chosen();
    if (name === "down" ? menu.move(1) : name === "up" && chosen !== null && menu.move(-1)) {
      drawSoon();
      return true;
    }
    if ((name !== "enter" && name !== "tab") || chosen === null) return false;
    editor.choose(chosen.from, chosen.word);
    menu.close();
    drawSoon();
    void offer();
    return true;
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
      // Enter on an empty line sends nothing, unless a text stood there and the user took it away.
      if (message !== null && text === "" && editor.text.trim() === "") return draw();
      leave();
      settle.done(editor.text);
    },
    outside() {
      if (message?.editOutside === undefined) return;
      stale = false;
      menu.close();
      screen.erase();
      settle.done({ outside: editor.text });
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
  let whole: ReturnType<typeof setTimeout> | null = null;

  draw();
  return {
    press(key) {
      if (whole !== null) clearTimeout(whole);
      whole = isAnswer(key) ? setTimeout(() => acts.submit(), soonMs) : null;
      if (key.name !== "ctrl+c") message?.pressed?.();
      if (pressInMenu(key)) return;
      menu.close();
      const act = acts[actOf(key)];
      if (offering.has(key.name)) setTimeout(() => void offer(), 0);
      return act === acts.beep ? drawSoon() : act();
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
