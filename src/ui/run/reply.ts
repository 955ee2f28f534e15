/** Shows a reply that arrives in pieces: streams it, sanitised and wrapped, or keeps it until it is wanted. */
import { openWrap, wrap } from "../layout.ts";
import { type MarkdownOptions, openMarkdown, renderMarkdown, type TextStream } from "../markdown.ts";
import { openVisible, visible } from "../sanitize.ts";

export type ReplyText = ReturnType<typeof openReply>;

/** Renders a whole answer, sanitised and ending in a line feed. */
export function renderAnswer(text: string, columns: number | null, markdown: MarkdownOptions | null): string {
  const safe = visible(text).trimEnd();
  const shown = markdown === null ? wrap(safe, columns).join("\n") : renderMarkdown(safe, markdown).trimEnd();
  return `${shown}\n`;
}

/** Where a sentence or a line ends: the last character follows it. */
const sentenceEnd = /(?:\n|[.!?…:]\W*\s|[。！？].)$/s;

/** What of a text is not on the screen yet, where `shown` is: its end behind a whole sentence, all of it, or "". */
export function restOf(text: string, shown: string): string {
  const [whole, seen] = [text.trim(), shown.trim()];
  if (seen === "" || seen.endsWith(whole)) return seen === "" ? whole : "";
  const isBegun = whole.startsWith(seen) && sentenceEnd.test(whole.slice(0, seen.length + 1));
  return isBegun ? whole.slice(seen.length).trimStart() : whole;
}

/** The first piece is shown at once, later ones at this interval: faster is not seen, and too much for a slow line. */
const frameMs = 30;
/** Characters that may wait for a frame; a faster reply waits for the screen, so that no drawing takes long. */
const maxWaiting = 16_000;

interface ReplyOptions {
  readonly write: (text: string) => void;
  readonly begin: () => void;
  /** A reply that has begun keeps its width. null: no wrapping. */
  readonly columns: () => number | null;
  /** null: Markdown stays as it is. */
  readonly markdown: () => MarkdownOptions | null;
  /** Whether pieces are shown at once; otherwise they are kept until `show`. */
  readonly streams: boolean;
}

export function openReply({ write, begin, columns, markdown, streams }: ReplyOptions) {
  let kept = "";
  let shown = "";
  let current: { readonly safe: (chunk: string) => string; readonly lines: TextStream } | null = null;
  let whole = true;
  /** Number of the call whose reply it is. */
  let call = 0;
  let waiting = "";
  let frame: ReturnType<typeof setTimeout> | null = null;

  function draw(): void {
    const text = waiting;
    waiting = "";
    if (text !== "") write(current?.lines.push(current.safe(text)) ?? "");
  }

  function tick(): void {
    frame = waiting === "" ? null : setTimeout(tick, frameMs);
    draw();
  }

  return {
    /** Whether a streamed reply is unfinished, so that the cursor may be within a line. */
    get open() {
      return current !== null;
    },
    get shown() {
      return shown;
    },
    /** The words of call number `n` alone. */
    push(text: string, n: number) {
      if (whole || n !== call) kept = "";
      call = n;
      whole = false;
      kept += text;
      if (!streams) return;
      if (current === null) {
        begin();
        const rendered = markdown();
        current = { safe: openVisible(), lines: rendered === null ? openWrap(columns()) : openMarkdown(rendered) };
      }
      shown = kept;
      waiting += text;
      if (frame === null) tick();
      else if (waiting.length >= maxWaiting) draw();
    },
    close() {
      whole = true;
      if (current === null) return;
      draw();
      if (frame !== null) clearTimeout(frame);
      frame = null;
      write(`${current.lines.end().trimEnd()}\n`);
      current = null;
    },
    /** Shows the kept reply, or `text` instead; nothing if that is already on the screen. */
    show(text = kept) {
      kept = text;
      const rest = restOf(text, shown);
      if (rest === "") return;
      begin();
      write(renderAnswer(rest, columns(), markdown()));
      shown = text;
    },
  };
}
