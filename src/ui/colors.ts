/** picocolors, loaded by the first style with colour: a run without any never reads the package. */
import type { Colors } from "picocolors/types";

let loaded: Colors | null = null;

/**
 * Colours that are always on. As it loads, picocolors asks `process.stdout.isTTY`, which sets up Node's streams (3.5 ms
 * of a start): `--color`, its own switch, answers before that. Whether there is colour is decided in style.ts.
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
