/** Builds dist/pai for this machine, or for the targets named: `bun scripts/build.ts [linux-x64-baseline …]`. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { version } from "../package.json";
import { askGit, compile } from "./compile.ts";
import { renderMan } from "./man.ts";

const dist = process.env["PAI_DIST"] ?? join(import.meta.dir, "../dist");

function build(target: string | null): void {
  const outfile = join(dist, target === null ? "pai" : `pai-${target}`);
  compile({
    outfile,
    version,
    commit: askGit("rev-parse", "HEAD") ?? "unknown",
    target: target ?? `linux-${process.arch}`,
    bunTarget: target === null ? null : `bun-${target}`,
  });
  console.log(`${outfile}  ${(statSync(outfile).size / 1e6).toFixed(1)} MB`);
}

const targets = process.argv.slice(2);
for (const target of targets.length === 0 ? [null] : targets) build(target);

/** The date of the commit, so that the same commit gives the same page. */
const day = askGit("log", "-1", "--format=%cs") ?? new Date().toISOString().slice(0, 10);
await Bun.write(join(dist, "pai.1"), renderMan(version, day));
