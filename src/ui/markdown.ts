/** Renders streamed Markdown for a terminal: plain words at once, marked ones when they are complete. */
import type { Highlight, Paint } from "./highlight.ts";
import { openWrap, wrap } from "./layout.ts";
import { visible } from "./sanitize.ts";
import type { Style } from "./style.ts";

export type TextStream = ReturnType<typeof openMarkdown>;

export interface MarkdownOptions {
  readonly columns: number;
  readonly style: Style;
  readonly highlight: () => Highlight | null;
}

const fence = /^\s*(`{3,}|~{3,})\s*(\S*)/;
/** A list item, heading, quote, table or rule, which is shown only when it is complete. */
const blockStart = /^\s*(?:[#>|]|[*+-]\s|\d{1,9}[.)]\s|[-*_=]{3,}\s*$)/;
const surelyPlain = /^\s*(?:[^\s#>|*+\-\d_=`~]|\d+[^\d.)])/;
const marked = /[*_`[<\\~&]|https?:|www\./;
const listItem = /^(\s*)(?:[*+-]|\d{1,9}[.)])\s/;
const tooWideToWrap = 1_000_000;
const maxColored = 100_000;
const sgr = "(?:\\x1b\\[[\\d;]*m)*";
/** Bun shows a bare address twice. */
const twice = new RegExp(`(https?:[^\\s\\x1b()]+)(${sgr}) \\(\\1${sgr}\\)`, "g");
const looks = /\x1b\[[\d;]*m/g;

/** Code, addresses, and one word in double underscores, which is a name as `__init__` and not bold. */
const verbatim = /(`{1,3})[^`]{0,1000}?\1|https?:\S+|\]\([^\s)]{0,1000}\)|__\w{1,100}?__/g;
const keepNames = (text: string): string =>
  text.replace(verbatim, (each) => (each.startsWith("_") ? each.replaceAll("_", "\\_") : each));

/** Bun's rendering; null if it would decode escaped characters. */
function render(source: string, columns: number, style: Style): string | null {
  if (source.includes("&#")) return null;
  const text = keepNames(source);
  const colors = style.color && style.glyphs.bar === "│";
  const shown = Bun.markdown.ansi(text, { columns, colors, hyperlinks: false }).replace(twice, "$1$2");
  const bare = shown.replace(looks, "");
  return bare.includes("\x1b") || visible(bare) !== bare ? null : shown.trimEnd();
}

export function renderInline(text: string, style: Style): string {
  if (!marked.test(text)) return text;
  const shown = render(`x ${text}`, tooWideToWrap, style);
  return shown?.startsWith("x ") ? shown.slice(2) : text;
}

/** `push` takes text that is safe to show (see `visible`). Single line feeds are kept. */
export function openMarkdown({ columns, style, highlight }: MarkdownOptions) {
  let line = "";
  /** Length of the shown part of `line`; the rest waits if it contains a mark. */
  let shown = 0;
  let waits = false;
  let words = openWrap(columns);
  let held: string[] = [];
  let code: { readonly close: string; readonly paint: Paint | null } | null = null;
  let colored = 0;
  const paintOf = (language: string) => (style.color && highlight()?.(language)) || null;

  function endBlock(): string {
    const text = held.join("\n");
    held = [];
    return text === "" ? "" : `${render(text, columns, style) ?? wrap(text, columns).join("\n")}\n`;
  }

  function endLine(): string {
    const text = line;
    const rest = text.slice(shown);
    const begun = shown > 0;
    line = "";
    shown = 0;
    waits = false;
    if (begun) return endWords(rest);
    if (code !== null) return endCodeLine(text);
    const opening = fence.exec(text);
    if (opening === null) return endMarkedLine(text);
    code = { close: opening[1] ?? "", paint: paintOf(opening[2] ?? "") };
    return endBlock();
  }

  function endMarkedLine(text: string): string {
    if (text.trim() === "") return `${endBlock()}\n`;
    if (held.length === 0 && !blockStart.test(text)) return endWords(text);
    const before = isNextItem(text) ? endBlock() : "";
    held.push(text);
    return before;
  }

  function isNextItem(text: string): boolean {
    const last = listItem.exec(held[0] ?? "")?.[1];
    const next = listItem.exec(text)?.[1];
    return last !== undefined && next !== undefined && next.length <= last.length;
  }

  function endWords(rest: string): string {
    const last = words.push(renderInline(rest, style)) + words.end();
    words = openWrap(columns);
    return `${last}\n`;
  }

  function endCodeLine(text: string): string {
    if (code === null || text.trim().startsWith(code.close)) {
      code = null;
      return "";
    }
    colored += text.length;
    const painted = colored > maxColored ? text : (code.paint?.(`${text}\n`) ?? text);
    return `${`  ${painted}`.trimEnd()}\n`;
  }

  /** Shows the words of an unfinished line that cannot change any more. */
  function showBegun(): string {
    if (waits || code !== null || held.length > 0 || (shown === 0 && !surelyPlain.test(line))) return "";
    const rest = line.slice(shown);
    const at = rest.search(marked);
    // An address is recognised only by its colon, so the last word waits until it is complete.
    const end = at === -1 ? rest.lastIndexOf(" ") + 1 : at;
    waits = at !== -1;
    shown += end;
    return words.push(rest.slice(0, end));
  }

  return {
    push(chunk: string) {
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

export function renderMarkdown(text: string, options: MarkdownOptions): string {
  const stream = openMarkdown(options);
  return stream.push(text) + stream.end();
}
