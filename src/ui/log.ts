/** Notices, warnings and errors outside a run's own output, through consola to standard error. */
import type { ConsolaInstance } from "consola/core";
import type { PaiError } from "../core/error.ts";
import type { Notice } from "../core/question.ts";
import { maskSecrets } from "../core/secrets/key-shapes.ts";
import { hang, wrap } from "./layout.ts";
import { visible } from "./sanitize.ts";

export type Log = ReturnType<typeof createLog>;

export interface LogOptions {
  readonly err: (text: string) => void;
  readonly level: "quiet" | "usual" | "verbose";
  readonly columns: () => number | null;
  /** Also receives every notice and warning, at any log level, for `--json` and `--jsonl`. */
  readonly record?: (notice: Notice) => void;
}

const levels = { quiet: 0, usual: 3, verbose: 4 } as const;

/** Renders an error for people: what failed, why, and what to do. Ends in a line feed. */
export function renderError({ code, message, hint }: PaiError, columns: number | null): string {
  const title = code === "internal" ? "internal error, please report it: " : "";
  const shown = (text: string) => visible(maskSecrets(text));
  const lines = [
    ...wrap(`pai: ${shown(title + message)}`, columns),
    ...(hint === null ? [] : hang("  ", shown(hint), columns)),
  ];
  return `${lines.join("\n")}\n`;
}

function renderLine(type: string, said: string | PaiError, columns: number | null): string {
  if (typeof said !== "string") return renderError(said, columns);
  return `${wrap(`${type === "warn" ? "warning: " : ""}${visible(said)}`, columns).join("\n")}\n`;
}

export function createLog({ err, level, columns, record }: LogOptions) {
  let opened: ConsolaInstance | null = null;
  /** Loaded by the first line: most runs log nothing. */
  const open = (): ConsolaInstance => {
    const { createConsola }: typeof import("consola/core") = require("consola/core");
    return createConsola({
      level: levels[level],
      // consola would print throttled repetitions later, after other lines.
      throttle: 0,
      reporters: [{ log: ({ type, args: [said] }) => err(renderLine(type, said, columns())) }],
    });
  };
  const say = (kind: "warn" | "info" | "error", said: string | PaiError) => {
    opened ??= open();
    opened[kind](said);
  };
  return {
    notify({ level: meant, code, text: given }: Pick<Notice, "level" | "code" | "text">) {
      const text = maskSecrets(given);
      record?.({ level: meant, code, text });
      say(meant === "warning" ? "warn" : "info", text);
    },
    fail: (error: PaiError) => say("error", error),
  };
}
