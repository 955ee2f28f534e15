/** Seeds one deliberate bug after another and shows that the tests notice each: `prove.ts mutants [part of a name]`. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Mutant, readMutants } from "../test/mutant.ts";

const root = join(import.meta.dir, "..");
/** A mutant that hangs a test has been noticed. */
const mostMs = 120_000;
const parts = ["src", "test", "scripts", "package.json", "tsconfig.json", "bunfig.toml"];

function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), "pai-mutants-"));
  for (const part of parts) cpSync(join(root, part), join(copy, part), { recursive: true, force: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

function apply(copy: string, { name, path }: Mutant, ...flags: readonly string[]): void {
  const done = spawnSync("git", ["apply", ...flags, path], {
    cwd: copy,
    env: { ...process.env, GIT_CEILING_DIRECTORIES: copy, GIT_DIR: "/nonexistent" },
    encoding: "utf8",
  });
  if (done.status !== 0) throw new Error(`${name} does not apply: ${done.stderr}`);
}

/** True when all tests of these files pass. */
function passes(copy: string, files: readonly string[], flags: readonly string[] = []): boolean {
  const run = spawnSync(process.execPath, ["test", ...flags, ...files], {
    cwd: copy,
    stdio: "ignore",
    timeout: mostMs,
  });
  return run.status === 0;
}

const mostTries = 3;

/** True when the tests fail with the bug and pass right after without it: a busy machine proves nothing. Throws when they never pass. */
function isKilled(copy: string, mutant: Mutant): boolean {
  for (let tries = 0; tries < mostTries; tries++) {
    apply(copy, mutant);
    const survived = passes(copy, mutant.tests, ["--bail"]);
    apply(copy, mutant, "--reverse");
    if (survived) return false;
    if (passes(copy, mutant.tests)) return true;
  }
  throw new Error(`${mutant.tests.join(" ")} fails without a bug`);
}

/** Throws when a mutant survives, or when the tests fail without any. */
export async function prove([part = ""]: readonly string[]): Promise<void> {
  const mutants = readMutants(root).filter(({ name }) => name.includes(part));
  const copy = copyTree();
  const survivors: string[] = [];
  try {
    for (const mutant of mutants) {
      const survived = !isKilled(copy, mutant);
      if (survived) survivors.push(mutant.name);
      console.log(`${survived ? "SURVIVED" : "killed"} ${mutant.name}: ${mutant.what}`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  console.log(`${mutants.length - survivors.length} of ${mutants.length} mutants killed`);
  if (survivors.length > 0) throw new Error(`survived: ${survivors.join(", ")}`);
}
