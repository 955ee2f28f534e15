/** Runs one command in a session of its own: no terminal, no input, bounded in time and output, nothing left running. */
import { closeSync, existsSync } from "node:fs";
import { toPaiError } from "../../core/error.ts";
import { openClip } from "./output.ts";
import { commandMark, endProcesses, killProcesses } from "./processes.ts";

export interface ShellOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface ShellResult {
  /** null: ended by a signal or a limit, or could not be started. 126 and 127 are the shell's "could not run". */
  readonly exit: number | null;
  readonly timedOut: boolean;
  readonly output: string;
  readonly ms: number;
}

const keptBytes = 64 * 1024;
const floodBytes = 64 * 1024 * 1024;
const drainMs = 250;
const graceMs = 2000;

/**
 * No core files, files of at most 8 GiB, at most 8192 processes of this user, and the first to go when memory ends: what
 * runs wild ends before pai and the machine do. A limit that is lower already, or that this shell does not know, stays.
 */
const limits = `command ulimit -c 0
command ulimit -f 16777216
command ulimit -u 8192 || command ulimit -p 8192
echo 500 >/proc/self/oom_score_adj`;

/**
 * Both outputs go through one pipe, in order. A watcher in the group waits for our end of pipe 3 to close, which
 * is our death or the end of the command, and then ends the group: a killed pai leaves nothing running.
 */
const prelude = `{
${limits}
} 2>/dev/null
( ( read -r _ <&3; kill -KILL -$$ ) >/dev/null 2>&1 & )
exec "$0" "$@" 3<&- 2>&1`;

/** Starts before it first waits, so `cwd` need not outlive the call. Never throws for what the command does. */
export async function runShell(command: string, options: ShellOptions): Promise<ShellResult> {
  const started = performance.now();
  const since = () => Math.round(performance.now() - started);
  const mark = crypto.randomUUID();
  let child: ReturnType<typeof spawn>;
  try {
    child = spawn(command, options, mark);
  } catch (thrown) {
    return { exit: null, timedOut: false, output: toPaiError(thrown).message, ms: since() };
  }

  const clip = openClip(keptBytes, keptBytes);
  const reader = child.stdout.getReader();
  let why: "timeout" | "abort" | "flood" | null = null;
  let ending: Promise<void> | null = null;
  const end = (reason: typeof why) => {
    why ??= reason;
    ending ??= endProcesses(child.pid, mark, graceMs);
  };
  const timer = setTimeout(() => end("timeout"), options.timeoutMs);
  const onAbort = () => end("abort");
  const onExit = () => killProcesses(child.pid, mark);
  process.once("exit", onExit);
  options.signal.addEventListener("abort", onAbort, { once: true });
  if (options.signal.aborted) onAbort();

  const read = (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clip.add(value);
      if (clip.total > floodBytes) end("flood");
    }
  })().catch(() => {});

  await child.exited;
  clearTimeout(timer);
  options.signal.removeEventListener("abort", onAbort);
  await Promise.race([read, Bun.sleep(drainMs)]);
  await reader.cancel().catch(() => {});
  await (ending ?? endProcesses(child.pid, mark, graceMs));
  process.off("exit", onExit);
  const lifeline = child.stdio[3];
  if (typeof lifeline === "number") closeSync(lifeline);
  const flood = why === "flood" ? `\n[ended: it wrote more than ${floodBytes / 1024 / 1024} MiB]` : "";
  return {
    exit: why === null && child.signalCode === null ? child.exitCode : null,
    timedOut: why === "timeout",
    output: clip.text() + flood,
    ms: since(),
  };
}

function spawn(command: string, { cwd, env }: ShellOptions, mark: string) {
  const shell = existsSync("/bin/bash") ? ["/bin/bash", "--noprofile", "--norc", "-c"] : ["/bin/sh", "-c"];
  return Bun.spawn(["/bin/sh", "-c", prelude, ...shell, command], {
    cwd,
    env: { ...env, [commandMark]: mark },
    detached: true,
    stdio: ["ignore", "pipe", "ignore", "pipe"],
  });
}
