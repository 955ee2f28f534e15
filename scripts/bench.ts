/** Measures pai against a compiled hello-world and prints ratios: `bun run bench [--context] [ROUNDS]`. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureCheck } from "./bench/check.ts";
import { measureContext } from "./bench/context.ts";
import { prepareDiff } from "./bench/diff.ts";
import { countCalls, renderRequest, tokensIn } from "./bench/modes.ts";
import { type Bench, runOnce, runTask, traceTask } from "./bench/run.ts";
import { prepareStarts } from "./bench/sandbox.ts";
import { openScriptedServer } from "./bench/server.ts";
import { measureStreams } from "./bench/stream.ts";
import type { Folder } from "./bench/task.ts";
import { buildFlags } from "./compile.ts";

const { values: asked, positionals } = parseArgs({
  options: { context: { type: "boolean", default: false } },
  allowPositionals: true,
});
const rounds = Number(positionals[0] ?? (asked.context ? 9 : 20));

interface Row {
  readonly measure: string;
  readonly min: string;
  readonly median: string;
  readonly target: string;
  readonly met: string;
}

function buildBoth(place: string): { hello: string; pai: string } {
  const source = join(place, "hello.ts");
  writeFileSync(source, 'console.log("hello");\n');
  const hello = join(place, "hello");
  const root = join(import.meta.dir, "..");
  const steps = [[...buildFlags, source, "--outfile", hello], [join(import.meta.dir, "build.ts")]];
  for (const args of steps) {
    const done = spawnSync(process.execPath, args, {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, PAI_DIST: place },
    });
    if (done.status !== 0) throw new Error(`${done.stdout}${done.stderr}`);
  }
  return { hello, pai: join(place, "pai") };
}

/** Runs every program once in each round, so that a busy moment of the machine affects all of them. */
async function interleave<T>(programs: readonly (() => Promise<T>)[]): Promise<readonly (readonly T[])[]> {
  const samples = programs.map((): T[] => []);
  for (let round = -1; round < rounds; round += 1) {
    for (const [at, program] of programs.entries()) {
      const sample = await program();
      if (round >= 0) samples[at]?.push(sample);
    }
  }
  return samples;
}

const minOf = (values: readonly number[]) => Math.min(...values);
const medianOf = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

interface Judged {
  readonly min: number;
  readonly median: number;
  readonly limit: number;
  readonly unit: string;
}

/** The minimum is compared with the limit: anything above it is due to other work of the machine. */
function judge(measure: string, { min, median, limit, unit }: Judged): Row {
  const write = (value: number) => `${value.toFixed(value < 100 ? 2 : 0)}${unit}`;
  return {
    measure,
    min: write(min),
    median: write(median),
    target: `<= ${limit}${unit}`,
    met: min <= limit ? "yes" : "NO",
  };
}

const exact = (measure: string, value: number, limit: number, unit: string): Row =>
  judge(measure, { min: value, median: value, limit, unit });

async function measureTimes(bench: Bench, hello: string): Promise<readonly Row[]> {
  const env = { PATH: "/usr/bin:/bin", HOME: join(bench.place, "home") };
  const start = (...command: readonly string[]) => runOnce(command, bench.place, env);
  const [plain = [], version = [], help = []] = await interleave([
    () => start(hello),
    () => start(bench.pai, "--version"),
    () => start(bench.pai, "--help"),
  ]);
  const [beside = [], short = [], long = []] = await interleave([
    async () => ({ ...(await start(hello)), first: 0 }),
    () => runTask(bench, "small", 1),
    () => runTask(bench, "small", 3),
  ]);
  const walls = (samples: readonly { readonly wall: number }[]) => samples.map(({ wall }) => wall);
  const ratio = (values: readonly number[], base: readonly number[], limit: number) => ({
    min: minOf(values) / minOf(base),
    median: medianOf(values) / medianOf(base),
    limit,
    unit: " x",
  });
  const [one, three] = [walls(short), walls(long)];
  const plainly = (values: readonly number[], limit: number, unit: string) => ({
    min: minOf(values),
    median: medianOf(values),
    limit,
    unit,
  });
  const base = walls(beside);
  console.log(`hello: min ${minOf(base).toFixed(1)} ms, median ${medianOf(base).toFixed(1)} ms; ${rounds} rounds\n`);
  return [
    judge("pai --version / hello", ratio(walls(version), walls(plain), 1.5)),
    judge("pai --help / hello", ratio(walls(help), walls(plain), 2)),
    judge(
      "start to first request / hello",
      ratio(
        short.map(({ first }) => first),
        base,
        4,
      ),
    ),
    judge("task of two calls / hello", ratio(one, base, 7.5)),
    judge(
      "peak memory of it",
      plainly(
        short.map(({ peak }) => peak),
        60,
        " MB",
      ),
    ),
    judge(
      "processor time of it",
      plainly(
        short.map(({ cpu }) => cpu),
        100,
        " ms",
      ),
    ),
    judge("one further phase", {
      min: (minOf(three) - minOf(one)) / 2,
      median: (medianOf(three) - medianOf(one)) / 2,
      limit: 5,
      unit: " ms",
    }),
  ];
}

/** Processor time of one long diff, without what a short one takes too. */
async function measureDiff(bench: Bench): Promise<readonly Row[]> {
  const [short = [], long = []] = await interleave([await prepareDiff(bench, 1), await prepareDiff(bench, 50)]);
  const spent = (choose: typeof minOf) => choose(long.map(({ cpu }) => cpu)) - choose(short.map(({ cpu }) => cpu));
  const row = { min: spent(minOf), median: spent(medianOf), limit: 30, unit: " ms" };
  return [judge("diff of 500 lines in colour", row)];
}

