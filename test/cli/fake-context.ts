/** A process for one command: a temporary home, what is typed, and everything that was said. */

import { type Command, type Context, openNotices } from "../../src/cli/command.ts";
import type { Flags } from "../../src/cli/flags.ts";
import { toPaiError } from "../../src/core/error.ts";
import { type Files, placeFiles } from "../flows/scripted.ts";
import { type Home, makeHome } from "../store/temp-home.ts";

export interface Said {
  /** Exit code, or the code of the PaiError that was thrown. */
  readonly code: number | string;
  readonly out: string;
  readonly err: string;
}

export interface Typed {
  readonly words?: readonly string[];
  readonly flags?: Flags;
  readonly env?: Readonly<Record<string, string>>;
  /** Piped standard input; absent: a terminal. */
  readonly stdin?: string;
}

export interface Process {
  readonly home: Home;
  readonly run: (command: Pick<Command, "run">, typed?: Typed) => Promise<Said>;
}

/** Where nothing is typed, piped or shown, but for what is given. */
export const makeContext = (home: Home, more: Partial<Context>): Context => ({
  ...{ env: {}, cwd: home.root, flags: {}, words: [], out: () => {}, err: () => {} },
  tty: { stdin: false, stdout: false, stderr: false, keyboard: false },
  ...{ notices: openNotices(), now: () => new Date(), signal: new AbortController().signal },
  ...{ shown: async () => {}, readPiped: async () => "", readStdin: async () => "" },
  onInterrupt: () => {},
  ...more,
});

export function openProcess(home: Home = makeHome(), files: Files = {}): Process {
  placeFiles(home.root, files);
  return {
    home,
    async run(command, { words = [], flags = {}, env = {}, stdin } = {}) {
      let [out, err] = ["", ""];
      const isTyped = stdin === undefined;
      const context = makeContext(home, {
        ...{ env: { HOME: home.places.home ?? "", ...env }, flags, words },
        out: (text) => {
          out += text;
        },
        err: (text) => {
          err += text;
        },
        tty: { stdin: isTyped, stdout: false, stderr: false, keyboard: isTyped },
        readStdin: async () => stdin ?? "",
      });
      try {
        return { code: await command.run(context), out, err };
      } catch (thrown) {
        const error = toPaiError(thrown);
        return { code: error.code, out, err: `${err}${error.message}\n${error.hint ?? ""}` };
      }
    },
  };
}
