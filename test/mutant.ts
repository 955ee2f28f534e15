/** A deliberate bug as a patch: what it breaks, and the tests that must notice. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Mutant {
  readonly name: string;
  /** Path of the patch. */
  readonly path: string;
  /** First line of the patch file. */
  readonly what: string;
  /** Test files, relative to the repository. */
  readonly tests: readonly string[];
}

/** All mutants of a checkout, by name. */
export function readMutants(root: string): readonly Mutant[] {
  const folder = join(root, "test", "mutants");
  const files = readdirSync(folder).filter((file) => file.endsWith(".patch"));
  return files.sort().map((file) => {
    const path = join(folder, file);
    const [what = "", tests = ""] = readFileSync(path, "utf8").split("\n", 2);
    return { name: file.slice(0, -".patch".length), path, what, tests: tests.replace(/^Tests: /, "").split(" ") };
  });
}
