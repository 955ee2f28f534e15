/** Parses terminal input into keys, in legacy or kitty encoding; a bracketed paste is one key. */

export interface Keystroke {
  /** "text" for characters to insert, "paste", or the name of a key with its modifiers: "enter", "alt+b". */
  readonly name: string;
  readonly text: string;
}

export type Keys = ReturnType<typeof openKeys>;

export const pasteOn = "\x1b[?2004h";
export const pasteOff = "\x1b[?2004l";

/** Makes a kitty-like terminal encode keys that the legacy encoding confuses, or stop doing so. */
export const kittyOn = "\x1b[>1u";
export const kittyOff = "\x1b[<u";

const pasteStart = "\x1b[200~";
const pasteEnd = "\x1b[201~";

const begunSequence = /^\x1b(?:\[(?:\[|[<-?]?[\d;:]*)|O)?$/;
const sequence = /^\x1b(?:\[([<-?]?[\d;:]*)([@-Z\\^-~])|\[\[[A-E]|O([\d;]*)([A-Za-z]))/;

const finals: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  M: "enter",
  Z: "shift+tab",
};

const numbers: Readonly<Record<string, string>> = {
  "1": "home",
  "2": "insert",
  "3": "delete",
  "4": "end",
  "7": "home",
  "8": "end",
};

const controls: Readonly<Record<number, string>> = {
  8: "ctrl+h",
  9: "tab",
  10: "enter",
  13: "enter",
  27: "escape",
  57414: "enter",
  127: "backspace",
};

const named = (name: string): Keystroke => ({ name, text: "" });

/** `modifiers` as terminals send them: 1 plus the sum of shift 1, alt 2, ctrl 4. */
function modified(name: string, modifiers: string | undefined): string {
  const bits = Number(modifiers?.split(":")[0] || 1) - 1;
  const held = [(bits & 4) > 0 && "ctrl", (bits & 2) > 0 && "alt", (bits & 1) > 0 && "shift"].filter(Boolean);
  return [...held, name].join("+");
}

function keyOfCode(code: number, modifiers: string | undefined): Keystroke {
  const control = controls[code];
  if (control !== undefined) return named(modified(control, modifiers));
  const character = code >= 32 && code < 0xe000 ? String.fromCodePoint(code) : "";
  const name = modified(character.toLowerCase(), modifiers);
  if (character === "" || /ctrl|alt/.test(name)) return named(name.replace("shift+", ""));
  return { name: "text", text: character };
}

function keyOfSequence(parameters: string, final: string): Keystroke {
  const [first = "", second, third] = parameters.split(";");
  if (second?.endsWith(":3")) return named("");
  if (final === "u") return keyOfCode(Number.parseInt(first, 10), second);
  if (final === "~" && first === "27") return keyOfCode(Number(third), second);
  const name = final === "~" ? numbers[first] : finals[final];
  return named(name === undefined ? "" : modified(name, second));
}

function keyOfCharacter(character: string): Keystroke {
  const code = character.codePointAt(0) ?? 0;
  const control = controls[code];
  if (control !== undefined) return named(control);
  if (code === 0) return named("ctrl+space");
  if (code < 32) return named(`ctrl+${String.fromCharCode(code + 64).toLowerCase()}`);
  return code >= 0x80 && code < 0xa0 ? named("") : { name: "text", text: character };
}

/** Pasted text with LF line ends; other control characters are kept, since they do nothing here. */
const pasted = (text: string): string => text.replace(/\r\n?/g, "\n");

export function openKeys() {
  let waiting = "";
  let settled = false;

  const take = (length: number): string => {
    const taken = waiting.slice(0, length);
    waiting = waiting.slice(length);
    return taken;
  };

  /** Whether the paste ends with Ctrl+C: its end mark was lost, so without this all further keys would be too. */
  const isStuck = () => waiting.endsWith("\x03");

  function takePaste(): Keystroke | null {
    const end = waiting.indexOf(pasteEnd);
    if (end === -1 && !(settled && isStuck())) return null;
    if (end === -1) return keyOfCharacter(take(waiting.length).slice(-1));
    return { name: "paste", text: pasted(take(end + pasteEnd.length).slice(pasteStart.length, end)) };
  }

  function takeEscape(): Keystroke | null {
    if (waiting.startsWith(pasteStart)) return takePaste();
    const match = sequence.exec(waiting);
    if (match !== null) {
      take(match[0].length);
      return keyOfSequence(match[1] ?? match[3] ?? "", match[2] ?? match[4] ?? "");
    }
    if (begunSequence.test(waiting)) {
      if (!settled) return null;
      take(1);
      return named("escape");
    }
    take(1);
    const { name, text } = keyOfCharacter(take(String.fromCodePoint(waiting.codePointAt(0) ?? 0).length));
    return named(`alt+${name === "text" ? text : name}`);
  }

  function takeText(): Keystroke {
    const text = /^[^\x00-\x1f\x7f-\x9f]+/.exec(waiting)?.[0];
    if (text !== undefined) return { name: "text", text: take(text.length) };
    return keyOfCharacter(take(1));
  }

  return {
    push(chunk: string) {
      waiting += chunk;
      settled = false;
    },
    next() {
      if (waiting === "") return null;
      return waiting.startsWith("\x1b") ? takeEscape() : takeText();
    },
    /** An incomplete sequence is waiting; if nothing follows, it is an Escape and some letters. */
    get begun() {
      return waiting !== "" && (!waiting.startsWith(pasteStart) || isStuck());
    },
    /** Call it when nothing follows: treats the incomplete sequence as single keys. */
    settle() {
      settled = true;
    },
    clear() {
      waiting = "";
    },
  };
}
