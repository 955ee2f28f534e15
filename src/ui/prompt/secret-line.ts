/** Reads a hidden line: characters, backspace, Ctrl+U, Enter, Ctrl+C, Ctrl+D, Escape. */
import { PaiError } from "../../core/error.ts";
import type { Reader, Settle } from "./raw-input.ts";

export function openSecretLine({ done, fail }: Settle<string | null>): Reader {
  let text = "";
  const keys: Readonly<Record<string, () => void>> = {
    enter: () => done(text),
    "ctrl+d": () => done(text === "" ? null : text),
    escape: () => done(null),
    "ctrl+c": () => fail(new PaiError("interrupted", "interrupted at a question")),
    "ctrl+u"() {
      text = "";
    },
    backspace() {
      text = Array.from(text).slice(0, -1).join("");
    },
  };
  return {
    press(key) {
      if (key.text !== "") text += key.text.trim();
      else keys[key.name]?.();
    },
    resume() {},
    resize() {},
    cut() {},
  };
}
