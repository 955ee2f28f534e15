/** picocolors, loaded when the first colour is used: a run without colours never reads the package. */
import type { Colors } from "picocolors/types";

let loaded: Colors | null = null;

/**
 * Colours that are always on; style.ts decides whether they are used. While it loads, picocolors asks
 * `process.stdout.isTTY`, which sets up Node's streams (3.5 ms of a start), unless it finds `--color` among the
 * arguments.
 */
export function colors(): Colors {
  if (loaded !== null) return loaded;
  process.argv.push("--color");
  try {
    const { createColors }: { createColors(enabled: boolean): Colors } = require("picocolors");
    loaded = createColors(true);
    return loaded;
  } finally {
    process.argv.pop();
  }
}
