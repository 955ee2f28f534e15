/** The files that a plan names, and how much of each the work is shown. */

import { linesOf } from "../core/context/blocks.ts";
import { type Kind, kindOf } from "../core/context/kind.ts";
import { maxOfFiles, maxOfParts, maxShown, maxWhole } from "../core/context/shown.ts";
import { untoldRanges } from "../core/dialogue.ts";
import { partOf } from "../core/model.ts";
import type { RelPath } from "../core/path.ts";
import type { Plan } from "../core/plan/plan.ts";
import { rowOf } from "../core/vocabulary.ts";
import { toReadable } from "./briefing/sources.ts";
import { textNow } from "./dialogue.ts";
import type { Run } from "./run.ts";

/** Files that the model must see before the work. */
export interface Named {
  /** Those to be read, modified, overwritten or moved. */
  readonly paths: ReadonlySet<RelPath>;
  /** Those that the plan changes but does not rewrite: parts of a large one are enough. */
  readonly edited: ReadonlySet<RelPath>;
  /** Those that the plan reads whole. */
  readonly read: ReadonlySet<RelPath>;
}

/** The files that a plan names, without those that may not be read. */
export function filesOf(run: Run, plan: Plan): Named {
  const paths = new Set<RelPath>();
  const changed = new Set<RelPath>();
  const written = new Set<RelPath>();
  const read = new Set<RelPath>();
  for (const text of plan.analysis?.files_to_read ?? []) {
    const path = toReadable(run, text);
    if (path !== null) paths.add(path);
  }
  for (const { action, target } of plan.execution_plan?.steps ?? []) {
    const row = rowOf(action);
    const path = row?.shows === true ? toReadable(run, target) : null;
    if (path === null) continue;
    paths.add(path);
    if (row?.form === "content") written.add(path);
    else if (row?.kind === "change") changed.add(path);
    else read.add(path);
  }
  return { paths, edited: changed.difference(written), read };
}

/** Characters of the files to be changed in one message: a third of the window, at most 100 KB. */
const roomForFiles = ({ calling }: Run): number => Math.min(maxOfFiles, partOf(calling.model, "work").window);
/** Characters that parts of one file have at least, while there is room. */
const leastOfParts = 8_000;

/** How much of the files that a plan names is shown: by path the characters that its parts may have, or null for all of it. */
type Shares = ReadonlyMap<RelPath, number | null>;

/** Characters of a file that the dialogue does not show. */
function untoldSize({ dialogue }: Run, path: RelPath, text: string): number {
  const lines = linesOf(text);
  const untold = untoldRanges(dialogue, path, text, null);
  return untold.reduce((sum, { from, to }) => sum + lines.slice(from - 1, to).join("\n").length, 0);
}

/** In this order files are cut when not all fit: the last first. */
const ranks: Readonly<Record<Kind, number>> = { code: 0, side: 1, test: 2, document: 3, generated: 3, changelog: 4 };

interface Sized {
  readonly path: RelPath;
  readonly kind: Kind;
  /** Characters that the dialogue does not show. */
  readonly size: number;
}

/** Whether a file beside the real work comes in parts: large tests and papers beside source, every long changelog. */
const isAside = ({ kind, size }: Sized, hasSource: boolean): boolean =>
  (hasSource && ranks[kind] >= ranks.test && size > maxWhole) || (kind === "changelog" && size > leastOfParts / 2);

/**
 * Shares the room among the files that are changed: source first, small ones first. Beside source, large tests and papers
 * come in parts, and of a changelog only its head is needed. What a look asks for is shown whole.
 */
async function shareRoom(run: Run, { paths, edited, read }: Named) {
  const sized: Sized[] = [];
  for (const path of paths)
    sized.push({ path, kind: kindOf(path), size: untoldSize(run, path, (await textNow(run, path)) ?? "") });
  const hasSource = sized.some(({ path, kind }) => ranks[kind] < ranks.test && edited.has(path));
  const shares = new Map<RelPath, number | null>();
  let left = roomForFiles(run);
  let sum = 0;
  for (const file of sized.toSorted((a, b) => ranks[a.kind] - ranks[b.kind] || a.size - b.size)) {
    const { path, size } = file;
    const aside = isAside(file, hasSource);
    const isWhole = !edited.has(path) || read.has(path) || (size <= left && !aside);
    const part = Math.max(leastOfParts, Math.min(left, aside ? leastOfParts : maxOfParts));
    shares.set(path, isWhole ? null : part);
    const shown = isWhole ? Math.min(size, maxShown) : Math.min(size, part);
    left = Math.max(0, left - shown);
    sum += shown;
  }
  return { shares: shares as Shares, size: sum };
}

/** How much of each file that a plan names is shown. */
export const sharesOf = async (run: Run, named: Named): Promise<Shares> => (await shareRoom(run, named)).shares;

/** Characters of the files that a plan names and the dialogue does not show, as far as they are shown. */
export const sizeOfFiles = async (run: Run, plan: Plan): Promise<number> =>
  (await shareRoom(run, filesOf(run, plan))).size;
