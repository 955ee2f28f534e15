/** Measures pai's time to the first request, by project size: `bun run bench --context [ROUNDS]`. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Bench, envOf, type Measured, runOnce } from "./run.ts";
import { plainAnswer } from "./server.ts";

export interface FirstRequest {
  /** Milliseconds from the start of the process to its first request. */
  readonly first: number;
  /** Milliseconds of processor time of the whole process. */
  readonly cpu: number;
  /** Peak memory in megabytes, until the first request and of the whole process. */
  readonly peakThen: number;
  readonly peak: number;
  /** Its message about how it chose files. */
  readonly said: string;
}

const words =
  "parse render token value order user map list error cache store reader writer index query session path plan state change".split(
    " ",
  );
/** The task of the measured runs. */
export const request = "the reader of a cached query drops the session when its token is too old";
const commits = 4_000;

/** Pseudo-random numbers from 0 to 1, the same for each seed. */
function openRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** A project of Python files of about `size` characters, 40 in a folder, with a history. */
export function makeProject(root: string, files: number, size: number): void {
  const random = openRandom(files);
  const word = () => words[Math.floor(random() * words.length)] ?? "";
  const line = () => `    ${word()}_${word()}(self.${word()}, ${word()}${Math.floor(random() * 1000)})`;
  // Files share functions: what matters for the search is the amount of text.
  const functions = Array.from({ length: 400 }, () => {
    const body = Array.from({ length: 3 + Math.floor(random() * 20) }, line).join("\n");
    return `def ${word()}_${word()}(self):\n${body}\n`;
  });
  const areaOf = (at: number) => words[Math.floor(at / 280) % words.length];
  const pathOf = (at: number) => `src/${areaOf(at)}/part${Math.floor(at / 40)}/${word()}_${at}.py`;
  const paths = Array.from({ length: files }, (_, at) => pathOf(at));
  for (const path of paths) {
    let text = "";
    while (text.length < size * (0.4 + random())) text += `${functions[Math.floor(random() * functions.length)]}\n`;
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const stream = Array.from({ length: commits }, (_, at) => {
    const message = `${word()} ${word()}: ${word()} the ${word()} of ${word()}\n`;
    const changed = Array.from({ length: 1 + (at % 3) }, () => paths[Math.floor(random() * paths.length)] ?? "a.py");
    const edits = changed.map((path) => `M 100644 inline ${path}\ndata ${`${at}\n`.length}\n${at}\n`);
    return `commit refs/heads/main\ncommitter A <a@b.c> ${1_700_000_000 + at} +0000\ndata ${message.length}\n${message}${edits.join("\n")}\n`;
  });
  for (const args of [
    ["init", "-q", "-b", "main", root],
    ["-C", root, "fast-import", "--quiet", "--done"],
  ]) {
    const done = spawnSync("git", args, { input: `${stream.join("\n")}\ndone\n`, encoding: "utf8" });
    if (done.status !== 0) throw new Error(`git ${args[0]}: ${done.stderr}`);
  }
}

/** Peak memory of a process so far, in megabytes. */
function peakOf(pid: number): number {
  const [, kilobytes = "0"] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

async function askOnce(bench: Bench, cwd: string, home: string): Promise<FirstRequest> {
  let peakThen = 0;
  let pid = 0;
  bench.server.play([plainAnswer, plainAnswer], () => {
    if (peakThen === 0) peakThen = peakOf(pid);
  });
  const started = performance.now();
  const child = Bun.spawn([bench.pai, "plan", "-v", "-m", "gemini:gemini-3.5-flash", "--", request], {
    cwd,
    env: { ...envOf(bench), HOME: home },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  pid = child.pid;
  const said = await new Response(child.stderr).text();
  await child.exited;
  const [first] = bench.server.seen;
  if (first === undefined) throw new Error(`no request:\n${said}`);
  const usage = child.resourceUsage();
  return {
    first: first.at - started,
    cpu: Number(usage?.cpuTime.total ?? 0) / 1000,
    peakThen,
    peak: (usage?.maxRSS ?? 0) / 1024 / 1024,
    said: said
      .split("\n")
      .flatMap((each) => each.split("context: ")[1] ?? [])
      .join(" "),
  };
}

/** Measures one project; `beside` runs once in every round. */
async function measureProject(
  bench: Bench,
  files: number,
  size: number,
  rounds: number,
  beside: () => Promise<unknown>,
): Promise<readonly FirstRequest[]> {
  const root = join(bench.place, `project-${files}`);
  makeProject(root, files, size);
  const samples: FirstRequest[] = [];
  for (let round = -1; round < rounds; round += 1) {
    await beside();
    const sample = await askOnce(bench, root, join(bench.place, "home"));
    if (round >= 0) samples.push(sample);
  }
  rmSync(root, { recursive: true });
  return samples;
}

const firsts = (samples: readonly FirstRequest[]) => samples.map(({ first }) => first);
const rowsOf = (name: string, samples: readonly FirstRequest[], budget: number): Measured[] => [
  { measure: `${name}: first request`, values: firsts(samples), budget, unit: " ms" },
  { measure: "  processor time of the run", values: samples.map(({ cpu }) => cpu), unit: " ms" },
  { measure: "  peak memory until then", values: samples.map(({ peakThen }) => peakThen), unit: " MB" },
  { measure: "  peak memory of the run", values: samples.map(({ peak }) => peak), unit: " MB" },
];

/** For 100,000 files, a row's name contains pai's message about how it chose. */
export async function measureContext(bench: Bench, hello: string, rounds: number): Promise<readonly Measured[]> {
  // The first is shown whole, the second is too large for that.
  const roots = [500, 2_000].map((size) => {
    const root = join(bench.place, `project-20-of-${size}`);
    makeProject(root, 20, size);
    return { root, samples: [] as FirstRequest[] };
  });
  const hellos: number[] = [];
  const small = async () => {
    hellos.push((await runOnce([hello], bench.place, envOf(bench))).wall);
    for (const { root, samples } of roots) samples.push(await askOnce(bench, root, join(bench.place, "home")));
  };
  const middle = await measureProject(bench, 5_000, 6_800, rounds, small);
  const large = await measureProject(bench, 100_000, 2_000, Math.ceil(rounds / 3), small);
  const [whole = [], ranked = []] = roots.map(({ samples }) => firsts(samples));
  const ratios = (values: readonly number[]) => values.map((first) => first / Math.min(...hellos));
  return [
    { measure: "hello", values: hellos, unit: " ms" },
    { measure: "20 files, shown whole: first request / hello", values: ratios(whole), budget: 5, unit: " x" },
    { measure: "20 files with 45 KB in all, ranked: the same", values: ratios(ranked), budget: 5, unit: " x" },
    ...rowsOf("5,000 files, 26 MB", middle, 350),
    ...rowsOf("100,000 files", large, 2_500),
    { measure: `  it said: ${large[0]?.said || "nothing"}`, values: [], unit: "" },
  ];
}
