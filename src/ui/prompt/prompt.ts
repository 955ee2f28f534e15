/** Asks the person at the terminal: questions, the next message of a session, and keys that must not show. */
import { answerPrompt, answerRule } from "../../core/approval-wording.ts";
import { PaiError } from "../../core/error.ts";
import type { Question } from "../../core/question.ts";
import { wrap } from "../layout.ts";
import { visible, visibleLine } from "../sanitize.ts";
import type { Style } from "../style.ts";
import { renderQuestion } from "./draw-question.ts";
import { type Completion, openEditor } from "./editor.ts";
import type { Keyboard } from "./keyboard.ts";
import type { Key } from "./keystrokes.ts";
import { openLineScreen, openPlainScreen } from "./line-screen.ts";
import { openRawInput, type Reader, type Settle } from "./raw-input.ts";
import { type Answer, readAnswer } from "./read-answer.ts";
import { openSecretLine } from "./secret-line.ts";

export interface PrompterOptions {
  /** Opened for each question. */
  readonly keyboard: () => Keyboard;
  readonly err: (text: string) => void;
  readonly style: Style;
  readonly size: () => { readonly columns: number; readonly rows: number };
  /** The terminal spells keys as kitty does when asked to. */
  readonly kitty: boolean;
  /** Ends any question; its reason is thrown. */
  readonly signal: AbortSignal;
}

export interface MessageOptions {
  /** On one row; it may be coloured. */
  readonly prompt: string;
  /** Earlier messages, the oldest first. */
  readonly history: readonly string[];
  /** Completions for the end of the text; null: none known. */
  readonly complete: (before: string) => Promise<Completion | null>;
  /** Told of every key but Ctrl+C. */
  readonly pressed?: () => void;
  /** Takes what was typed when the reading is cut off before it was sent. */
  readonly keep: (draft: string) => void;
  /** Has the message edited outside while the terminal is the editor's (Ctrl+X Ctrl+E). Never rejects. */
  readonly editOutside?: (text: string) => Promise<string>;
}

/** The message goes to an editor outside, and comes back to be sent. */
interface Outside {
  readonly outside: string;
}

export interface Prompter {
  /** Keys that were read elsewhere while nothing was asked: the next message begins with them. */
  readonly typeAhead: (keys: string) => void;
  /** Shows the question whole and waits for a clear answer; end of input and Escape are a no. Throws PaiError(interrupted) on Ctrl+C. */
  readonly ask: (question: Question) => Promise<Exclude<Answer, "again">>;
  /** One line, an answer to something that was just shown; null: end of input or Escape. Throws PaiError(interrupted) on Ctrl+C. */
  readonly readLine: (prompt: string) => Promise<string | null>;
  /** One message, pastes whole; null: end of input. Ctrl+C clears it; on an empty one it throws PaiError(interrupted). */
  readonly readMessage: (options: MessageOptions) => Promise<string | null>;
  /** One line that is not shown; null: end of input or Escape. Throws PaiError(interrupted) on Ctrl+C. */
  readonly askHidden: (question: string) => Promise<string | null>;
}

const interrupted = () => new PaiError("interrupted", "interrupted at a question");

export function createPrompter(options: PrompterOptions): Prompter {
  const { err, style, size } = options;
  const terminal = style.plain ? "dumb" : options.kitty ? "kitty" : "legacy";
  const raw = openRawInput({ ...options, terminal });

  /** The editor on the screen. `message` null: one line that answers a question, where Ctrl+C always interrupts. */
  function openReader(
    prompt: string,
    message: MessageOptions | null,
    settle: Settle<string | Outside | null>,
    text = "",
  ): Reader {
    const editor = openEditor({ history: message?.history ?? [], rows: message !== null, text });
    const screen = style.plain
      ? openPlainScreen(err)
      : openLineScreen({ err, columns: () => size().columns, rows: () => size().rows, keepsPrompt: message === null });
    let stale = false;
    /** Stopped: the screen is another's. */
    let away = false;

    function draw(at = editor.line.at): void {
      stale = false;
      const lead =
        editor.search === null ? prompt : `(${editor.missed ? "not found" : "search"}: ${visible(editor.search)}) `;
      screen.draw(lead, editor.line.text, at);
    }

    /** Once for all the keys that have arrived. */
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
      /** A question stays in sight. */
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
        settle.fail(interrupted());
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

    /** An answer is not cleared but given: Ctrl+C interrupts, Escape is as safe as no answer. */
    function actOf(key: Key): keyof typeof acts {
      if (message === null && key.name === "ctrl+c") return "interrupt";
      if (message === null && key.name === "escape" && editor.search === null) return "end";
      return editor.press(key);
    }

    draw();
    return {
      press(key) {
        if (key.name !== "ctrl+c") message?.pressed?.();
        return acts[actOf(key)]();
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

  /** Text typed ahead may be at the start of the line: it is erased, as it will not be read. */
  function showQuestion(question: Question): void {
    err(style.plain ? "\n" : "\r\x1b[K\n");
    err(renderQuestion(question, style, style.plain ? null : size().columns));
  }

  /** A message; what comes back from the editor outside is shown, to be sent or typed on. */
  async function readMessage(message: MessageOptions): Promise<string | null> {
    let text = "";
    for (;;) {
      const read = await raw.read<string | Outside>("keep", (settle) =>
        openReader(message.prompt, message, settle, text),
      );
      if (typeof read === "string" || read === null) return read;
      text = (await message.editOutside?.(read.outside)) ?? read.outside;
    }
  }

  const readLine = async (prompt: string): Promise<string | null> => {
    const read = await raw.read<string | Outside>("drop", (settle) => openReader(prompt, null, settle));
    return typeof read === "object" ? null : read;
  };

  return {
    typeAhead: raw.typeAhead,
    readLine,
    async ask(question) {
      showQuestion(question);
      const { kind, folder = null } = question;
      const feedback = kind === "plan" || kind === "batch";
      const prompt = answerPrompt(kind, folder === null ? null : visibleLine(folder));
      for (;;) {
        const answer = readAnswer(await readLine(prompt), {
          feedback,
          always: folder !== null,
          review: kind === "plan",
        });
        if (answer !== "again") return answer;
        err(`${style.paint("dim", answerRule(feedback))}\n`);
      }
    },
    readMessage,
    async askHidden(question) {
      try {
        return await raw.read<string>("drop", (settle) => {
          err(style.plain ? question : `${wrap(question.trimEnd(), size().columns).join("\r\n")} `);
          return openSecretLine(settle);
        });
      } finally {
        err("\n");
      }
    },
  };
}
