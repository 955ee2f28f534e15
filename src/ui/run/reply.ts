/** A reply as it comes in pieces: streamed to a screen, safe and wrapped at words, or kept until it is wanted. */
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import { openWrap, wrap } from "../layout.ts";
import { type MarkdownOptions, openMarkdown, renderMarkdown, type TextStream } from "../markdown.ts";
import { openVisible, visible } from "../sanitize.ts";

export interface ReplyText {
  /** Whether a streamed reply is unfinished: the cursor may not be at the start of a line. */
  readonly open: boolean;
  /** The last reply that was shown, whole; "" for none. */
  readonly shown: string;
  readonly push: (text: string) => void;
  /** Ends the line of a streamed reply. */
  readonly close: () => void;
  /** Shows what was kept, or `text` in its place; nothing when that is on the screen already. */
  readonly show: (text?: string) => void;
}

export interface ReplyOptions {
  readonly write: (text: string) => void;
  /** Called before a reply begins on the screen. */
  readonly begin: () => void;
  /** Width now; a reply that has begun keeps it. null: nothing is wrapped. */
  readonly columns: () => number | null;
  /** How Markdown is rendered; null: it is shown as it is. */
  readonly markdown: () => MarkdownOptions | null;
  /** Whether pieces are shown as they come; else they are kept until `show`. */
  readonly streams: boolean;
}

/** A whole answer, safe and ending in a line feed. */
export function renderAnswer(text: string, columns: number | null, markdown: MarkdownOptions | null): string {
  const safe = visible(maskSecrets(text)).trimEnd();
  const shown = markdown === null ? wrap(safe, columns).join("\n") : renderMarkdown(safe, markdown).trimEnd();
  return `${shown}\n`;
}

/** The first piece is shown at once, others at most this often: more is not seen, and too much for a slow line. */
const frameMs = 30;
/** Characters that wait for a frame at most: what is drawn at once must be soon done, and a fast reply waits for the screen. */
const mostWaiting = 16_000;

export function openReply({ write, begin, columns, markdown, streams }: ReplyOptions): ReplyText {
  let kept = "";
  let shown = "";
  let current: { readonly safe: (chunk: string) => string; readonly lines: TextStream } | null = null;
  let whole = true;
  /** Text that came since the last frame. */
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
    get open() {
      return current !== null;
    },
    get shown() {
      return shown;
    },
    push(text) {
      if (whole) kept = "";
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
      else if (waiting.length >= mostWaiting) draw();
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
    show(text = kept) {
      if (text.trim() === "" || text === shown) return;
      begin();
      write(renderAnswer(text, columns(), markdown()));
      shown = text;
    },
  };
}
