/** Five meanings as colour and symbol, and the choice of what this terminal can show (R30-R32). */

export type Meaning = "ok" | "change" | "warn" | "error" | "dim";

export interface Style {
  readonly color: boolean;
  /** Lines for pipes, dumb terminals and screen readers: no rules, no columns that wrap. */
  readonly plain: boolean;
  readonly glyphs: Glyphs;
  /** Colours the text; the symbol of the meaning is in `glyphs`. Already coloured text must not be passed. */
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

const colors: Readonly<Record<Meaning, readonly [on: string, off: string]>> = {
  ok: ["\x1b[32m", "\x1b[39m"],
  change: ["\x1b[36m", "\x1b[39m"],
  warn: ["\x1b[33m", "\x1b[39m"],
  error: ["\x1b[31m", "\x1b[39m"],
  dim: ["\x1b[2m", "\x1b[22m"],
};

/** The parts of code that have colours. */
export type Code = "keyword" | "string" | "number" | "comment" | "name";

export const codeColors: Readonly<Record<Code, readonly [on: string, off: string]>> = {
  keyword: ["\x1b[35m", "\x1b[39m"],
  string: ["\x1b[33m", "\x1b[39m"],
  number: ["\x1b[36m", "\x1b[39m"],
  comment: ["\x1b[2m", "\x1b[22m"],
  name: ["\x1b[34m", "\x1b[39m"],
};

export interface StyleChoice {
  /** Whether the stream this style is for is a terminal. */
  readonly tty: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: { readonly noColor: boolean; readonly plain: boolean };
}

function isColored({ tty, env, flags }: StyleChoice): boolean {
  if (flags.noColor || flags.plain || env["NO_COLOR"]) return false;
  const forced = env["FORCE_COLOR"];
  if (forced) return forced !== "0" && forced !== "false";
  if ((env["CLICOLOR_FORCE"] || "0") !== "0") return true;
  return tty && !isDumb(env) && env["CLICOLOR"] !== "0";
}

const isDumb = (env: StyleChoice["env"]): boolean => !env["TERM"] || env["TERM"] === "dumb";

function isUtf8(env: StyleChoice["env"]): boolean {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "UTF-8";
  return /utf-?8/i.test(locale);
}

/** What to show on one stream: flags win over the environment, the environment over what the stream is. */
export function chooseStyle(choice: StyleChoice): Style {
  const plain = choice.flags.plain || !choice.tty || isDumb(choice.env);
  const color = isColored(choice);
  return {
    color,
    plain,
    glyphs: plain ? plainGlyphs : isUtf8(choice.env) ? unicodeGlyphs : asciiGlyphs,
    paint(meaning, text) {
      if (!color || text === "") return text;
      const [on, off] = colors[meaning];
      return `${on}${text}${off}`;
    },
  };
}

/** The symbol of a meaning in its colour. */
export function mark(style: Style, meaning: Meaning): string {
  return style.paint(meaning, style.glyphs[meaning]);
}

/** The text on the colour of a meaning: stands out from every colour beside it. */
export function invert(style: Style, meaning: Meaning, text: string): string {
  if (!style.color || text === "") return text;
  const [on, off] = colors[meaning];
  return `\x1b[7m${on}${text}${off}\x1b[27m`;
}
