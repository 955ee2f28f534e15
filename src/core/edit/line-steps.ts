/** Steps 1 to 6: the lines of SEARCH occur in the file consecutively, except for blanks, indentation, typography. */

import { type FileLines, findRows, type Level } from "./file-lines.ts";
import { type Placement, placeBlock } from "./indent.ts";
import { layOver } from "./merge.ts";
import { type Halves, type Match, type Step, variantsOf } from "./step.ts";

interface LineStep {
  readonly level: Level;
  readonly note: string | null;
  /** SEARCH ALL takes every candidate. */
  readonly many: boolean;
  readonly accepts: (placement: Placement, halves: Halves) => boolean;
}

const always = () => true;
const steps: readonly LineStep[] = [
  { level: "exact", note: null, many: true, accepts: always },
  { level: "trailing", note: "ignoring trailing blanks", many: true, accepts: always },
  { level: "indent", note: "ignoring indentation", many: true, accepts: (placement) => placement.uniform },
  {
    level: "indent",
    note: "ignoring uneven indentation",
    many: true,
    accepts: (_, halves) => isTelling(halves.search),
  },
  { level: "unicode", note: "ignoring typographic characters", many: false, accepts: always },
  { level: "spaces", note: "ignoring spaces inside lines", many: false, accepts: always },
];

export const lineSteps: readonly Step[] = steps.map(
  (step): Step =>
    (file, halves) =>
      matchLoosely(
        variantsOf(halves).map((variant) => () => matchAtLevel(file, variant, step)),
        file,
        halves,
      ),
);

/** Steps 1 to 3, for parts of a block. */
export const strictSteps: readonly Step[] = lineSteps.slice(0, 3);

/** The match of the first step that finds one; null: none does. */
export function matchLoosely(ladder: readonly Step[], file: FileLines, halves: Halves): Match | null {
  for (const step of ladder) {
    const match = step(file, halves);
    if (match !== null) return match;
  }
  return null;
}

/** The match for a SEARCH whose lines are at these rows (-1: not in the file), with REPLACE indented and merged. */
export function matchAt(file: FileLines, rows: readonly number[], halves: Halves, note: string | null): Match {
  const splices = layOver(rows, halves, placeBlock(file, rows, halves).place);
  const known = rows.filter((row) => row >= 0);
  const span = [known[0] ?? 0, (known.at(-1) ?? -1) + 1] as const;
  return splices === null ? { kind: "unplaceable", span } : { kind: "found", splices, span, note };
}

/** With more candidates than this, the match is ambiguous, and their indentation is not compared. */
const enoughCandidates = 200;

function matchAtLevel(file: FileLines, halves: Halves, step: LineStep): Match | null {
  const found = findRows(file, step.level, halves.search);
  const { length } = halves.search;
  const overlap = found.some((row, at) => at > 0 && row - (found[at - 1] ?? 0) < length);
  const countless = found.length > enoughCandidates && !(halves.all && step.many);
  if (overlap && found.length > enoughCandidates) return { kind: "ambiguous", rows: found, note: step.note };
  const rows = countless ? found : found.filter((row) => step.accepts(placeAt(file, row, halves), halves));
  if (rows.length === 0) return null;
  if (rows.length === 1) return matchRows(file, rows, halves, step.note);
  const apart = rows.every((row, at) => at === 0 || row - (rows[at - 1] ?? 0) >= length);
  if (halves.all && step.many && apart) return matchRows(file, rows, halves, step.note);
  return { kind: "ambiguous", rows, note: step.note };
}

function placeAt(file: FileLines, row: number, halves: Halves): Placement {
  return placeBlock(file, rowsFrom(row, halves), halves);
}

function rowsFrom(row: number, { search }: Halves): readonly number[] {
  return search.map((_, line) => row + line);
}

function matchRows(file: FileLines, starts: readonly number[], halves: Halves, note: string | null): Match {
  const matches = starts.map((row) => matchAt(file, rowsFrom(row, halves), halves, note));
  const splices = matches.flatMap((match) => (match.kind === "found" ? match.splices : []));
  const span = [starts[0] ?? 0, (starts.at(-1) ?? 0) + halves.search.length] as const;
  return matches.find((match) => match.kind !== "found") ?? { kind: "found", splices, span, note };
}

/** Enough text to be recognised without its indentation. */
function isTelling(search: readonly string[]): boolean {
  return search.length >= 2 || (search[0]?.trim().length ?? 0) >= 6;
}
