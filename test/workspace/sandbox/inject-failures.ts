/** Lets every set-up call of a tape fail, one at a time, and looks whether its command ran: `inject-failures.ts FOLDER`. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readableRules } from "../../../src/workspace/sandbox/landlock.ts";
import { findLandlock } from "../../../src/workspace/sandbox/memory-file.ts";
import { runProgram, writeConfinement } from "../../../src/workspace/sandbox/write-tape.ts";
import { bareConfinement } from "./bare-confinement.ts";

export interface Injected {
  readonly cases: number;
  /** The command was not run. */
  readonly stopped: number;
  /** The failed step was one that the sandbox can do without. */
  readonly harmless: number;
  /** Cases in which the command ran all the same. */
  readonly ran: readonly string[];
  /** Calls that were never made. */
  readonly missed: readonly string[];
}

const calls =
  `fchdir close unshare mount open_tree mount_setattr move_mount mkdirat mknodat symlinkat socket ioctl clone
  sethostname prctl capset landlock_create_ruleset landlock_add_rule landlock_restrict_self dup3 openat write prlimit64
  seccomp chdir close_range fcntl kill execve`.split(/\s+/);
const maxUses = 60;

/**
 * Steps whose failure leaves a command with less, never with more. Where strace may not read the texts of a tape, only
 * the score that decides who goes first when memory ends is written to like this. A path that Landlock has no rule for is
 * closed.
 */
const optional =
  /PR_CAPBSET_DROP|oom_score_adj|"500"|openat\(AT_FDCWD, 0x\w+, O_WRONLY\)|write\(-?\d+, 0x\w+, [34]\)|pid_max|"8192"|RLIMIT_(?:NPROC|FSIZE)|close\(3\)|O_RDONLY\|O_CLOEXEC\|O_PATH\)|mkdirat\(AT_FDCWD, "\/(?:tmp|var\/tmp|run|dev\/shm)\//;

function makeTape(folder: string, way: "namespaces" | "landlock"): string {
  const workspace = join(folder, "ws");
  for (const name of ["ws/.git", "ws/sub", "secret", "cache", "home/tool", "upper", "work"])
    mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(workspace, ".env"), "KEY=1\n");
  const hidden = [
    { path: join(workspace, ".env"), isFolder: false },
    { path: join(folder, "secret"), isFolder: true },
  ];
  const inNamespaces = way === "namespaces";
  const confinement = bareConfinement(way, workspace, {
    userNamespace: process.getuid?.() !== 0,
    overlay: inNamespaces ? { upper: join(folder, "upper"), work: join(folder, "work") } : null,
    readable: inNamespaces ? [join(folder, "home/tool")] : [],
    homes: inNamespaces ? [join(folder, "home")] : [],
    fixed: [join(workspace, "sub")],
    readOnly: [join(workspace, ".git")],
    hidden,
    caches: inNamespaces ? [join(folder, "cache")] : [],
    landlock: findLandlock().version,
    outside: readableRules(hidden.slice(1), inNamespaces),
  });
  const program = { argv: ["/bin/sh", "-c", "echo ran"], env: { PATH: "/usr/bin:/bin" }, mergeOutput: true };
  const tape = writeConfinement(confinement, (made) => runProgram(made, confinement, program));
  const file = join(folder, `tape-${way}`);
  writeFileSync(file, tape.assemble());
  chmodSync(file, 0o755);
  return file;
}

/** Whether the k-th use of a call was made to fail, and whether the command ran. */
function inject(folder: string, tape: string, call: string, use: number) {
  const log = join(folder, "log");
  rmSync(log, { force: true });
  // strace starts the tape by a call of its own.
  const when = call === "execve" ? use + 1 : use;
  const rules = ["-e", `trace=${call}`, "-e", `inject=${call}:error=EPERM:when=${when}`];
  const traced = ["strace", "-f", "-qq", "-o", log, ...rules];
  const done = Bun.spawnSync(["/bin/sh", "-c", 'exec "$@" 3>/dev/null 4<"$0"', join(folder, "ws"), ...traced, tape], {
    env: { PATH: "/usr/bin:/bin" },
    cwd: "/",
  });
  const lines = existsSync(log) ? readFileSync(log, "utf8").split("\n") : [];
  const failed = lines.filter((line) => line.includes("(INJECTED)"));
  return { failed, ran: done.stdout.toString().includes("ran") };
}

function injectAll(folder: string): Injected {
  const found = { cases: 0, stopped: 0, harmless: 0, ran: [] as string[], missed: [] as string[] };
  /** False: the call has no such use. */
  const count = (way: string, tape: string, call: string, use: number): boolean => {
    const { failed, ran } = inject(folder, tape, call, use);
    if (failed.length === 0) return false;
    found.cases += 1;
    if (!ran) found.stopped += 1;
    else if (failed.every((line) => optional.test(line))) found.harmless += 1;
    else found.ran.push(`${way} ${failed.join(" ")}`);
    return true;
  };
  for (const way of ["namespaces", "landlock"] as const) {
    const tape = makeTape(folder, way);
    const plain = inject(folder, tape, "acct", 1);
    if (!plain.ran) throw new Error(`the command confined by ${way} does not run even when nothing fails`);
    for (const call of calls) {
      let use = 1;
      while (use <= maxUses && count(way, tape, call, use)) use += 1;
      if (use === 1) found.missed.push(`${way} ${call}`);
    }
  }
  return found;
}

if (import.meta.main) console.log(JSON.stringify(injectAll(process.argv[2] ?? "")));
