/** Chooses the parts of a large file that matter for a change. */
import { linesOf } from "../../core/context/blocks.ts";
import type { Range } from "../../core/context/excerpts.ts";
import { chooseParts, type Parts } from "../../core/context/large-file.ts";
import { matchLines } from "../../core/line-diff.ts";
import type { RelPath } from "../../core/path.ts";
import type { Run } from "../run.ts";

/** What decides which parts of a large file matter. */
export interface Focus {
  readonly request: string;
  readonly output: string;
  readonly looked: readonly Range[];
}

/** Numbers of the lines of a file that this run has changed or added. `lines`: the file as the model may see it now. */
function changedLines(run: Run, path: RelPath, lines: readonly string[]): readonly number[] {
  const change = [...(run.begun?.changes ?? []), ...run.record.staged].find((each) => each.path === path);
  const before = run.veiled.hide(path, change?.before ?? null);
  if (before?.kind !== "file") return [];
  const kept = new Set(matchLines(linesOf(new TextDecoder().decode(before.bytes)), lines).map(([, at]) => at));
  return lines.flatMap((_, at) => (kept.has(at) ? [] : [at + 1]));
}

/** The parts of the file to show. */
export const chooseLines = (run: Run, path: RelPath, text: string, focus: Focus): Parts =>
  chooseParts({ path, text, ...focus, changed: changedLines(run, path, linesOf(text)) });
