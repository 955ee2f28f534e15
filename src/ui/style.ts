/** Five meanings as colour and symbol, and the choice of what a terminal can show. */
import type { Colors } from "picocolors/types";
import { atFirstUse } from "../core/at-first-use.ts";

export type Meaning = "ok" | "change" | "warn" | "error" | "dim";

export interface Style {
  readonly color: boolean;
  /** Simple lines for pipes, dumb terminals and screen readers: no rules and no wrapped columns. */
  readonly plain: boolean;
  readonly glyphs: Glyphs;
  /** Colours an uncoloured text; the symbol of the meaning is in `glyphs`. */
  readonly paint: (meaning: Meaning, text: string) => string;
}

export type Glyphs = Readonly<Record<Meaning | "bar" | "rule" | "arrow" | "more" | "dot", string>> & {
  readonly spinner: readonly string[];
};

const unicodeGlyphs: Glyphs = {
  ok: "✓",
  change: "●",
  warn: "!",
  error: "✗",
  dim: "·",
  bar: "│",
  rule: "─",
  arrow: "→",
  more: "…",
  dot: "·",
  spinner: ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
};

/** For terminals without UTF-8. Marks are two characters wide, so that lines stay aligned. */
const asciiGlyphs: Glyphs = {
  ok: "ok",
  change: "* ",
  warn: "! ",
  error: "x ",
  dim: "- ",
  bar: "|",
  rule: "-",
  arrow: "->",
  more: "...",
  dot: "-",
  spinner: ["|", "/", "-", "\\"],
};

/** For screen readers: no bar before lines, which would be read aloud. */
const plainGlyphs: Glyphs = { ...asciiGlyphs, bar: " " };

/** Always on, as a style decides on their use. Loaded late: picocolors asks for the terminal, which makes streams. */
const colors = atFirstUse((): Colors => require("picocolors").createColors(true));

const colorOf = { ok: "green", change: "cyan", warn: "yellow", error: "red", dim: "dim" } as const;

export const paintCode = (colour: CodeColour, text: string): string => colors()[colour](text);
export type CodeColour = "magenta" | "yellow" | "cyan" | "dim" | "blue" | "green" | "red";

/** Codes that Bun's Markdown uses for code and quotes: two of the 256 colours, and a background. */
const markdownCodes = ["38;5;215", "38;5;242", "48;5;236"];

/** Every code that pai itself writes. Any other escape sequence came from outside. */
export const ownCodes: ReadonlySet<string> = new Set(
  [0, 1, 2, 3, 4, 7, 9, 22, 23, 24, 27, 29, 31, 32, 33, 34, 35, 36, 37, 39, 49, ...markdownCodes].map(
    (code) => `\x1b[${code}m`,
  ),
);

export interface StyleChoice {
  readonly tty: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly plain: boolean;
}

function isColored({ tty, env, plain }: StyleChoice): boolean {
  if (plain || env["NO_COLOR"]) return false;
  const forced = env["FORCE_COLOR"];
  if (forced) return forced !== "0" && forced !== "false";
  return tty && !isDumb(env);
}

const isDumb = (env: StyleChoice["env"]): boolean => !env["TERM"] || env["TERM"] === "dumb";

function isUtf8(env: StyleChoice["env"]): boolean {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "UTF-8";
  return /utf-?8/i.test(locale);
}

/** Chooses the style of one stream: flags win over the environment, the environment over the kind of stream. */
export function chooseStyle(choice: StyleChoice): Style {
  const plain = choice.plain || !choice.tty || isDumb(choice.env);
  const color = isColored(choice);
  return {
    color,
    plain,
    glyphs: plain ? plainGlyphs : isUtf8(choice.env) ? unicodeGlyphs : asciiGlyphs,
    paint(meaning, text) {
      return !color || text === "" ? text : colors()[colorOf[meaning]](text);
    },
  };
}

export const mark = (style: Style, meaning: Meaning): string => style.paint(meaning, style.glyphs[meaning]);

export function invertColors(style: Style, meaning: Meaning, text: string): string {
  if (!style.color || text === "") return text;
  const { inverse, [colorOf[meaning]]: paint } = colors();
  return inverse(paint(text));
}
