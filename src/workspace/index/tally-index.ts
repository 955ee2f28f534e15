/** Counts terms with the index alone, in files that are unchanged since they were indexed. */
import type { CountedFile } from "../../core/context/rank.ts";
import type { Term } from "../../core/context/words.ts";
import type { CountReply } from "../context/count-files.ts";
import type { FileFacts, IndexFile } from "./index-file.ts";
import { searchSegment } from "./segment.ts";

/** A file that is unchanged since it was indexed. */
export interface KnownFile {
  readonly path: string;
  readonly facts: FileFacts;
}

/** No segment has more files; a larger number is a sign of damage. */
const maxFiles = 200_000;

/** Files by the segment that has their words. */
function groupBySegment(known: readonly KnownFile[]): Map<number, KnownFile[]> {
  const bySegment = new Map<number, KnownFile[]>();
  for (const file of known) {
    const { length, segment } = file.facts;
    if (length < 0 || segment === 0) continue;
    const inSegment = bySegment.get(segment);
    if (inSegment === undefined) bySegment.set(segment, [file]);
    else inSegment.push(file);
  }
  return bySegment;
}

/** Throws when the index is damaged. `pause` is called between segments, so that others may run. */
export async function tallyIndex(
  index: IndexFile,
  terms: readonly Term[],
  known: readonly KnownFile[],
  pause: () => Promise<void>,
): Promise<CountReply> {
  const found: CountedFile[] = [];
  let [files, totalLength] = [0, 0];
  for (const [id, inSegment] of groupBySegment(known)) {
    const segment = index.readSegment(id);
    if (segment === null) throw new Error(`segment ${id} is missing`);
    const size = inSegment.reduce((largest, { facts }) => Math.max(largest, facts.local + 1), 0);
    if (!(size <= maxFiles)) throw new Error(`segment ${id} has no file ${size - 1}`);
    const { counts, holds } = searchSegment(segment, terms, size);
    for (const { path, facts } of inSegment) {
      files += 1;
      totalLength += facts.length;
      const from = facts.local * terms.length;
      if (holds[facts.local] === 1)
        found.push({ path, length: facts.length, counts: counts.subarray(from, from + terms.length) });
    }
    await pause();
  }
  return { files, totalLength, found };
}
