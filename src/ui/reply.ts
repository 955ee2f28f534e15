/** A reply while it streams: safe, wrapped at words, and always closed by a line feed. */
import { openWrap } from "./layout.ts";
import { openVisible } from "./sanitize.ts";

export interface ReplyStream {
  /** In the middle of a reply: the cursor may not stand at the start of a line. */
  readonly open: boolean;
  /** The reply as it was streamed last, whole; "" before any. */
  readonly streamed: string;
  readonly push: (text: string) => void;
  readonly close: () => void;
  readonly reset: () => void;
}

export function openReply(write: (text: string) => void, columns: number | null): ReplyStream {
  let streamed = "";
  let current: { readonly safe: (chunk: string) => string; readonly lines: ReturnType<typeof openWrap> } | null = null;
  return {
    get open() {
      return current !== null;
    },
    get streamed() {
      return streamed;
    },
    push(text) {
      if (current === null) {
        current = { safe: openVisible(), lines: openWrap(columns) };
        streamed = "";
      }
      streamed += text;
      write(current.lines.push(current.safe(text)));
    },
    close() {
      if (current === null) return;
      write(current.lines.end().trimEnd());
      write("\n");
      current = null;
    },
    reset() {
      streamed = "";
    },
  };
}
