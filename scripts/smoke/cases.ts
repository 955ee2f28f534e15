/** What every provider is tried with, and how pai must end. */
import { exitCodes } from "../../src/core/error.ts";
import type { Exchange } from "./recorder.ts";

/** What pai printed with `--json`, as far as it is judged; null: no document. */
export interface Document {
  readonly ok?: boolean;
  readonly text?: string;
  readonly error?: { readonly code?: string; readonly message?: string } | null;
  readonly usage?: { readonly input?: number; readonly output?: number };
  readonly cost?: number | null;
}

export interface Ended {
  readonly code: number;
  readonly document: Document | null;
  readonly exchanges: readonly Exchange[];
}

export interface Case {
  readonly name: string;
  /** The arguments of pai, without the model. */
  readonly args: readonly string[];
  /** Instead of the provider's model. */
  readonly model?: string;
  /** Tokens of one reply that the settings state for the model. */
  readonly output?: number;
  /** Why the end is not as it should be; null: it is. */
  readonly judge: (ended: Ended) => string | null;
}

/** A word that no model guesses, in a file of the project. */
export const secretWord = "quokka-4711";
export const wordFile = "word.txt";

const must = (is: boolean, otherwise: string): string | null => (is ? null : otherwise);
const ended = ({ code, document }: Ended): string => `exit ${code} ${document?.error?.code ?? ""}`.trim();

const limits = ["--max-calls", "6", "--timeout", "5m"];

export const cases: readonly Case[] = [
  {
    name: "plan",
    args: ["plan", "--json", ...limits, "Write the file hello.txt with the one line: hello"],
    judge: (end) => must(end.code === 0, ended(end)),
  },
  {
    name: "tool loop",
    args: [
      ...["run", "--json", "-y", "--mode", "tool-loop", ...limits],
      `Read the file ${wordFile} with a tool. Then answer with the word that is in it, and nothing else.`,
    ],
    judge: (end) =>
      must(end.code === 0, ended(end)) ??
      must(end.exchanges.filter(({ method }) => method === "POST").length >= 2, "answered without a tool") ??
      must(end.document?.text?.includes(secretWord) === true, "the answer is not the word in the file"),
  },
  {
    name: "refused model",
    args: ["run", "--json", "-y", ...limits, "Say hello."],
    model: "pai-smoke-no-such-model",
    judge: (end) =>
      must(end.code === exitCodes.model_unknown && end.document?.error?.code === "model_unknown", ended(end)),
  },
  {
    name: "cut reply",
    args: [
      "run",
      "--json",
      "-y",
      ...limits,
      "Answer in words: count from one to one thousand, every number spelled out.",
    ],
    output: 256,
    // A reply that is cut each time ends the run; a model that is brief enough may still be done.
    judge: (end) => must(end.code === exitCodes.reply_cut || end.code === 0, ended(end)),
  },
  {
    name: "effort",
    args: ["run", "--json", "-y", "--effort", "low", ...limits, "Say hello."],
    judge: (end) => must(end.code === 0, ended(end)),
  },
];
