/** Folders in each other, also deeper than any path may be long. */
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";

const longest = 1000;

/** Makes `depth` folders called d in each other; what is deep already is put into a new piece. */
export function makeDeep(folder: string, depth: number): void {
  const [top, next] = [join(folder, "d"), join(folder, "next")];
  for (let made = 0; made < depth; ) {
    const piece = Math.min(longest, depth - made);
    const end = join(next, ...Array<string>(piece - 1).fill("d"));
    mkdirSync(end, { recursive: true });
    if (made > 0) renameSync(top, join(end, "d"));
    renameSync(next, top);
    made += piece;
  }
}
