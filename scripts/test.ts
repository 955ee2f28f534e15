/** Runs all tests and ends with a plain count; no test found, or none run, is a failure. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "pai-test-"));
const report = join(folder, "junit.xml");
const run = spawnSync(process.execPath, ["test", "--reporter=junit", `--reporter-outfile=${report}`], {
  cwd: join(import.meta.dir, ".."),
  stdio: ["ignore", "inherit", "inherit"],
});

/** Totals of the whole run, from the report's first element. */
function readTotals(): { tests: number; failures: number; skipped: number } {
  try {
    const head = /<testsuites\b[^>]*>/.exec(readFileSync(report, "utf8"))?.[0] ?? "";
    const total = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(head)?.[1] ?? 0);
    return { tests: total("tests"), failures: total("failures") + total("errors"), skipped: total("skipped") };
  } catch {
    return { tests: 0, failures: 0, skipped: 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { tests, failures, skipped } = readTotals();
const failed = run.status === 0 && tests > 0 ? failures : Math.max(1, failures);
console.log(`${Math.max(0, tests - failures - skipped)} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed === 0 ? 0 : 1;
