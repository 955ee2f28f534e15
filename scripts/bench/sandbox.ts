/** Measures what the sandbox adds to the start of a program: each level against a direct spawn. */
import { mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { levelOf, type Way } from "../../src/workspace/sandbox/confinement.ts";
import { removeLayers } from "../../src/workspace/sandbox/layers.ts";
import { openSandbox, type Sandbox } from "../../src/workspace/sandbox/open-sandbox.ts";
import { defaultSandbox } from "../../src/workspace/sandbox/settings.ts";

/** Starts `true` once; returns the time in ms. */
export type Start = () => Promise<number>;

export interface Starts {
  readonly direct: Start;
  /** Without levels that this machine lacks. */
  readonly levels: ReadonlyMap<string, Start>;
}

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

/** Opens the sandbox levels of this machine, before anything is measured. */
export async function prepareStarts(place: string): Promise<Starts> {
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
  const levels = new Map<string, Start>();
  for (const only of ["namespaces", "landlock"] as const) {
    const sandbox = open(only);
    const { level, proposes } = await sandbox.state();
    if (level === null || level !== levelOf(only)) continue;
    levels.set(level, () => timed(() => startIn(sandbox, false)));
    if (proposes) levels.set("full on a copy", () => timed(() => startIn(sandbox, true)));
  }
  return { direct: () => timed(startDirect), levels };
}
