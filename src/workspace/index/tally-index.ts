/** Counts terms by the index alone, in the files that are as it knows them. */
import type { CountedFile } from "../../core/context/rank.ts";
import type { Term } from "../../core/context/words.ts";
import type { CountReply } from "../context/count-files.ts";
import type { FileFacts, IndexFile } from "./index-file.ts";
import { searchSegment } from "./segment.ts";

/** `pause` is called between segments, so that others may run. */
export async function tallyIndex(
  index: IndexFile,
  terms: readonly Term[],
  known: ReadonlyMap<string, FileFacts>,
  pause: () => Promise<void>,
): Promise<CountReply> {
  const bySegment = new Map<number, Map<number, string>>();
  let [files, totalLength] = [0, 0];
  const lengths = new Map<string, number>();
  for (const [path, { length, segment, local }] of known) {
    if (length < 0 || segment === 0) continue;
    files += 1;
    totalLength += length;
    lengths.set(path, length);
    const paths = bySegment.get(segment) ?? new Map<number, string>();
    paths.set(local, path);
    bySegment.set(segment, paths);
  }
  const found: CountedFile[] = [];
  for (const [id, paths] of bySegment) {
    const segment = index.readSegment(id);
    if (segment === null) throw new Error(`segment ${id} is missing`);
    for (const [local, counts] of searchSegment(segment, terms)) {
      const path = paths.get(local);
      if (path !== undefined) found.push({ path, length: lengths.get(path) ?? 0, counts });
    }
    await pause();
  }
  return { files, totalLength, found };
}
