/** Runs one command in a new session: no terminal, no input, limited time and output, no process left behind. */
import { closeSync, existsSync, readdirSync } from "node:fs";
import { openClip } from "../../core/command/clip.ts";
import type { SandboxLevel } from "../../core/command/sandbox.ts";
import { orNull, PaiError, toPaiError } from "../../core/error.ts";
import type { CommandOptions, CommandResult } from "../../core/ports.ts";
import { waitAtMost } from "../../core/steps.ts";
import { openLibc } from "../../system/libc.ts";
import { textOfSystem } from "../../system/lookups.ts";
import { isIsolated, levelOf, lifelineFd, type Way } from "../sandbox/confinement.ts";
import type { StartedCommand } from "../sandbox/open-sandbox.ts";
import { explainFailure } from "../sandbox/reasons.ts";
import { openOutput, type PipeOutput } from "../system/pipe.ts";

export interface ShellOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onOutput?: CommandOptions["onOutput"] | undefined;
}

/** Exits 126 and 127 are the shell's "could not run". */
export type ShellResult = Pick<CommandResult, "exit" | "timedOut" | "output" | "ms">;

const keptBytes = 64 * 1024;
/** Of the last lines that are shown meanwhile, and the time between two looks at them. */
const shownBytes = 4096;
const shownMs = 200;
const floodBytes = 64 * 1024 * 1024;
const drainMs = 250;
const graceMs = 2000;

/** The score lets the kernel kill it before pai. A limit that is lower already stays. */
const limits = `{
command ulimit -c 0
command ulimit -f 16777216
command ulimit -u 8192 || command ulimit -p 8192
echo 500 >/proc/self/oom_score_adj
} 2>/dev/null
`;

/** One pipe keeps the order of both outputs. When pai's end of the lifeline closes, the watcher kills the group. */
const watched = (lifeline: number) => `( ( read -r _ <&${lifeline}; kill -KILL -$$ ) >/dev/null 2>&1 & )
exec "$0" "$@" ${lifeline}<&- 2>&1`;

const lifelineOfBare = 3;

interface Running {
  readonly child: Pick<Bun.Subprocess, "pid" | "exited" | "exitCode" | "signalCode">;
  readonly output: PipeOutput;
  readonly way: Way | null;
}

/** Without a sandbox. Starts before its first wait, so `cwd` need not outlive the call. Never throws. */
export async function runShell(
  command: string,
  options: ShellOptions & { readonly cwd: string },
): Promise<ShellResult> {
  const started = performance.now();
  let child: ReturnType<typeof spawnBare>;
  try {
    child = spawnBare(command, options);
  } catch (thrown) {
    return { exit: null, timedOut: false, output: toPaiError(thrown).message, ms: sinceMs(started) };
  }
  const result = await follow({ ...child, way: null }, options);
  const lifeline = child.child.stdio[lifelineOfBare];
  if (typeof lifeline === "number") closeSync(lifeline);
  return result;
}

/** The hidden paths may change during the set-up. */
const maxStarts = 3;

/** null: there is no sandbox. Throws sandbox_missing when its set-up fails; the command has then not run. */
export async function runConfined(
  command: string,
  options: ShellOptions,
  start: (
    argv: (isContained: boolean) => readonly string[],
    env: ShellOptions["env"],
  ) => Promise<StartedCommand | null>,
): Promise<(ShellResult & { readonly level: SandboxLevel }) | null> {
  const argv = (isContained: boolean) =>
    isContained ? [...shell(), command] : ["/bin/sh", "-c", watched(lifelineFd), ...shell(), command];
  for (let starts = 1; ; starts += 1) {
    const started = await start(argv, options.env);
    if (started === null) return null;
    const result = await follow(started, options);
    const level = levelOf(started.way);
    const failure = started.finish();
    if (failure === null) return { ...result, level };
    if (failure.step === "execve")
      return { ...result, level, exit: null, output: `it could not be started (${failure.errno})` };
    const mayPass = ["ENOENT", "ENOTDIR"].includes(failure.errno) || failure.step === "bubblewrap";
    if (mayPass && starts < maxStarts) continue;
    const why = `the command was not run, as its sandbox failed: ${explainFailure(failure)}`;
    const hint = "pai doctor says which sandbox works here; --sandbox off runs commands without one";
    throw new PaiError("sandbox_missing", why, { hint });
  }
}

const sinceMs = (started: number) => Math.round(performance.now() - started);

async function follow({ child, output, way }: Running, options: ShellOptions): Promise<ShellResult> {
  const started = performance.now();
  const clip = openClip({ head: keptBytes, tail: keptBytes, errors: 0 });
  const reader = output.stream.getReader();
  const isContained = way !== null && isIsolated(way);
  let why: "timeout" | "abort" | "flood" | null = null;
  let ending: Promise<boolean> | null = null;
  const processes = followProcesses(child.pid, isContained);
  const end = (reason: typeof why) => {
    why ??= reason;
    ending ??= processes.end(graceMs);
  };
  const timer = setTimeout(() => end("timeout"), options.timeoutMs);
  const watch = options.onOutput === undefined ? null : watchLines(options.onOutput);
  const onAbort = () => end("abort");
  process.once("exit", processes.kill);
  options.signal.addEventListener("abort", onAbort, { once: true });
  if (options.signal.aborted) onAbort();

  const read = (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clip.add(value);
      watch?.add(value);
      if (clip.total > floodBytes) end("flood");
    }
  })().catch(() => {});

  await child.exited;
  clearTimeout(timer);
  watch?.stop();
  options.signal.removeEventListener("abort", onAbort);
  await waitAtMost(read, drainMs);
  await reader.cancel().catch(() => {});
  output.close();
  // The process of bubblewrap ends before the last of the others.
  const areEnded = await (ending ?? (way === "namespaces" ? true : processes.end(graceMs)));
  processes.leave();
  process.off("exit", processes.kill);
  const left = areEnded ? "" : "\n[failed: a process that it started could not be ended]";
  const flood = why === "flood" ? `\n[ended: it wrote more than ${floodBytes / 1024 / 1024} MiB]` : "";
  return {
    exit: areEnded && why === null && child.signalCode === null ? child.exitCode : null,
    timedOut: why === "timeout",
    output: clip.text() + flood + left,
    ms: sinceMs(started),
  };
}

