/** The file while its blocks are applied: every line knows which line of the shown file it was. */
import type { Splice } from "./edit-match.ts";
import { matchLines } from "./lines.ts";
import { type Line, mainEnding } from "./text.ts";

export interface OverlayLine extends Line {
  /** Row in the file as it was shown, null for a line that was not there. */
  readonly origin: number | null;
}

export type Overlay = readonly OverlayLine[];

/** The current lines of a file, traced back to the lines that were shown. */
export function openOverlay(now: readonly Line[], shown: readonly Line[]): Overlay {
  if (now === shown) return now.map((line, row) => ({ ...line, origin: row }));
  const texts = (lines: readonly Line[]) => lines.map((line) => line.text);
  const origins = new Map(matchLines(texts(shown), texts(now)).map(([row, at]) => [at, row]));
  return now.map((line, at) => ({ ...line, origin: origins.get(at) ?? null }));
}

/** Splices of the shown file as splices of the overlay; null when lines they replace have changed meanwhile. */
export function translate(splices: readonly Splice[], overlay: Overlay): readonly Splice[] | null {
  const positions: number[] = [];
  for (let at = 0; at < overlay.length; at++) {
    const origin = overlay[at]?.origin ?? null;
    if (origin !== null) positions[origin] = at;
  }
  const moved: Splice[] = [];
  for (const { start, end, lines } of splices) {
    const first = positions[start] ?? insertionPoint(start, end, positions);
    if (first === null) return null;
    for (let row = start; row < end; row++) if (positions[row] !== first + row - start) return null;
    moved.push({ start: first, end: first + end - start, lines });
  }
  return moved;
}

/** After the line above, when the line below is gone. */
function insertionPoint(start: number, end: number, positions: readonly number[]): number | null {
  const above = positions[start - 1];
  return start === end && above !== undefined ? above + 1 : null;
}

/** The overlay with splices laid in; new lines take the ending of the line they replace or stand beside. */
export function applySplices(overlay: Overlay, splices: readonly Splice[]): Overlay {
  const main = mainEnding(overlay);
  const parts: Overlay[] = [];
  let from = 0;
  for (const { start, end, lines } of [...splices].sort((a, b) => a.start - b.start)) {
    parts.push(overlay.slice(from, start));
    parts.push(
      lines.map((text, at) => {
        const replaced = start + at < end ? (overlay[start + at]?.ending ?? "") : "";
        const beside = overlay[end - 1] ?? overlay[end];
        return { text, ending: replaced || usableEnding(beside, main), origin: null };
      }),
    );
    from = end;
  }
  return parts.concat([overlay.slice(from)]).flat();
}

/** A lone CR in a file of other endings is no model for a new line. */
function usableEnding(beside: Line | undefined, main: "\n" | "\r\n" | "\r"): "\n" | "\r\n" | "\r" {
  if (beside === undefined || beside.ending === "") return main;
  return beside.ending === "\r" ? main : beside.ending;
}

/** The text of an overlay; `finalEnding` says whether its last line has an ending. */
export function joinOverlay(overlay: Overlay, finalEnding: boolean): string {
  const main = mainEnding(overlay);
  const last = overlay.length - 1;
  return overlay
    .map(({ text, ending }, at) => text + (at === last && !finalEnding ? "" : ending === "" ? main : ending))
    .join("");
}
