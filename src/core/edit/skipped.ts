/** SEARCH leaves out blank lines of the file, or has blank lines that the file lacks, and nothing else. */
import { type FileLines, findRuns, isBlank } from "./file-lines.ts";
import { matchAt } from "./line-steps.ts";
import { type Halves, type Match, variantsOf } from "./step.ts";

const note = "keeping the blank lines that the old text leaves out";

export function matchSkipping(file: FileLines, halves: Halves): Match | null {
  const variant = variantsOf(halves).at(-1) ?? halves;
  const { search } = variant;
  const code = search.flatMap((line, at) => (isBlank(line) ? [] : [at]));
  const rows = file.lines.flatMap((line, row) => (isBlank(line) ? [] : [row]));
  if (code.length < 2) return null;
  const keys = file.keys("indent");
  const starts = findRuns(
    rows.map((row) => keys[row] ?? -2),
    code.map((at) => file.keyOf("indent", search[at] ?? "")),
  );
  const [start = 0, ...others] = starts;
  if (starts.length === 0) return null;
  if (others.length > 0) return { kind: "ambiguous", rows: starts.map((at) => rows[at] ?? 0), note };
  const found = rows.slice(start, start + code.length);
  return matchAt(file, alignBlanks(code, found, search.length), variant, note);
}

/** Rows for every line of SEARCH; a blank line that the file lacks is -1. `code`, `found`: the lines that are not blank. */
function alignBlanks(code: readonly number[], found: readonly number[], length: number): readonly number[] {
  return Array.from({ length }, (_, line) => {
    const at = code.findLastIndex((each) => each <= line);
    const row = (found[at] ?? 0) + line - (code[at] ?? 0);
    return line === code[at] || row < (found[at + 1] ?? 0) ? row : -1;
  });
}