/** Milliseconds more than a direct spawn. */
const sandboxLimits: Readonly<Record<string, number>> = { full: 5, "full on a copy": 7, writes: 5 };

async function measureSandbox(bench: Bench): Promise<readonly Row[]> {
  const { direct, levels } = await prepareStarts(bench.place);
  const [base = [], ...others] = await interleave([direct, ...levels.values()]);
  return [...levels.keys()].map((level, at) => {
    const times = others[at] ?? [];
    const over = { min: minOf(times) - minOf(base), median: medianOf(times) - medianOf(base) };
    return judge(`a command at ${level}, over a direct spawn`, {
      ...over,
      limit: sandboxLimits[level] ?? 0,
      unit: " ms",
    });
  });
}

async function measureTrace(bench: Bench): Promise<readonly Row[]> {
  const trace = await traceTask(bench);
  if (trace === null) return [];
  return [
    exact("programs started unasked", trace.programs, 0, ""),
    { ...exact("waits for the disk (fsync)", trace.syncs, 0, ""), target: "", met: "" },
  ];
}

const folders: readonly (readonly [Folder, string])[] = [
  ["empty", "empty folder"],
  ["small", "small folder"],
  ["large", "2,000 files"],
];

/** Sizes of the requests of a task. */
async function measureSizes(bench: Bench): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [folder, name] of folders) {
    const { bodies } = await runTask(bench, folder, 1);
    const tokens = bodies
      .map(renderRequest)
      .reduce((sum, { text, schema }) => sum + tokensIn(text.length + schema.length), 0);
    for (const [at, body] of bodies.entries()) {
      const limit = folder === "large" ? 48 : 8;
      rows.push(exact(`${name}: request ${at + 1}`, Buffer.byteLength(body) / 1024, limit, " KB"));
    }
    rows.push(
      folder === "empty"
        ? exact(`${name}: both requests`, tokens, 1500, " tokens")
        : { ...exact(`${name}: both requests`, tokens, 0, " tokens"), target: "", met: "" },
    );
  }
  return rows;
}

async function measureCalls(bench: Bench): Promise<readonly Row[]> {
  const counted = await countCalls(bench);
  return counted.flatMap(({ mode, calls, promised, sent }) => [
    exact(`BMI task, ${mode}`, calls, promised, " calls"),
    ...sent.map(({ tokens, repeated }, at) => ({
      ...exact(`  call ${at + 1}, of it ${repeated} repeated`, tokens, 0, " tokens"),
      target: "",
      met: "",
    })),
  ]);
}

/** The time to the first request in projects of three sizes, and what a check adds in the largest. */
async function measureProjects(bench: Bench, hello: string): Promise<readonly Row[]> {
  const rows = [...(await measureContext(bench, hello, rounds)), ...(await measureCheck(bench, Math.ceil(rounds / 2)))];
  return rows.map(({ measure, values, limit, unit }) => {
    if (values.length === 0) return { measure, min: "", median: "", target: "", met: "" };
    const row = judge(measure, { min: minOf(values), median: medianOf(values), limit, unit });
    return limit === 0 ? { ...row, target: "", met: "" } : row;
  });
}

/** A reply that streams in pieces of 20 to 60 characters, read by `pai run --json`. */
async function measureReplies(bench: Bench): Promise<readonly Row[]> {
  const costs = await measureStreams(bench, Math.ceil(rounds / 2));
  const gemini = costs.find(({ bridge }) => bridge === "gemini")?.first ?? 0;
  return costs.flatMap(({ bridge, megabyte, growth, first }) => [
    exact(`${bridge}: a megabyte of reply, processor time`, megabyte, 150, " ms"),
    exact(`${bridge}: four megabytes / one`, growth, 4, " x"),
    ...(bridge === "replay" ? [] : [exact(`${bridge}: first request / gemini's`, first / gemini, 1.5, " x")]),
  ]);
}

function renderTable(rows: readonly Row[]): string {
  const all = [{ measure: "measure", min: "min", median: "median", target: "target", met: "met" }, ...rows];
  const columns = ["measure", "min", "median", "target", "met"] as const;
  const widths = columns.map((column) => Math.max(...all.map((row) => row[column].length)));
  const render = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const [head = "", ...body] = all.map((row) => render(columns.map((column) => row[column])));
  return [head, render(widths.map((width) => "-".repeat(width))), ...body].join("\n");
}

/** In memory if possible: the bench measures pai, not the disk and its other users. */
const place = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "pai-bench-"));
const server = openScriptedServer();
try {
  mkdirSync(join(place, "home"));
  const { hello, pai } = buildBoth(place);
  const bench: Bench = { place, pai, server, next: 0 };
  const table = async () =>
    renderTable([
      ...(await measureTimes(bench, hello)),
      ...(await measureDiff(bench)),
      ...(await measureTrace(bench)),
      ...(await measureSandbox(bench)),
      ...(await measureSizes(bench)),
      ...(await measureCalls(bench)),
      ...(await measureReplies(bench)),
    ]);
  console.log(asked.context ? renderTable(await measureProjects(bench, hello)) : await table());
} finally {
  await server.stop();
  rmSync(place, { recursive: true, force: true });
}
