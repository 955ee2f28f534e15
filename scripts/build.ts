/** Builds dist/pai for this machine, or for the targets named: `bun scripts/build.ts [linux-x64-baseline …]`. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { version } from "../package.json";
import { buildFlags } from "./build-flags.ts";
import { renderMan } from "./man.ts";

const root = join(import.meta.dir, "..");
const dist = process.env["PAI_DIST"] ?? join(root, "dist");

/** What git answers in the checkout; null outside one. */
function askGit(...args: readonly string[]): string | null {
  const git = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  return git.status === 0 ? git.stdout.trim() : null;
}

function build(target: string | null): void {
  const name = target === null ? "pai" : `pai-${target}`;
  const defines = {
    PAI_VERSION: version,
    PAI_COMMIT: askGit("rev-parse", "HEAD") ?? "unknown",
    PAI_TARGET: target ?? `linux-${process.arch}`,
  };
  // Source maps stand in the binary; their files beside it are of no use.
  const making = mkdtempSync(join(dist, ".build-"));
  const args = [
    ...buildFlags,
    ...Object.entries(defines).flatMap(([key, value]) => ["--define", `${key}=${JSON.stringify(value)}`]),
    ...(target === null ? [] : [`--target=bun-${target}`]),
    "src/main.ts",
    "src/workspace/search/search-worker.ts",
    "src/workspace/context/count-worker.ts",
    "--outfile",
    join(making, name),
  ];
  const done = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`the build failed:\n${done.stdout}${done.stderr}`);
  // A running pai keeps its own file: rename, never overwrite.
  renameSync(join(making, name), join(dist, name));
  rmSync(making, { recursive: true });
  console.log(`${join(dist, name)}  ${(statSync(join(dist, name)).size / 1e6).toFixed(1)} MB`);
}

mkdirSync(dist, { recursive: true });
const targets = process.argv.slice(2);
for (const target of targets.length === 0 ? [null] : targets) build(target);

/** The same commit gives the same page. */
const day = askGit("log", "-1", "--format=%cs") ?? new Date().toISOString().slice(0, 10);
await Bun.write(join(dist, "pai.1"), renderMan(version, day));
