/** Measures what the sandbox adds to the start of a program: each level against a direct spawn. */
import { mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { levelOf, type Way } from "../../src/workspace/sandbox/confinement.ts";
import { removeLayers } from "../../src/workspace/sandbox/find-level.ts";
import { openSandbox, type Sandbox } from "../../src/workspace/sandbox/open-sandbox.ts";
import { defaultSandbox } from "../../src/workspace/sandbox/settings.ts";
import { interleave, type Measured, minOf } from "./run.ts";

const argv = ["/bin/true"];

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function startDirect(): Promise<void> {
  const child = Bun.spawn(argv, { cwd: "/", env: {}, detached: true, stdio: ["ignore", "pipe", "ignore"] });
  await new Response(child.stdout).text();
  await child.exited;
}

async function startIn(sandbox: Sandbox, isCopied: boolean): Promise<void> {
  const layers = isCopied ? await sandbox.makeLayers() : null;
  const request = { argv: () => argv, env: {}, by: "plan", stdin: "ignore", stderr: "merge", layers } as const;
  const started = await sandbox.start(request);
  if (started === null) throw new Error("the sandbox is gone");
  await new Response(started.output.stream).text();
  started.output.close();
  await started.child.exited;
  const failure = started.finish();
  if (layers !== null) removeLayers(layers);
  if (failure !== null) throw new Error(`${failure.step}: ${failure.errno}`);
}

/** Milliseconds more than a direct spawn. */
const budgets: Readonly<Record<string, number>> = { full: 5, "full on a copy": 8, writes: 5 };

/** What the levels add that this machine has. */
export async function measureSandbox(place: string, rounds: number): Promise<readonly Measured[]> {
  const workspace = join(place, "sandboxed");
  mkdirSync(join(workspace, ".git"), { recursive: true });
  const open = (only: Way): Sandbox =>
    openSandbox({
      settings: { ...defaultSandbox, only },
      workspace,
      workspaceFd: openSync(workspace, 0o10200000),
      rules: { allow: [], deny: [] },
      home: join(place, "home"),
      own: [],
      stateFolder: join(place, "state-of-sandbox"),
    });
  const levels = new Map<string, () => Promise<number>>();
  for (const only of ["namespaces", "landlock"] as const) {
    const sandbox = open(only);
    const { level, proposes } = await sandbox.state();
    if (level === null || level !== levelOf(only)) continue;
    levels.set(level, () => timed(() => startIn(sandbox, false)));
    if (proposes) levels.set("full on a copy", () => timed(() => startIn(sandbox, true)));
  }
  const [direct = [], ...others] = await interleave(rounds, [() => timed(startDirect), ...levels.values()]);
  return [...levels.keys()].map((level, at) => ({
    measure: `a command at ${level}, over a direct spawn`,
    values: (others[at] ?? []).map((time) => time - minOf(direct)),
    budget: budgets[level] ?? 0,
    unit: " ms",
  }));
}
