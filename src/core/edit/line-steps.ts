/** The lines of SEARCH occur in the file consecutively, except for blanks, indentation, typography. */

import { type FileLines, findRows, type Level } from "./file-lines.ts";
import { type Placement, placeBlock } from "./indent.ts";
import { layOver } from "./merge.ts";
import { type Halves, type Match, type Step, variantsOf } from "./step.ts";

interface LineStep {
  readonly level: Level;
  readonly note: string | null;
  /** SEARCH ALL takes every candidate. */
  readonly many: boolean;
  /** Whether a candidate counts; null: all of them do. */
  readonly accepts: ((placement: Placement, halves: Halves) => boolean) | null;
}

const steps: readonly LineStep[] = [
  { level: "exact", note: null, many: true, accepts: null },
  { level: "trailing", note: "ignoring trailing blanks", many: true, accepts: null },
  { level: "indent", note: "ignoring indentation", many: true, accepts: (placement) => placement.uniform },
  {
    level: "indent",
    note: "ignoring uneven indentation",
    many: true,
    accepts: (_, halves) => isKnownAnywhere(halves.search),
  },
  { level: "unicode", note: "ignoring typographic characters", many: false, accepts: null },
  { level: "spaces", note: "ignoring spaces inside lines", many: false, accepts: null },
];

export const lineSteps: readonly Step[] = steps.map(
  (step): Step =>
    (file, halves) => {
      for (const variant of variantsOf(halves)) {
        const match = matchAtLevel(file, variant, step);
        if (match !== null) return match;
      }
      return null;
    },
);

/** Steps 1 to 3, for parts of a block. */
export const strictSteps: readonly Step[] = lineSteps.slice(0, 3);

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

function matchAtLevel(file: FileLines, halves: Halves, { level, note, many, accepts }: LineStep): Match | null {
  const found = findRows(file, level, halves.search);
  const areAllMeant = (rows: readonly number[]) => halves.all && many && areApart(rows, halves);
  if (found.length > enoughCandidates && !areAllMeant(found)) return { kind: "ambiguous", rows: found, note };
  const rows =
    accepts === null ? found : found.filter((row) => accepts(placeBlock(file, rowsFrom(row, halves), halves), halves));
  const [row] = rows;
  if (row === undefined) return null;
  if (rows.length === 1) return matchAt(file, rowsFrom(row, halves), halves, note);
  if (areAllMeant(rows)) return matchRows(file, rows, halves, note);
  return { kind: "ambiguous", rows, note };
}

function areApart(rows: readonly number[], { search }: Halves): boolean {
  return rows.every((row, at) => at === 0 || row - (rows[at - 1] ?? 0) >= search.length);
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
function isKnownAnywhere(search: readonly string[]): boolean {
  return search.length >= 2 || (search[0]?.trim().length ?? 0) >= 6;
}
