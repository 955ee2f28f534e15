/** A terminal as bytes: for the moment at which something is printed, and for one that is closed. */
import { findBinary, type Place } from "./harness.ts";

export interface RawTerminal {
  /** When the text stood in what was printed so far (performance.now()). */
  readonly sees: (text: string | RegExp) => Promise<number>;
  readonly type: (text: string) => void;
  /** Everything printed so far. */
  readonly shown: () => string;
  /** Hangs up. */
  readonly close: () => void;
  /** The exit code of the process. */
  readonly exited: Promise<number>;
}

/** Runs the binary with these words in a terminal of 110 columns. */
export function openRaw(place: Place, words: readonly string[] = [], env: Place["env"] = {}): RawTerminal {
  let shown = "";
  const waiting = new Set<() => void>();
  const child = Bun.spawn([findBinary(), ...words], {
    cwd: place.root,
    env: { ...place.env, TERM: "xterm", ...env },
    terminal: {
      cols: 110,
      rows: 24,
      data(_, bytes) {
        shown += new TextDecoder().decode(bytes);
        for (const look of waiting) look();
      },
    },
  });
  return {
    sees: (text) =>
      new Promise((resolve) => {
        const look = () => {
          if (typeof text === "string" ? !shown.includes(text) : !text.test(shown)) return;
          waiting.delete(look);
          resolve(performance.now());
        };
        waiting.add(look);
        look();
      }),
    shown: () => shown,
    type: (text) => void child.terminal?.write(text),
    close: () => child.terminal?.close(),
    exited: child.exited,
  };
}
