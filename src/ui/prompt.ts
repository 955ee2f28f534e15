/** Asks the person at the terminal: questions, the next message of a session, and keys that must not show. */
import type { ReadStream } from "node:tty";
import { PaiError } from "../core/error.ts";
import type { Question } from "../core/ports.ts";
import { type Answer, readAnswer } from "./answer.ts";
import { wrap } from "./layout.ts";
import { unmarkLines } from "./paste.ts";
import { openRawInput, type Settle } from "./raw-input.ts";
import { visible } from "./sanitize.ts";
import type { Style } from "./style.ts";

export interface PrompterOptions {
  /** The terminal on standard input; opened at the first question. */
  readonly stdin: () => ReadStream;
  readonly err: (text: string) => void;
  readonly style: Style;
  readonly columns: () => number;
  /** Ends any question; its reason is thrown. */
  readonly signal: AbortSignal;
}

export interface Prompter {
  /** Shows the question whole and waits for a clear answer. Throws PaiError(interrupted) on Ctrl+C. */
  readonly ask: (question: Question) => Promise<Exclude<Answer, "again">>;
  /** One message, pastes whole; null: end of input. Ctrl+C clears the line; on an empty one it throws PaiError(interrupted). */
  readonly readLine: (prompt: string) => Promise<string | null>;
  /** One line that is not shown; null: end of input. Throws PaiError(interrupted) on Ctrl+C. */
  readonly askHidden: (question: string) => Promise<string | null>;
}

const inputs: Readonly<Record<Question["kind"], string>> = {
  plan: "y, n, or say what to change: ",
  batch: "apply? y, n, or say what to change: ",
  changes: "go on? y or n: ",
  scope: "allow? y or n: ",
  command: "run? y or n: ",
  keep: "keep? y or n: ",
};

const interrupted = () => new PaiError("interrupted", "interrupted at a question");

/** A line typed without being shown: characters, backspace, Ctrl+U, Enter, Ctrl+C, Ctrl+D. */
function openSecret({ done, fail }: Settle<string | null>): (typed: string) => void {
  let text = "";
  const keys: Readonly<Record<string, () => void>> = {
    "\r": () => done(text),
    "\n": () => done(text),
    "\x04": () => done(text === "" ? null : text),
    "\x03": () => fail(interrupted()),
    "\x15": () => {
      text = "";
    },
    "\x7f": () => {
      text = text.slice(0, -1);
    },
  };
  return (typed) => {
    for (const character of typed) {
      const key = keys[character];
      if (key) key();
      else if (character >= " ") text += character;
    }
  };
}

export function createPrompter(options: PrompterOptions): Prompter {
  const { err, style } = options;
  const raw = openRawInput(options);
  const history: string[] = [];

  async function edit(prompt: string, ahead: "keep" | "drop"): Promise<string | null> {
    const [{ createInterface }, { PassThrough, Writable }] = await Promise.all([
      import("node:readline"),
      import("node:stream"),
    ]);
    const write = (chunk: Uint8Array, _: string, done: () => void) => {
      err(String(chunk));
      done();
    };
    const output = Object.assign(new Writable({ write }), { columns: options.columns(), isTTY: true });
    const input = new PassThrough();
    const past = ahead === "keep" ? [...history] : [];
    const editor = createInterface({ input, output, prompt, terminal: true, history: past });
    try {
      return await raw.read<string>(ahead, ({ done, fail }) => {
        editor.once("line", (line) => done(unmarkLines(line)));
        editor.once("close", () => done(null));
        editor.on("SIGINT", () => {
          if (editor.line === "" || ahead === "drop") fail(interrupted());
          else {
            editor.write(null, { ctrl: true, name: "e" });
            editor.write(null, { ctrl: true, name: "u" });
          }
        });
        editor.prompt();
        return (typed) => {
          if (typed !== "") input.write(typed);
        };
      });
    } catch (thrown) {
      err("\n");
      throw thrown;
    } finally {
      editor.close();
    }
  }

  /** What was typed ahead may stand at the start of the line: it is taken away, as it will not be read. */
  function showQuestion(text: string): void {
    err(style.plain ? "\n" : "\r\x1b[K\n");
    const question = visible(text).trimEnd();
    if (question !== "") err(`${wrap(question, style.plain ? null : options.columns()).join("\n")}\n`);
  }

  return {
    async ask({ kind, text }) {
      showQuestion(text);
      const feedback = kind === "plan";
      const rule = feedback ? "y, n, or a few words (f WORD for a single one)" : "y or n";
      for (;;) {
        const said = await edit(inputs[kind], "drop");
        if (said === null) err("\n");
        const answer = readAnswer(said, { feedback });
        if (answer !== "again") return answer;
        err(`${style.paint("dim", rule)}\n`);
      }
    },
    async readLine(prompt) {
      const text = await edit(prompt, "keep");
      if (text !== null && text.trim() !== "") history.unshift(text.replaceAll("\n", " "));
      return text;
    },
    async askHidden(question) {
      try {
        return await raw.read<string>("drop", (settle) => {
          err(question);
          return openSecret(settle);
        });
      } finally {
        err("\n");
      }
    },
  };
}
