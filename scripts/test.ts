/**
 * Runs all tests, or those below the folders that are named, and ends with a plain count. No test found, none run, or one
 * that is skipped without naming what it lacks is a failure.
 */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { openGrounds } from "../test/grounds.ts";
import { wantOf } from "../test/needs.ts";

/** One seed for all property tests of this run. */
const seed = process.env["PAI_TEST_SEED"] ?? String(1 + Math.floor(Math.random() * 0x7ffffffe));

interface Failure {
  readonly file: string;
  readonly name: string;
  readonly message: string;
}

interface Outcome {
  readonly tests: number;
  readonly failed: number;
  readonly failures: readonly Failure[];
  /** File and name of each test that was skipped. */
  readonly skipped: readonly (readonly [file: string, name: string])[];
  /** Seconds by file. */
  readonly times: readonly (readonly [file: string, seconds: number])[];
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

/** Name of a test with those of the groups it stands in. */
const fullName = (tag: string) => [attribute(tag, "classname"), attribute(tag, "name")].filter(Boolean).join(" > ");

/** Reads a JUnit report of `bun test`. */
function readReport(xml: string): Outcome {
  const all = /<testsuites\b[^>]*>/.exec(xml)?.[0] ?? "";
  const total = (name: string) => Number(attribute(all, name));
  const failures = [...xml.matchAll(/(<testcase\b[^>]*[^/]>)\s*(<(?:failure|error)\b[^>]*>)([^<]*)/g)];
  const skipped = [...xml.matchAll(/(<testcase\b[^>]*[^/]>)\s*<skipped\b/g)];
  const files = [...xml.matchAll(/^ {2}<testsuite\b[^>]*>/gm)];
  return {
    tests: total("tests"),
    failed: total("failures") + total("errors"),
    failures: failures.map(([, tag = "", failure = "", text = ""]) => ({
      file: attribute(tag, "file"),
      name: fullName(tag),
      message: unescapeXml(text).trim() || attribute(failure, "message"),
    })),
    skipped: skipped.map(([, tag = ""]) => [attribute(tag, "file"), fullName(tag)]),
    times: files.map(([tag]) => [attribute(tag, "name"), Number(attribute(tag, "time"))]),
  };
}

/** Runs `bun test` and shows its output. A run that breaks off counts as one failure without a test's name. */
async function runTests(patterns: readonly string[]): Promise<Outcome> {
  const grounds = openGrounds();
  const report = join(grounds.env["TMPDIR"] ?? "", "junit.xml");
  const args = [
    "test",
    // One more than the machine has processors: many tests wait for a process or a clock.
    `--parallel=${availableParallelism() + 1}`,
    // Of each file: a terminal that 20 tests look at is busy with being looked at.
    "--max-concurrency=8",
    "--no-isolate",
    "--timings=dist/test-times.json",
    "--update-timings",
    "--reporter=junit",
    `--reporter-outfile=${report}`,
    ...patterns,
  ];
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: join(import.meta.dir, ".."),
    env: { ...process.env, ...grounds.env, PAI_TEST_SEED: seed },
    stdio: ["ignore", "inherit", "inherit"],
  });
  try {
    const code = await child.exited;
    const outcome = readReport(readFileSync(report, "utf8"));
    return code === 0 && outcome.tests > 0 ? outcome : { ...outcome, failed: Math.max(1, outcome.failed) };
  } catch {
    return { tests: 0, failed: 1, failures: [], skipped: [], times: [] };
  } finally {
    await grounds.close();
  }
}

console.log(`seed of the property tests: ${seed} (PAI_TEST_SEED=${seed} repeats it)`);
const { tests, failed, failures, skipped, times } = await runTests(process.argv.slice(2));

const slowest = [...times].sort(([, one], [, other]) => other - one).slice(0, 10);
console.log(`\nslowest: ${slowest.map(([file, seconds]) => `${file} ${seconds.toFixed(1)} s`).join(", ")}`);
for (const { file, name, message } of failures) console.log(`\nfailed: ${file}: ${name}\n${message}`);

const wants = new Map<string, number>();
const silent = skipped.filter(([, name]) => wantOf(name) === null);
for (const [file, name] of silent) console.log(`\nskipped without a reason: ${file}: ${name}`);
for (const [, name] of skipped) {
  const want = wantOf(name);
  if (want !== null) wants.set(want, (wants.get(want) ?? 0) + 1);
}
const most = [...wants].sort(([, one], [, other]) => other - one);
if (most.length > 0)
  console.log(`\nskipped for want of: ${most.map(([want, count]) => `${want} ${count}`).join(", ")}`);
const bad = failed + silent.length;
console.log(
  `${Math.max(0, tests - failed - skipped.length)} passed, ${bad} failed, ${skipped.length - silent.length} skipped`,
);
process.exitCode = bad === 0 ? 0 : 1;
