/** Diff lines that fit: what is unchanged or endless of a long line left out and counted, the rest wrapped. */
import { grouped } from "../amount.ts";
import type { Range } from "./marks.ts";
import type { DiffLine } from "./read.ts";

/** A line as it is shown; `mark`: the part that differs from the line it replaces; null: none. */
export interface Row extends DiffLine {
  readonly mark: Range | null;
}

/** Characters of a line; a longer one is cut to what changed in it. */
export const longLine = 400;
/** Of a line that is cut: at most so many characters are shown, and so many on each side of what changed. */
const most = 2000;
const beside = 100;

/** The part of a long line to show: what changed with a little on both sides, or else its beginning. */
function chooseRange({ kind, text, mark }: Row): Range {
  const changed = mark ?? { from: 0, to: kind === "same" ? 0 : text.length };
  const from = Math.max(0, changed.from - beside);
  return { from, to: Math.min(text.length, changed.to + beside, from + most) };
}

/**
 * The row itself, or, of one that is too long, a part of it and a note that says how much is missing. `more` marks the
 * cuts.
 */
export function cutRow(row: Row, more: string): readonly Row[] {
  const { text, mark } = row;
  if (text.length <= longLine) return [row];
  const { from, to } = chooseRange(row);
  if (to - from === text.length) return [row];
  const lead = from > 0 ? more : "";
  // The cut may fall between the two code units of a character: half a character is shown as "?".
  const shown = text.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "?");
  const move = (at: number) => Math.min(Math.max(at - from, 0), shown.length) + lead.length;
  const hidden = `${grouped(text.length - (to - from))} of ${grouped(text.length)} characters not shown`;
  return [
    {
      ...row,
      text: lead + shown + (to < text.length ? more : ""),
      mark: mark && { from: move(mark.from), to: move(mark.to) },
    },
    { kind: "note", number: null, text: hidden, mark: null },
  ];
}

const widthOf = (character: string) => (character < "\x7f" ? 1 : Bun.stringWidth(character));

/**
 * Where the lines of a text begin and end that is wrapped after at most `width` columns: at a blank where there is one.
 */
export function breakText(text: string, width: number): readonly Range[] {
  if (Bun.stringWidth(text) <= width) return [{ from: 0, to: text.length }];
  const ranges: Range[] = [];
  let [from, at, column, word] = [0, 0, 0, 0];
  for (const character of text) {
    const wide = widthOf(character);
    if (column + wide > width) {
      const to = text.slice(from, word).trim() === "" ? at : word;
      ranges.push({ from, to });
      from = to;
      column = Bun.stringWidth(text.slice(to, at));
    }
    at += character.length;
    column += wide;
    if (character === " ") word = at;
  }
  return [...ranges, { from, to: at }];
}