function watchLines(show: (lines: string) => void) {
  let end = Buffer.alloc(0);
  let isCut = false;
  let timer: ReturnType<typeof setTimeout> | null = null;
  const look = () => {
    timer = null;
    const [from, to] = [isCut ? end.indexOf(10) + 1 : 0, end.lastIndexOf(10)];
    if (to > from) show(end.subarray(from, to).toString("utf8"));
  };
  return {
    add(bytes: Uint8Array) {
      const all = Buffer.concat([end, bytes.subarray(-shownBytes)]);
      isCut ||= all.length > shownBytes;
      end = all.subarray(-shownBytes);
      timer ??= setTimeout(look, shownMs);
    },
    stop() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

const shell = (): readonly string[] =>
  existsSync("/bin/bash") ? ["/bin/bash", "--noprofile", "--norc", "-c"] : ["/bin/sh", "-c"];

function spawnBare(command: string, { cwd, env }: ShellOptions & { readonly cwd: string }) {
  const output = openOutput();
  try {
    const child = Bun.spawn(["/bin/sh", "-c", `${limits}${watched(lifelineOfBare)}`, ...shell(), command], {
      cwd,
      env,
      detached: true,
      stdio: ["ignore", output.writeFd, "ignore", "pipe"],
    });
    return { child, output };
  } catch (thrown) {
    output.close();
    throw thrown;
  } finally {
    closeSync(output.writeFd);
  }
}

const groups = new Set<number>();
const noHang = 1;
const shapes = { waitpid: { args: ["i32", "u64", "i32"], returns: "i32" } } as const;

/**
 * The processes of one command, those too that left its group and its session. `isContained`: none can leave the group and
 * outlive it, so nobody else is looked for.
 */
function followProcesses(group: number, isContained: boolean) {
  const { session: ours } = statOf(process.pid);
  const { begun } = statOf(group);
  const known = new Set<number>();
  groups.add(group);
  /** Orphans become children of pai (`protectProcess`). What it has started itself is older, or in its own session. */
  const isOrphan = ({ parent, session, begun: at }: ReturnType<typeof statOf>): boolean =>
    !isContained && parent === process.pid && at >= begun && session !== ours && !groups.has(session);
  const findRunning = (): readonly number[] => {
    const all = allProcesses().map(statOf);
    const mine = all.filter((each) => each.group === group || each.session === group || isOrphan(each));
    for (const { pid } of mine) known.add(pid);
    return mine.flatMap(({ pid, hasEnded }) => (hasEnded ? [] : [pid]));
  };
  const kill = (): void => {
    // All of the group at once: none of them can fork meanwhile.
    send(-group, "SIGKILL");
    for (const pid of findRunning()) send(pid, "SIGKILL");
  };
  return {
    /** Ends them: TERM, `graceMs` later KILL. False: ten seconds after the first KILL one of thousands is left. */
    async end(graceMs: number): Promise<boolean> {
      const killAt = performance.now() + graceMs;
      const asked = new Set<number>();
      for (let pause = 2; performance.now() < killAt + 10_000; pause = Math.min(pause * 2, 50)) {
        const running = findRunning();
        if (running.length === 0) return true;
        if (performance.now() >= killAt) kill();
        for (const pid of running) {
          if (!asked.has(pid)) send(pid, "SIGTERM");
          asked.add(pid);
        }
        await Bun.sleep(pause);
      }
      return false;
    },
    kill,
    /** From now on they are no command's; takes those that have ended off the list of processes, as their parent must. */
    leave(): void {
      groups.delete(group);
      // The command itself is waited for by who started it.
      known.delete(group);
      const libc = isContained || known.size === 0 ? null : openLibc(shapes);
      for (const pid of known) libc?.functions.waitpid(pid, 0, noHang);
    },
  };
}

const allProcesses = (): readonly number[] =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid);

/** `begun`: in ticks since the machine was started. */
function statOf(pid: number) {
  // "" for a process that has ended or belongs to another user.
  const stat = textOfSystem(`/proc/${pid}/stat`);
  // A name may hold blanks and brackets.
  const [state = "", ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [parent = Number.NaN, group = Number.NaN, session = Number.NaN] = fields.map(Number);
  return { pid, hasEnded: ["", "Z", "X"].includes(state), parent, group, session, begun: Number(fields[18]) };
}

/** It may have ended meanwhile, or not be ours to end. */
const send = (pid: number, signal: "SIGTERM" | "SIGKILL") => void orNull(() => process.kill(pid, signal));
