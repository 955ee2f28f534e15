/** The text being typed and its cursor: each editing step as a pure function, by graphemes and words. */

export interface InputLine {
  readonly text: string;
  /** Cursor: an index into `text`, never within a grapheme. */
  readonly at: number;
}

export const emptyLine: InputLine = { text: "", at: 0 };

/** Code units searched for a grapheme; none is longer. */
const reach = 64;
const word = "[\\p{L}\\p{M}\\p{N}_]";
const ofWord = new RegExp(`^${word}$`, "u");
const noWord = new RegExp(`^(?!${word})`, "u");
const wordAfter = new RegExp(`^[^\\p{L}\\p{M}\\p{N}_]*${word}*`, "u");

export function segments(text: string): Iterable<{ readonly segment: string }> {
  return new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text);
}

const before = ({ text, at }: InputLine): string => text.slice(0, at);
const after = ({ text, at }: InputLine): string => text.slice(at);

function left(line: InputLine): number {
  const last = [...segments(before(line).slice(-reach))].at(-1)?.segment ?? "";
  return line.at - last.length;
}

function right(line: InputLine): number {
  const [first] = segments(after(line).slice(0, reach));
  return line.at + (first?.segment.length ?? 0);
}

/** Start of the run of characters of this kind that ends at `end`. */
function startOf(kind: RegExp, text: string, end: number): number {
  let at = end;
  while (at > 0) {
    const [last = ""] = /.$/su.exec(text.slice(Math.max(0, at - 2), at)) ?? [];
    if (!kind.test(last)) break;
    at -= last.length;
  }
  return at;
}

const wordLeft = ({ text, at }: InputLine): number => startOf(ofWord, text, startOf(noWord, text, at));
const wordRight = (line: InputLine): number => line.at + (wordAfter.exec(after(line))?.[0].length ?? 0);
const blankLeft = ({ text, at }: InputLine): number => startOf(/\S/, text, startOf(/\s/, text, at));
const rowStart = (line: InputLine): number => before(line).lastIndexOf("\n") + 1;

function rowEnd(line: InputLine): number {
  const end = line.text.indexOf("\n", line.at);
  return end === -1 ? line.text.length : end;
}

/** End of the row; if the cursor is there already, one grapheme further. */
const killEnd = (line: InputLine): number => Math.min(line.text.length, Math.max(rowEnd(line), right(line)));

export function insert(line: InputLine, text: string): InputLine {
  return { text: before(line) + text + after(line), at: line.at + text.length };
}

export function cutTo(line: InputLine, to: number): InputLine {
  const [from, end] = to < line.at ? [to, line.at] : [line.at, to];
  return { text: line.text.slice(0, from) + line.text.slice(end), at: from };
}

type Target = (line: InputLine) => number;

export const moves: Readonly<Record<string, Target>> = {
  left,
  "ctrl+b": left,
  right,
  "ctrl+f": right,
  "ctrl+left": wordLeft,
  "alt+left": wordLeft,
  "alt+b": wordLeft,
  "ctrl+right": wordRight,
  "alt+right": wordRight,
  "alt+f": wordRight,
  home: rowStart,
  "ctrl+a": rowStart,
  end: rowEnd,
  "ctrl+e": rowEnd,
};

export const deletions: Readonly<Record<string, Target>> = {
  backspace: left,
  "shift+backspace": left,
  "ctrl+h": left,
  delete: right,
};

/** Keys that delete up to a position and save the text for yanking. */
export const kills: Readonly<Record<string, Target>> = {
  "ctrl+k": killEnd,
  "ctrl+u": rowStart,
  "ctrl+w": blankLeft,
  "alt+backspace": wordLeft,
  "ctrl+backspace": wordLeft,
  "alt+d": wordRight,
  "ctrl+delete": wordRight,
};

/** The cursor one row up, or down, in a text of several rows; null: there is no such row. */
export function rowUp(line: InputLine): InputLine | null {
  const start = rowStart(line);
  if (start === 0) return null;
  const above = rowStart({ text: line.text, at: start - 1 });
  return { text: line.text, at: onBoundary(line.text, Math.min(above + line.at - start, start - 1)) };
}

export function rowDown(line: InputLine): InputLine | null {
  const end = rowEnd(line);
  if (end === line.text.length) return null;
  const at = Math.min(end + 1 + line.at - rowStart(line), rowEnd({ text: line.text, at: end + 1 }));
  return { text: line.text, at: onBoundary(line.text, at) };
}

function onBoundary(text: string, index: number): number {
  let at = Math.max(text.lastIndexOf("\n", index - 1) + 1, 0);
  for (const { segment } of segments(text.slice(at, index + reach))) {
    if (at + segment.length > index) return at;
    at += segment.length;
  }
  return at;
}
