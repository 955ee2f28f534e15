/** Answers in Markdown as a terminal shows them, while they arrive: plain words at once, marked ones when they are whole. */
import type { Highlight } from "./highlight.ts";
import { openWrap, wrap } from "./layout.ts";
import { visible } from "./sanitize.ts";
import type { Style } from "./style.ts";

export interface TextStream {
  /** Text that can be shown by now. */
  readonly push: (chunk: string) => string;
  /** What was held back. */
  readonly end: () => string;
}

export interface MarkdownOptions {
  readonly columns: number;
  readonly style: Style;
  /** Asked when there is code; null: no colours for it, or not yet. */
  readonly highlight: () => Highlight | null;
}

const fence = /^\s*(`{3,}|~{3,})\s*(\S*)/;
/** A line that begins a list, heading, quote, table, rule: shown when all of it is there. */
const blockStart = /^\s*(?:[#>|]|[*+-]\s|\d{1,9}[.)]\s|[-*_=]{3,}\s*$)/;
/** Enough of a line to know that it is none of these. */
const surelyPlain = /^\s*(?:[^\s#>|*+\-\d_=`~]|\d+[^\d.)])/;
const marked = /[*_`[<\\~&]|https?:|www\./;
const tooWideToWrap = 1_000_000;
const sgr = "(?:\\x1b\\[[\\d;]*m)*";
/** A bare address is named twice. */
const twice = new RegExp(`(https?:[^\\s\\x1b()]+)(${sgr}) \\(\\1${sgr}\\)`, "g");

/** Bun's rendering; null where it would decode what must stay spelled out. */
function render(text: string, columns: number, style: Style): string | null {
  if (text.includes("&#")) return null;
  const colors = style.color && style.glyphs.bar === "│";
  const shown = Bun.markdown.ansi(text, { columns, colors, hyperlinks: false }).replace(twice, "$1$2");
  const bare = shown.replace(new RegExp(sgr, "g"), "");
  return bare.includes("\x1b") || visible(bare) !== bare ? null : shown.replace(/\s+$/, "");
}

/** What stands inside one line. */
function renderInline(text: string, style: Style): string {
  if (!marked.test(text)) return text;
  const shown = render(`x ${text}`, tooWideToWrap, style);
  return shown?.startsWith("x ") ? shown.slice(2) : text;
}

function renderCode(code: string, language: string, { style, highlight }: MarkdownOptions): string {
  const lines = (style.color ? highlight()?.(code, language) : null) ?? code.split("\n");
  return lines.map((line) => `  ${line}`.trimEnd()).join("\n");
}

/** `push` takes text that is safe to show (see `visible`). Single line feeds stay what they are. */
export function openMarkdown(options: MarkdownOptions): TextStream {
  const { columns, style } = options;
  let line = "";
  /** How much of `line` is shown already; the rest waits when something in it is marked. */
  let shown = 0;
  let waits = false;
  let words = openWrap(columns);
  let held: string[] = [];
  let code: { readonly close: string; readonly language: string } | null = null;

  function endBlock(): string {
    const text = held.join("\n");
    held = [];
    if (text === "") return "";
    const block = code === null ? render(text, columns, style) : renderCode(text, code.language, options);
    return `${block ?? wrap(text, columns).join("\n")}\n`;
  }

  function endLine(): string {
    const text = line;
    const rest = text.slice(shown);
    const begun = shown > 0;
    [line, shown, waits] = ["", 0, false];
    if (begun) return endWords(rest);
    if (code !== null) return endCodeLine(text);
    const opening = fence.exec(text);
    if (opening !== null) {
      const before = endBlock();
      code = { close: opening[1] ?? "", language: opening[2] ?? "" };
      return before;
    }
    if (text.trim() === "") return `${endBlock()}\n`;
    if (held.length === 0 && !blockStart.test(text)) return endWords(text);
    held.push(text);
    return "";
  }

  function endWords(rest: string): string {
    const last = words.push(renderInline(rest, style)) + words.end();
    words = openWrap(columns);
    return `${last}\n`;
  }

  function endCodeLine(text: string): string {
    if (!text.trim().startsWith(code?.close ?? "")) {
      held.push(text);
      return "";
    }
    const block = endBlock();
    code = null;
    return block;
  }

  /** The words of an unfinished line that nothing can change any more. */
  function showBegun(): string {
    if (waits || code !== null || held.length > 0 || (shown === 0 && !surelyPlain.test(line))) return "";
    const rest = line.slice(shown);
    const at = rest.search(marked);
    // An address is known by its colon only: the last word stays until it is over.
    const end = at === -1 ? rest.lastIndexOf(" ") + 1 : at;
    waits = at !== -1;
    shown += end;
    return words.push(rest.slice(0, end));
  }

  return {
    push(chunk) {
      let ready = "";
      for (const piece of chunk.split(/(?<=\n)/)) {
        line += piece.replace(/\n$/, "");
        ready += piece.endsWith("\n") ? endLine() : showBegun();
      }
      return ready;
    },
    end() {
      const last = line === "" ? "" : endLine();
      return last + endBlock();
    },
  };
}

/** A whole text. */
export function renderMarkdown(text: string, options: MarkdownOptions): string {
  const stream = openMarkdown(options);
  return stream.push(text) + stream.end();
}
