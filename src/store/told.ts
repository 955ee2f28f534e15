/** What was told once to the user of this home, and is not told again. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Whether this was not told before; from now on it was. Without a folder of the state, or where it cannot be written, always. */
export function isFirstTime(stateDir: string | null, what: "small-model"): boolean {
  if (stateDir === null) return true;
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    writeFileSync(join(stateDir, `told-${what}`), "", { flag: "wx", mode: 0o600 });
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code !== "EEXIST";
  }
}
