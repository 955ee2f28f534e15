/** Seeds one deliberate bug after another and shows that the tests notice each: `prove.ts mutants [part of a name]`. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Mutant, mutate, readMutants } from "../../test/mutant.ts";

const root = join(import.meta.dir, "../..");
/** A mutant that makes a test hang counts as noticed. */
const maxMs = 120_000;
const parts = ["src", "test", "scripts", "package.json", "tsconfig.json", "bunfig.toml"];

function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), "pai-mutants-"));
  for (const part of parts) cpSync(join(root, part), join(copy, part), { recursive: true, force: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** Puts the bug into the copy; the returned function takes it out again. null: a rule does not fit. */
function seed(copy: string, { rules }: Mutant): (() => void) | null {
  const was = new Map<string, string>();
  const undo = () => {
    for (const [path, source] of was) writeFileSync(path, source);
  };
  for (const rule of rules) {
    const path = join(copy, rule.file);
    const source = existsSync(path) ? readFileSync(path, "utf8") : "";
    const mutated = mutate(source, rule);
    if (mutated === null) {
      undo();
      return null;
    }
    if (!was.has(path)) was.set(path, source);
    writeFileSync(path, mutated);
  }
  return undo;
}

/** Whether all tests of these files pass. */
function passes(copy: string, files: readonly string[], flags: readonly string[] = []): boolean {
  const run = spawnSync(process.execPath, ["test", ...flags, ...files], {
    cwd: copy,
    stdio: "ignore",
    timeout: maxMs,
  });
  return run.status === 0;
}

const maxTries = 3;

type Fate = "killed" | "SURVIVED" | "NOT TRIED";

/**
 * Killed means that tests fail with the bug and pass right after without it, as a busy machine can also fail a test.
 */
function tryMutant(copy: string, mutant: Mutant): Fate {
  for (let tries = 0; tries < maxTries; tries++) {
    const undo = seed(copy, mutant);
    if (undo === null) break;
    const survived = passes(copy, mutant.tests, ["--bail"]);
    undo();
    if (survived) return "SURVIVED";
    if (passes(copy, mutant.tests)) return "killed";
  }
  return "NOT TRIED";
}

/** Throws unless every mutant applies, and is killed by tests that pass without it. */
export async function prove([part = ""]: readonly string[]): Promise<void> {
  const mutants = readMutants(root).filter(({ name }) => name.includes(part));
  const copy = copyTree();
  const open: string[] = [];
  try {
    for (const mutant of mutants) {
      const fate = tryMutant(copy, mutant);
      if (fate !== "killed") open.push(mutant.name);
      console.log(`${fate} ${mutant.name}: ${mutant.what}`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  console.log(`${mutants.length - open.length} of ${mutants.length} mutants killed`);
  if (open.length > 0) throw new Error(`not killed: ${open.join(", ")}`);
}
