/** Cuts the long lines of a diff to what changed in them. */
import { grouped } from "../amount.ts";
import type { DiffLine } from "./read.ts";

const longLine = 400;
/** Characters of a cut line: shown at most, and on each side of the change. */
const maxShown = 2000;
const beside = 100;

interface Range {
  readonly from: number;
  readonly to: number;
}

/** The part of each of two lines that the other one does not have. */
function changesIn(before: string, after: string): readonly [Range, Range] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [
    { from: start, to: before.length - end },
    { from: start, to: after.length - end },
  ];
}

/** What changed in each line of deleted lines that are followed by as many added ones. */
function findChanges(lines: readonly DiffLine[]): ReadonlyMap<DiffLine, Range> {
  const found = new Map<DiffLine, Range>();
  let [gone, come]: [DiffLine[], DiffLine[]] = [[], []];
  const endGroup = (): void => {
    for (const [at, before] of gone.length === come.length ? gone.entries() : []) {
      const after = come[at] ?? before;
      const [old, now] = changesIn(before.text, after.text);
      found.set(before, old).set(after, now);
    }
    [gone, come] = [[], []];
  };
  // A note on a missing line feed stands between a last line and the one that replaces it.
  for (const line of lines.filter(({ kind }) => kind !== "note")) {
    if (line.kind !== "add" && come.length > 0) endGroup();
    if (line.kind === "delete") gone.push(line);
    else if (line.kind === "add") come.push(line);
    else endGroup();
  }
  endGroup();
  return found;
}

/** The line itself; of a long one the change with what stands beside it, and a note on how much is missing. */
function cutLine(line: DiffLine, change: Range | undefined, more: string, whole: boolean): readonly DiffLine[] {
  const { kind, text } = line;
  const changed = change ?? { from: 0, to: kind === "same" ? 0 : text.length };
  const isTooMuch = kind !== "same" && changed.to - changed.from > maxShown - beside;
  const from = Math.max(0, changed.from - beside);
  const to = Math.min(text.length, changed.to + beside, from + maxShown);
  if (text.length <= longLine || to - from === text.length || (whole && isTooMuch)) return [line];
  // The cut may split a surrogate pair; half a character is shown as "?".
  const shown = text.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "?");
  const hidden = `${grouped(text.length - (to - from))} of ${grouped(text.length)} characters not shown`;
  return [
    { ...line, text: (from > 0 ? more : "") + shown + (to < text.length ? more : "") },
    { kind: "note", number: null, text: hidden },
  ];
}

/** `more` marks the cuts. `whole`: a question follows, so what changed is never cut. */
export function cutLongLines(lines: readonly DiffLine[], more: string, whole: boolean): readonly DiffLine[] {
  if (lines.every(({ text }) => text.length <= longLine)) return lines;
  const changes = findChanges(lines);
  return lines.flatMap((line) => cutLine(line, changes.get(line), more, whole));
}
