/** Of a large file that is to be changed: the parts that matter. */
import { linesOf } from "../../core/context/blocks.ts";
import type { Range } from "../../core/context/excerpts.ts";
import { chooseParts, type Parts } from "../../core/context/large-file.ts";
import { matchLines } from "../../core/line-diff.ts";
import type { RelPath } from "../../core/path.ts";
import type { Run } from "../run.ts";

/** Which parts of a large file matter. */
export interface Focus {
  readonly request: string;
  readonly output: string;
  readonly looked: readonly Range[];
}

/** Lines of a file, as the model may see it now, that this run has changed or added. */
function changedLines(run: Run, path: RelPath, lines: readonly string[]): readonly number[] {
  const change = [...(run.begun?.changes ?? []), ...run.record.staged].find((each) => each.path === path);
  const before = run.veiled.hide(path, change?.before ?? null);
  if (before?.kind !== "file") return [];
  const kept = new Set(matchLines(linesOf(new TextDecoder().decode(before.bytes)), lines).map(([, at]) => at));
  return lines.flatMap((_, at) => (kept.has(at) ? [] : [at + 1]));
}

/** The lines that are shown of it. */
export const chooseLines = (run: Run, path: RelPath, text: string, focus: Focus): Parts =>
  chooseParts({ path, text, ...focus, changed: changedLines(run, path, linesOf(text)) });
