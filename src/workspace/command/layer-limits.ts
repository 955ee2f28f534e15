/** Limits on what is carried over of a command's changes. */
import { PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";

/** Beyond these nothing is carried over. `kept`: bytes of files that are not ignored, since these stay in memory. */
export interface LayerLimits {
  readonly entries: number;
  readonly bytes: number;
  readonly kept: number;
}

export const layerLimits: LayerLimits = { entries: 100_000, bytes: 2 * 2 ** 30, kept: 256 * 2 ** 20 };
/** Paths may have 4,096 bytes, and the layer's own folder comes before them. */
const longestPath = 3000;

/** Throws io_failed when a limit is exceeded. */
export function openCount(limits: LayerLimits) {
  let entries = 0;
  let bytes = 0;
  let kept = 0;
  const check = (): void => {
    if (entries > limits.entries) throw tooMuch(`more than ${limits.entries} files`);
    if (bytes > limits.bytes) throw tooMuch(`more than ${limits.bytes / 2 ** 30} GiB`);
    if (kept > limits.kept) throw tooMuch(`more than ${limits.kept / 2 ** 20} MiB of files that are not ignored`);
  };
  return {
    add(path: RelPath, size: number) {
      entries += 1;
      bytes += size;
      if (path.length > longestPath) throw tooMuch(`paths of more than ${longestPath} characters`);
      check();
    },
    keep(size: number) {
      kept += size;
      check();
    },
  };
}

const tooMuch = (what: string): PaiError =>
  new PaiError("io_failed", `the command changed ${what}: nothing was carried over, and it is not run again`, {
    hint: "let it write to an ignored folder in smaller parts, or run it yourself",
  });
