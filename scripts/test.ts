/**
 * Runs all tests and ends with a plain count; no test found, or none run, is a failure.
 * The few that fail among all are tried once more alone, by file: what then passes is named as such, never hidden.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** More than this is no matter of a busy machine. */
const triedAgain = 3;

interface Failure {
  readonly file: string;
  readonly name: string;
  readonly message: string;
}

interface Outcome {
  readonly tests: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
}

const entities: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&amp;": "&",
};

function unescapeXml(text: string): string {
  return text.replace(/&(?:#(\d+)|\w+);/g, (entity, code) =>
    code === undefined ? (entities[entity] ?? entity) : String.fromCodePoint(Number(code)),
  );
}

/** The value of an attribute of an XML tag; empty where it has none. */
function attribute(tag: string, name: string): string {
  return unescapeXml(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? "");
}

/** What a report of `bun test` in JUnit's form says. */
function readReport(xml: string): Outcome {
  const all = /<testsuites\b[^>]*>/.exec(xml)?.[0] ?? "";
  const total = (name: string) => Number(attribute(all, name));
  const failures = [...xml.matchAll(/(<testcase\b[^>]*[^/]>)\s*<(?:failure|error)\b[^>]*>([^<]*)/g)];
  return {
    tests: total("tests"),
    failed: total("failures") + total("errors"),
    skipped: total("skipped"),
    failures: failures.map(([, tag = "", message = ""]) => ({
      file: attribute(tag, "file"),
      name: attribute(tag, "name"),
      message: unescapeXml(message).trimEnd(),
    })),
  };
}

/** Runs the tests of these files, or all. A run that breaks off counts as one failure that no test explains. */
function runTests(files: readonly string[]): Outcome {
  const folder = mkdtempSync(join(tmpdir(), "pai-test-"));
  const report = join(folder, "junit.xml");
  const flags = ["--reporter=junit", `--reporter-outfile=${report}`];
  const { status } = spawnSync(process.execPath, ["test", ...flags, ...files], {
    cwd: join(import.meta.dir, ".."),
    stdio: ["ignore", "inherit", "inherit"],
  });
  try {
    const outcome = readReport(readFileSync(report, "utf8"));
    return status === 0 && outcome.tests > 0 ? outcome : { ...outcome, failed: Math.max(1, outcome.failed) };
  } catch {
    return { tests: 0, failed: 1, skipped: 0, failures: [] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function print(title: string, failures: readonly Failure[]): void {
  for (const { file, name, message } of failures) console.log(`\n${title}: ${file}: ${name}\n${message}`);
}

const first = runTests([]);
print("failed", first.failures);
const isExplained = first.failed === first.failures.length;
const mayTryAgain = first.failed > 0 && isExplained && first.failed <= triedAgain;
const again = mayTryAgain ? runTests([...new Set(first.failures.map((failure) => failure.file))]) : first;
if (mayTryAgain) print("failed again", again.failures);
if (mayTryAgain && again.failed === 0) print("passed when tried again, alone", first.failures);
const failed = again.failed === 0 ? 0 : first.failed;
console.log(`${Math.max(0, first.tests - failed - first.skipped)} passed, ${failed} failed, ${first.skipped} skipped`);
process.exitCode = failed === 0 ? 0 : 1;
