/** Handles keys in the message being typed: editing, history, search, completion. Prints nothing. */
import { cutTo, deletions, emptyLine, type InputLine, insert, kills, moves, rowDown, rowUp } from "./edit-line.ts";
import type { Keystroke } from "./keystrokes.ts";

export interface Completion {
  readonly from: number;
  readonly words: readonly string[];
  /** What each word means, in the same order; absent: nothing is said. */
  readonly notes?: readonly string[];
}

/** What the caller must do after a key; "edited": redraw. */
export type EditorAct = "edited" | "submit" | "interrupt" | "end" | "stop" | "complete" | "clear" | "outside" | "beep";

/** A paste of more lines than this is shown as "[41 lines pasted]". */
const maxPastedLines = 10;
const pasteMark = /\[\d+ lines pasted(?:, \d+)?\]/g;

const newLines = new Set(["alt+enter", "shift+enter", "ctrl+enter"]);

function sharedStart(words: readonly string[]): string {
  const [first = "", ...others] = words;
  let length = first.length;
  for (const word of others) while (!word.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}

/** `rows`: whether the message may have several: Alt+Enter, or a backslash before Enter, inserts a line feed. */
export function openEditor(history: readonly string[], rows: boolean, start = "") {
  let line: InputLine = { text: start, at: start.length };
  /** Ctrl+X was pressed; Ctrl+E after it opens the user's editor. */
  let prefixed = false;
  let killed = "";
  let lastKill = false;
  /** Index of the shown message in the history; `history.length`: the draft. */
  let shown = history.length;
  let draft = emptyLine;
  let search: { readonly words: string; readonly at: number; readonly missed: boolean } | null = null;

  const pastes = new Map<string, string>();

  /** The mark of a long text; that of another one gets a number. */
  function fold(text: string): string {
    const lines = text.replace(/\n$/, "").split("\n").length;
    if (lines <= maxPastedLines) return text;
    const known = [...pastes].find(([, each]) => each === text);
    if (known !== undefined) return known[0];
    const plain = `[${lines} lines pasted]`;
    const mark = pastes.has(plain) ? `[${lines} lines pasted, ${pastes.size + 1}]` : plain;
    pastes.set(mark, text);
    return mark;
  }

  const unfold = (text: string): string => text.replace(pasteMark, (mark) => pastes.get(mark) ?? mark);

  function markBefore({ text, at }: InputLine): number | null {
    const mark = [...pastes.keys()].find((each) => text.endsWith(each, at));
    return mark === undefined ? null : at - mark.length;
  }

  const atEnd = (text: string): InputLine => ({ text, at: text.length });

  function put(next: InputLine): EditorAct {
    line = next;
    return "edited";
  }

  function recall(index: number): EditorAct {
    if (index < 0 || index > history.length) return "beep";
    if (shown === history.length) draft = line;
    shown = index;
    return put(index === history.length ? draft : atEnd(history[index] ?? ""));
  }

  function find(words: string, below: number): EditorAct {
    const index = history.findLastIndex((text, at) => at < below && text.toLowerCase().includes(words.toLowerCase()));
    if (index === -1 || words === "") {
      search = { words, at: search?.at ?? history.length, missed: words !== "" };
      return "edited";
    }
    search = { words, at: index, missed: false };
    return recall(index);
  }

  function kill(to: number): void {
    const rest = cutTo(line, to);
    const from = rest.at;
    const gone = line.text.slice(from, from + line.text.length - rest.text.length);
    killed = lastKill ? (to < line.at ? gone + killed : killed + gone) : gone;
    line = rest;
  }

  function enter(): EditorAct {
    if (!rows || line.text[line.at - 1] !== "\\") return "submit";
    return put(insert(cutTo(line, line.at - 1), "\n"));
  }

  const commands: Readonly<Record<string, () => EditorAct>> = {
    enter,
    tab: () => "complete",
    up: () => step(rowUp(line), shown - 1),
    down: () => step(rowDown(line), shown + 1),
    "ctrl+p": () => recall(shown - 1),
    "ctrl+n": () => recall(shown + 1),
    "ctrl+r": () => find("", history.length),
    "ctrl+y": () => put(insert(line, killed)),
    "ctrl+c": () => (line.text === "" ? "interrupt" : reset()),
    "ctrl+d": () => (line.text === "" ? "end" : erase("delete")),
    "ctrl+z": () => "stop",
    "ctrl+l": () => "clear",
  };

  const step = (next: InputLine | null, index: number) => (next === null ? recall(index) : put(next));

  function reset(): EditorAct {
    killed = line.text;
    shown = history.length;
    return put(emptyLine);
  }

  function erase(name: string): EditorAct {
    const to = (name === "delete" ? null : markBefore(line)) ?? deletions[name]?.(line) ?? line.at;
    return put(cutTo(line, to));
  }

  function type(text: string, isPaste = false): EditorAct {
    const shown = isPaste ? fold(text) : text;
    return put(insert(line, rows ? shown : text.replaceAll("\n", " ")));
  }

  function edit({ name, text }: Keystroke): EditorAct {
    if (text !== "") return type(text, name === "paste");
    if (newLines.has(name)) return rows ? type("\n") : "submit";
    const move = moves[name];
    if (move !== undefined) return put({ text: line.text, at: move(line) });
    if (deletions[name] !== undefined) return erase(name);
    const target = kills[name];
    if (target === undefined) return commands[name]?.() ?? "beep";
    kill(target(line));
    return "edited";
  }

  /** Handles a key during a search; null: the search has ended, and the key has its usual meaning. */
  function searchBy({ name, text }: Keystroke): EditorAct | null {
    if (search === null) return null;
    const { words, at } = search;
    if (name === "text") return find(words + text, at + 1);
    if (name === "backspace" || name === "ctrl+h") return find(words.slice(0, -1), history.length);
    if (name === "ctrl+r") return find(words, at);
    search = null;
    if (name !== "escape" && name !== "ctrl+g" && name !== "ctrl+c") return null;
    return recall(history.length);
  }

  function choose(from: number, word: string): void {
    const whole = /\/$|^"[^"]*$/.test(word) ? word : `${word} `;
    line = insert(cutTo(line, from), whole);
  }

  return {
    get line() {
      return line;
    },
    get text() {
      return unfold(line.text);
    },
    /** Text that was typed but not submitted; a message from the history counts once it is changed. */
    get draft() {
      const text = unfold(line.text);
      return text === history[shown] ? unfold(draft.text) : text;
    },
    get search() {
      return search?.words ?? null;
    },
    get missed() {
      return search?.missed ?? false;
    },
    press(key: Keystroke): EditorAct {
      if (key.name === "" || (key.name === "escape" && search === null)) return "beep";
      const isOutside = prefixed && key.name === "ctrl+e" && rows;
      prefixed = key.name === "ctrl+x";
      if (isOutside) return "outside";
      const asked = searchBy(key) ?? edit(key);
      lastKill = kills[key.name] !== undefined;
      return asked;
    },
    /** Completes the word as far as all choices agree. If that adds nothing, returns the choices when there are several. */
    complete({ from, words }: Completion): readonly string[] {
      const typed = line.text.slice(from, line.at);
      const start = sharedStart(words);
      if (words.length === 1) choose(from, start);
      else if (start.length > typed.length && start.startsWith(typed)) line = insert(cutTo(line, from), start);
      else return words;
      return [];
    },
    choose,
  };
}
