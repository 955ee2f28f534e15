/** What pai says outside the lines of a run: notices, warnings and errors, through consola to standard error. */
import type { ConsolaInstance, LogObject } from "consola/core";
import type { PaiError } from "../core/error.ts";
import type { Notice } from "../core/question.ts";
import { maskSecrets } from "../core/secrets/key-shapes.ts";
import { hang, wrap } from "./layout.ts";
import { visible } from "./sanitize.ts";

export interface Log {
  /** A notice or a warning; silent with --quiet. */
  readonly notify: (notice: Pick<Notice, "level" | "code" | "text">) => void;
  readonly fail: (error: PaiError) => void;
  /** For debugging: shown with --debug only. */
  readonly trace: (code: string, text: string) => void;
}

export interface LogOptions {
  readonly err: (text: string) => void;
  readonly level: "quiet" | "usual" | "verbose" | "debug";
  /** null: not a terminal, nothing is wrapped. */
  readonly columns: () => number | null;
  /**
   * Also receives every notice and warning, whatever the log level, for programs that read them (`--json`, `--jsonl`).
   */
  readonly record?: (notice: Notice) => void;
}

/** consola's levels: 0 errors, 3 information, 4 debugging, 5 everything. */
const levels = { quiet: 0, usual: 3, verbose: 4, debug: 5 } as const;

/** An error for people: what, why, what to do. Ends in a line feed. */
export function renderError({ code, message, hint }: PaiError, columns: number | null): string {
  const title = code === "internal" ? "internal error, please report it: " : "";
  const shown = (text: string) => visible(maskSecrets(text));
  const lines = [
    ...wrap(`pai: ${shown(title + message)}`, columns),
    ...(hint === null ? [] : hang("  ", shown(hint), columns)),
  ];
  return `${lines.join("\n")}\n`;
}

/** The parts of every line; an error carries the error itself. */
interface Said {
  readonly code: string;
  readonly text: string;
  readonly error?: PaiError;
}

type Line = LogObject & { readonly args: readonly Said[] };

/** A line as a notice; null: it is an error, or for debugging. */
function noticeOf({ type, args: [said] }: Line): Notice | null {
  if (said === undefined || (type !== "warn" && type !== "info")) return null;
  return { level: type === "warn" ? "warning" : "info", code: said.code, text: said.text };
}

function renderLine({ type, args: [said] }: Line, columns: number | null): string {
  if (said?.error !== undefined) return renderError(said.error, columns);
  return `${wrap(`${type === "warn" ? "warning: " : ""}${visible(said?.text ?? "")}`, columns).join("\n")}\n`;
}

export function createLog({ err, level, columns, record }: LogOptions): Log {
  const write = (line: Line): void => {
    const notice = record === undefined ? null : noticeOf(line);
    if (notice !== null) record?.(notice);
    if (line.level <= levels[level]) err(renderLine(line, columns()));
  };
  let opened: ConsolaInstance | null = null;
  /** Loaded by the first thing to say: most runs have nothing to say beside their own lines. */
  const open = (): ConsolaInstance => {
    const { createConsola }: typeof import("consola/core") = require("consola/core");
    return createConsola({
      level: record === undefined ? levels[level] : levels.debug,
      // Throttled repetitions would come after the lines they belong to.
      throttle: 0,
      reporters: [{ log: (line) => write(line as Line) }],
    });
  };
  const say = (kind: "warn" | "info" | "error" | "trace", said: Said) => {
    opened ??= open();
    opened[kind](said);
  };
  return {
    notify: ({ level: meant, code, text }) => say(meant === "warning" ? "warn" : "info", { code, text }),
    fail: (error) => say("error", { code: error.code, text: error.message, error }),
    trace: (code, text) => say("trace", { code, text }),
  };
}
