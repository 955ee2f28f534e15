/** Asks the user at the terminal: questions, the next message of a session, and hidden keys. */
import {
  answerPrompt,
  answerRule,
  explainKeys,
  takesAlways,
  takesReview,
  takesWords,
} from "../../core/approval-wording.ts";
import { PaiError } from "../../core/error.ts";
import type { Question } from "../../core/question.ts";
import { wrap } from "../layout.ts";
import { visibleLine } from "../sanitize.ts";
import { type LineTerminal, type MessageOptions, type OutsideEdit, openLineReader } from "./line-reader.ts";
import { openRawInput, type Reader, type Settle } from "./raw-input.ts";
import { type Answer, readAnswer, renderQuestion } from "./read-answer.ts";

export type FinalAnswer = Exclude<Answer, "again" | "show" | "help">;

const isFinal = (answer: Answer): answer is FinalAnswer =>
  typeof answer === "object" || !["again", "show", "help"].includes(answer);

export type Prompter = ReturnType<typeof createPrompter>;

/** `isStdinKeyboard`: keys come from standard input; otherwise from the terminal of the process. */
export function createPrompter(
  options: LineTerminal & { readonly isStdinKeyboard: boolean; readonly kitty: boolean; readonly signal: AbortSignal },
) {
  const { err, style, size } = options;
  const terminal = style.plain ? "dumb" : options.kitty ? "kitty" : "legacy";
  const raw = openRawInput(options.isStdinKeyboard, terminal, options);

  function showQuestion(question: Question): void {
    err(style.plain ? "\n" : "\r\x1b[K\n");
    err(renderQuestion(question, style, style.plain ? null : size().columns));
  }

  function explain(question: Question, answer: Exclude<Answer, FinalAnswer>): void {
    if (answer === "show") showQuestion({ ...question, diff: question.diff ?? question.diffOnAsk ?? "" });
    else err(`${style.paint("dim", answer === "help" ? explainKeys(question) : answerRule(question))}\n`);
  }

  /** null: Ctrl+D. Ctrl+C clears it, or throws interrupted if it is empty. Text from the user's editor is shown. */
  async function readMessage(message: MessageOptions): Promise<string | null> {
    let text = message.text ?? "";
    for (;;) {
      const read = await raw.read<string | OutsideEdit>("keep", (settle) =>
        openLineReader(message.prompt, message, { text }, settle, options),
      );
      if (typeof read === "string" || read === null) return read;
      text = (await message.editOutside?.(read.outside)) ?? read.outside;
    }
  }

  async function readAnswered(prompt: string, keys: string): Promise<string | null> {
    const read = await raw.read<string | OutsideEdit>("drop", (settle) =>
      openLineReader(prompt, null, { keys }, settle, options),
    );
    return typeof read === "object" ? null : read;
  }

  return {
    /** Reads one line, an answer to what was just shown; null: Ctrl+D or Escape. Throws interrupted on Ctrl+C. */
    readLine: (prompt: string) => readAnswered(prompt, ""),
    /** Shows the question in full and waits for an answer; Ctrl+D and Escape mean no. Throws interrupted on Ctrl+C. */
    async ask(question: Question): Promise<FinalAnswer> {
      showQuestion(question);
      const feedback = takesWords(question);
      const always = takesAlways(question);
      const prompt = visibleLine(answerPrompt(question));
      // Where words are an answer, a key may be the first letter of one.
      const keys = feedback ? "" : `ynd?${always ? "a" : ""}`;
      for (;;) {
        const said = await readAnswered(prompt, keys);
        const answer = readAnswer(said, { feedback, always, review: takesReview(question) });
        if (isFinal(answer)) return answer;
        explain(question, answer);
      }
    },
    readMessage,
    /** Reads one line that is shown as stars; null: Ctrl+D or Escape. Throws interrupted on Ctrl+C. */
    async askHidden(question: string): Promise<string | null> {
      try {
        return await raw.read<string>("drop", (settle) => {
          const { columns } = size();
          const isNarrow = !style.plain && Bun.stringWidth(question) + maxDots > columns;
          err(isNarrow ? [...wrap(question.trimEnd(), columns), "> "].join("\r\n") : question);
          return openSecretLine(settle, err);
        });
      } finally {
        err("\n");
      }
    },
  };
}

/** So many dots at most: a pasted key must not wrap. */
const maxDots = 24;

function openSecretLine({ done, fail }: Settle<string | null>, err: (text: string) => void): Reader {
  let text = "";
  const starsOf = (line: string) => Math.min(Array.from(line).length, maxDots);
  const put = (next: string): void => {
    const more = starsOf(next) - starsOf(text);
    text = next;
    err(more < 0 ? "\b \b".repeat(-more) : "*".repeat(more));
  };
  const keys: Readonly<Record<string, () => void>> = {
    enter: () => done(text),
    "ctrl+d": () => done(text === "" ? null : text),
    escape: () => done(null),
    "ctrl+c": () => fail(new PaiError("interrupted", "interrupted at a question")),
    "ctrl+u"() {
      put("");
    },
    backspace() {
      put(Array.from(text).slice(0, -1).join(""));
    },
  };
  return {
    press(key) {
      if (key.text !== "") put(text + key.text.trim());
      else keys[key.name]?.();
    },
    resume() {},
    resize() {},
    cut() {},
  };
}
