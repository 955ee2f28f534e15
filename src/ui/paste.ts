/** Cuts what a terminal sends into messages: a bracketed paste is one, whatever line feeds it holds. */

const pasteStart = "\x1b[200~";
const pasteEnd = "\x1b[201~";

/** Asks the terminal to mark pastes, and to stop doing so. */
export const pasteOn = "\x1b[?2004h";
export const pasteOff = "\x1b[?2004l";

/** Stands for a line feed inside a message while it is edited on one line. */
export const lineMark = "↵";

/** The message as it was meant. */
export function unmarkLines(text: string): string {
  return text.replaceAll(lineMark, "\n");
}

export interface Typing {
  /** Adds what arrived. */
  readonly push: (chunk: string) => void;
  /** Takes what may go to the editor now: up to and with the Enter that ends the message. */
  readonly take: () => string;
  /** Forgets everything: nothing typed ahead may answer a question. */
  readonly clear: () => void;
}

/** Keeps what is typed or pasted after an Enter for the next message. */
export function openTyping(): Typing {
  let waiting = "";

  /** A paste without marks, its lines joined by `lineMark`; null while its end has not come. */
  function takePaste(): string | null {
    const end = waiting.indexOf(pasteEnd);
    if (end === -1) return null;
    const pasted = waiting.slice(pasteStart.length, end);
    waiting = waiting.slice(end + pasteEnd.length);
    return pasted
      .replace(/\r\n?|\n/g, lineMark)
      .replace(/\t/g, "  ")
      .replace(/[\x00-\x1f\x7f-\x9f]/g, "");
  }

  /** The next key, sequence byte or paste; null while more must come. */
  function takeOne(): string | null {
    if (waiting === "" || isBegun(waiting)) return null;
    if (waiting.startsWith(pasteStart)) return takePaste();
    const typed = /^\x1b[\r\n]/.test(waiting) ? waiting.slice(0, 2) : String.fromCodePoint(waiting.codePointAt(0) ?? 0);
    waiting = waiting.slice(typed.length);
    return typed.startsWith("\x1b") && typed.length === 2 ? lineMark : typed;
  }

  return {
    push(chunk) {
      waiting += chunk;
    },
    take() {
      let taken = "";
      for (let part = takeOne(); part !== null; part = takeOne()) {
        taken += part;
        if (part === "\r" || part === "\n") break;
      }
      return taken;
    },
    clear() {
      waiting = "";
    },
  };
}

/** The first bytes of a paste mark, its rest still to come. A lone ESC is a key. */
function isBegun(text: string): boolean {
  return text.length > 1 && text.length < pasteStart.length && pasteStart.startsWith(text);
}
