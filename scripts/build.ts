/** Builds dist/pai for this machine, or for the targets named: `bun scripts/build.ts [linux-x64-baseline …]`. */
import { spawnSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { version } from "../package.json";
import { buildFlags } from "./build-flags.ts";

const root = join(import.meta.dir, "..");
const dist = process.env["PAI_DIST"] ?? join(root, "dist");

/** The commit, for `pai --version --json`; null outside a checkout. */
function readCommit(): string | null {
  const git = spawnSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" });
  return git.status === 0 ? git.stdout.trim() : null;
}

function build(target: string | null): void {
  const name = target === null ? "pai" : `pai-${target}`;
  const defines = {
    PAI_VERSION: version,
    PAI_COMMIT: readCommit() ?? "unknown",
    PAI_TARGET: target ?? `linux-${process.arch}`,
  };
  const args = [
    ...buildFlags,
    ...Object.entries(defines).flatMap(([key, value]) => ["--define", `${key}=${JSON.stringify(value)}`]),
    ...(target === null ? [] : [`--target=bun-${target}`]),
    "src/main.ts",
    "src/workspace/search-worker.ts",
    "--outfile",
    join(dist, `${name}.new`),
  ];
  const done = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`the build failed:\n${done.stdout}${done.stderr}`);
  // A running pai keeps its own file: rename, never overwrite.
  renameSync(join(dist, `${name}.new`), join(dist, name));
  rmSync(join(dist, `${name}.new.map`), { force: true });
  console.log(`${join(dist, name)}  ${(statSync(join(dist, name)).size / 1e6).toFixed(1)} MB`);
}

mkdirSync(dist, { recursive: true });
const targets = process.argv.slice(2);
for (const target of targets.length === 0 ? [null] : targets) build(target);
