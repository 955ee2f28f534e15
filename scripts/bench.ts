/** Measures pai beside its budgets, as ratios to a compiled hello-world: `bun run bench [--context] [ROUNDS]`. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureContext } from "./bench/context.ts";
import { type Bench, envOf, interleave, type Measured, minOf, runOnce, runSmall, runTask } from "./bench/run.ts";
import { measureSandbox } from "./bench/sandbox.ts";
import { openScriptedServer } from "./bench/server.ts";
import { measureStreams } from "./bench/stream.ts";
import { buildFlags } from "./compile.ts";
import { renderTable } from "./table.ts";

const { values: asked, positionals } = parseArgs({
  options: { context: { type: "boolean", default: false } },
  allowPositionals: true,
});
const rounds = Number(positionals[0] ?? (asked.context ? 9 : 20));

function buildBoth(place: string): { hello: string; pai: string } {
  const source = join(place, "hello.ts");
  writeFileSync(source, 'console.log("hello");\n');
  const hello = join(place, "hello");
  const root = join(import.meta.dir, "..");
  const steps = [[...buildFlags, source, "--outfile", hello], [join(import.meta.dir, "build.ts")]];
  for (const args of steps) {
    const env = { ...process.env, PAI_DIST: place };
    const done = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", env });
    if (done.status !== 0) throw new Error(`${done.stdout}${done.stderr}`);
  }
  return { hello, pai: join(place, "pai") };
}

async function measureTimes(bench: Bench, hello: string): Promise<readonly Measured[]> {
  const start = (...command: readonly string[]) => runOnce(command, bench.place, envOf(bench));
  const [plain = [], version = [], help = []] = await interleave(rounds, [
    () => start(hello),
    () => start(bench.pai, "--version"),
    () => start(bench.pai, "--help"),
  ]);
  const [beside = [], tasks = []] = await interleave(rounds, [
    async () => ({ ...(await start(hello)), first: 0 }),
    () => runTask(bench),
  ]);
  const [small = []] = await interleave(rounds, [() => runSmall(bench)]);
  const walls = (samples: readonly { readonly wall: number }[]) => samples.map(({ wall }) => wall);
  const ratios = (values: readonly number[], base: readonly { readonly wall: number }[]) =>
    values.map((value) => value / minOf(walls(base)));
  return [
    { measure: "hello", values: walls(plain), unit: " ms" },
    { measure: "pai --version / hello", values: ratios(walls(version), plain), budget: 1.5, unit: " x" },
    { measure: "pai --help / hello", values: ratios(walls(help), plain), budget: 2.5, unit: " x" },
    {
      measure: "start to first request / hello",
      values: ratios(
        tasks.map(({ first }) => first),
        beside,
      ),
      budget: 5,
      unit: " x",
    },
    { measure: "task of two calls / hello", values: ratios(walls(tasks), beside), budget: 8, unit: " x" },
    { measure: "  its processor time", values: tasks.map(({ cpu }) => cpu), unit: " ms" },
    { measure: "  its peak memory", values: tasks.map(({ peak }) => peak), budget: 60, unit: " MB" },
    { measure: "small task with a check, 300 ms an answer", values: walls(small), budget: 400, unit: " ms" },
    { measure: "  what its one call sends", values: small.map(({ kilobytes }) => kilobytes), budget: 7.5, unit: " KB" },
  ];
}

const medianOf = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** The minimum is compared with the budget: anything above it is due to other work of the machine. */
function renderRow({ measure, values, budget, unit }: Measured): readonly string[] {
  if (values.length === 0) return [measure, "", "", "", ""];
  const write = (value: number) => `${value.toFixed(value < 100 ? 2 : 0)}${unit}`;
  const judged = budget === undefined ? ["", ""] : [`${budget}${unit}`, minOf(values) <= budget ? "yes" : "NO"];
  return [measure, write(minOf(values)), write(medianOf(values)), ...judged];
}

/** In memory if possible: the bench measures pai, not the disk and its other users. */
const place = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "pai-bench-"));
const server = openScriptedServer();
try {
  mkdirSync(join(place, "home"));
  const { hello, pai } = buildBoth(place);
  const bench: Bench = { place, pai, server, next: 0 };
  const measured = asked.context
    ? await measureContext(bench, hello, rounds)
    : [
        ...(await measureTimes(bench, hello)),
        ...(await measureSandbox(place, rounds)),
        ...(await measureStreams(bench, Math.ceil(rounds / 2))),
      ];
  console.log(renderTable([["measure", "min", "median", "budget", "met"], ...measured.map(renderRow)]));
} finally {
  await server.stop();
  rmSync(place, { recursive: true, force: true });
}
