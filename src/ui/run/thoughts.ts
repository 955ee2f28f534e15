/** Shows with -v what a model tells of its thoughts, line by line as it comes. */
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import { visible } from "../sanitize.ts";

export interface Thoughts {
  readonly push: (text: string) => void;
  /** Shows the last line, which no line feed ended. */
  readonly end: () => void;
}

/** `show` gets one line without its line feed; blank ones are left out. */
export function openThoughts(show: (line: string) => void): Thoughts {
  let begun = "";
  const showAll = (lines: readonly string[]) => {
    for (const line of lines) if (line.trim() !== "") show(`thinking: ${visible(maskSecrets(line)).trimEnd()}`);
  };
  return {
    push(text) {
      const lines = (begun + text).split("\n");
      begun = lines.pop() ?? "";
      showAll(lines);
    },
    end() {
      const last = begun;
      begun = "";
      showAll([last]);
    },
  };
}
