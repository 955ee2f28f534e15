/**
 * Runs all tests and ends with a plain count; no test found, or none run, is a failure.
 * Transcripts mostly wait for the processes they start: all others run beside them.
 * One failed test that depends on processes or clocks is tried once more alone, with the same seed for property tests.
 * What passes then is named and counted; a second one fails the run.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Folders of tests that start processes and depend on clocks, which a busy machine can disturb. Only these are retried.
 */
const disturbed = ["test/transcript/", "test/workspace/"] as const;

/** Milliseconds for a test that names none: two processes run tests beside each other. */
const patience = 30_000;

/** More tests than this that pass on retry fail the run. */
const maxPassedOnRetry = 1;

/** One seed for all property tests of this run, and for the retry. */
const seed = process.env["PAI_TEST_SEED"] ?? String(1 + Math.floor(Math.random() * 0x7ffffffe));

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

/** The value of an attribute in an XML tag; "" if it has none. */
function attribute(tag: string, name: string): string {
  return unescapeXml(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? "");
}

/** Reads a JUnit report of `bun test`. */
function readReport(xml: string): Outcome {
  const all = /<testsuites\b[^>]*>/.exec(xml)?.[0] ?? "";
  const total = (name: string) => Number(attribute(all, name));
  const failures = [...xml.matchAll(/(<testcase\b[^>]*[^/]>)\s*(<(?:failure|error)\b[^>]*>)([^<]*)/g)];
  return {
    tests: total("tests"),
    failed: total("failures") + total("errors"),
    skipped: total("skipped"),
    failures: failures.map(([, tag = "", failure = "", text = ""]) => ({
      file: attribute(tag, "file"),
      name: attribute(tag, "name"),
      message: unescapeXml(text).trim() || attribute(failure, "message"),
    })),
  };
}

/**
 * Runs `bun test` and shows its output at once, or with `later` at its end. A run that breaks off counts as one failure
 * without a test's name.
 */
async function runTests(args: readonly string[], show: "now" | "later"): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "pai-test-"));
  const report = join(folder, "junit.xml");
  const flags = ["--reporter=junit", `--reporter-outfile=${report}`, `--timeout=${patience}`];
  const output = show === "now" ? "inherit" : Bun.file(join(folder, "output"));
  const child = Bun.spawn([process.execPath, "test", ...flags, ...args], {
    cwd: join(import.meta.dir, ".."),
    env: { ...process.env, PAI_TEST_SEED: seed },
    stdio: ["ignore", output, output],
  });
  try {
    const code = await child.exited;
    if (show === "later") process.stdout.write(readFileSync(join(folder, "output"), "utf8"));
    const outcome = readReport(readFileSync(report, "utf8"));
    return code === 0 && outcome.tests > 0 ? outcome : { ...outcome, failed: Math.max(1, outcome.failed) };
  } catch {
    return { tests: 0, failed: 1, skipped: 0, failures: [] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const addUp = (one: Outcome, other: Outcome): Outcome => ({
  tests: one.tests + other.tests,
  failed: one.failed + other.failed,
  skipped: one.skipped + other.skipped,
  failures: [...one.failures, ...other.failures],
});

function print(title: string, failures: readonly Failure[]): void {
  for (const { file, name, message } of failures) console.log(`\n${title}: ${file}: ${name}\n${message}`);
}

console.log(`seed of the property tests: ${seed} (PAI_TEST_SEED=${seed} repeats it)`);
const others = disturbed.map((folder) => `--path-ignore-patterns=${folder}**`);
const [transcripts, workspace] = disturbed;
const sandbox = `${workspace}sandbox/`;
/** Two processes in parallel, which take about the same time. */
const both = await Promise.all([
  runTests([transcripts], "now").then(async (outcome) => addUp(outcome, await runTests([sandbox], "later"))),
  runTests(others, "later").then(async (outcome) =>
    addUp(outcome, await runTests([workspace, `--path-ignore-patterns=${sandbox}**`], "later")),
  ),
]);
const first = addUp(...both);
print("failed", first.failures);
const isExplained = first.failed === first.failures.length;
const mayRetry =
  first.failed > 0 &&
  isExplained &&
  first.failures.every(({ file }) => disturbed.some((folder) => file.startsWith(folder)));
const again = mayRetry ? await runTests([...new Set(first.failures.map(({ file }) => file))], "now") : first;
if (mayRetry) print("failed again", again.failures);
const passedOnRetry = mayRetry && again.failed === 0 ? first.failed : 0;
const failed = passedOnRetry > 0 && passedOnRetry <= maxPassedOnRetry ? 0 : first.failed;
if (passedOnRetry > 0) {
  print("passed on retry", first.failures);
  console.log(`${passedOnRetry} passed on retry`);
}
console.log(`${Math.max(0, first.tests - failed - first.skipped)} passed, ${failed} failed, ${first.skipped} skipped`);
process.exitCode = failed === 0 ? 0 : 1;
