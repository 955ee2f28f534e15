/** Notices, warnings and errors outside a run's own output, through consola to standard error. */
import type { ConsolaInstance, LogObject } from "consola/core";
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

interface Said {
  readonly code: string;
  readonly text: string;
  readonly error?: PaiError;
}

type Line = LogObject & { readonly args: readonly Said[] };

function noticeOf({ type, args: [said] }: Line): Notice | null {
  if (said === undefined || (type !== "warn" && type !== "info")) return null;
  return { level: type === "warn" ? "warning" : "info", code: said.code, text: said.text };
}

function renderLine({ type, args: [said] }: Line, columns: number | null): string {
  if (said?.error !== undefined) return renderError(said.error, columns);
  return `${wrap(`${type === "warn" ? "warning: " : ""}${visible(said?.text ?? "")}`, columns).join("\n")}\n`;
}

export function createLog({ err, level, columns, record }: LogOptions) {
  const write = (line: Line): void => {
    const notice = record === undefined ? null : noticeOf(line);
    if (notice !== null) record?.(notice);
    if (line.level <= levels[level]) err(renderLine(line, columns()));
  };
  let opened: ConsolaInstance | null = null;
  /** Loaded by the first line: most runs log nothing. */
  const open = (): ConsolaInstance => {
    const { createConsola }: typeof import("consola/core") = require("consola/core");
    return createConsola({
      level: record === undefined ? levels[level] : levels.verbose,
      // consola would print throttled repetitions later, after other lines.
      throttle: 0,
      reporters: [{ log: (line) => write(line as Line) }],
    });
  };
  const say = (kind: "warn" | "info" | "error", said: Said) => {
    opened ??= open();
    opened[kind](said);
  };
  return {
    notify: ({ level: meant, code, text }: Pick<Notice, "level" | "code" | "text">) =>
      say(meant === "warning" ? "warn" : "info", { code, text: maskSecrets(text) }),
    fail: (error: PaiError) => say("error", { code: error.code, text: error.message, error }),
  };
}
