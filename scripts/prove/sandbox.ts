/** Proves the sandbox: attacks and ordinary work at each level, failing set-up calls, a killed pai. */
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Attacked } from "../../test/workspace/sandbox/attack-levels.ts";
import type { Injected } from "../../test/workspace/sandbox/inject-failures.ts";
import type { Killed } from "../../test/workspace/sandbox/kill-pai.ts";

const tests = join(import.meta.dir, "../../test/workspace/sandbox");
/** Outside folders that the sandbox replaces, where even a useless sandbox would hide everything. */
const base = "/srv";
const ordinaryUser = 65_534;

interface Prepared {
  readonly folder: string;
  readonly bun: string;
  /** Runs a script as a user in that user's folder, and returns its parsed output. */
  readonly run: <T>(script: string, uid: number, args?: readonly string[]) => T;
}

/** Everything that an ordinary user needs, in a folder that everybody can enter. */
async function prepare(): Promise<Prepared> {
  const folder = mkdtempSync(join(base, "pai-prove-"));
  chmodSync(folder, 0o755);
  const bun = join(folder, "bun");
  copyFileSync(process.execPath, bun);
  chmodSync(bun, 0o755);
  const compiled = Bun.spawnSync(["cc", "-O1", "-o", join(folder, "probe"), join(tests, "probe.c")]);
  if (!compiled.success) throw new Error(`probe.c needs a C compiler: ${compiled.stderr}`);
  for (const script of ["attack-levels", "inject-failures", "kill-pai"]) {
    const built = await Bun.build({ entrypoints: [join(tests, `${script}.ts`)], target: "bun", outdir: folder });
    if (!built.success) throw new Error(built.logs.join("\n"));
  }
  const run = <T>(script: string, uid: number, args: readonly string[] = []): T => {
    const own = mkdtempSync(join(folder, `${script}-`));
    copyFileSync(join(folder, "probe"), join(own, "probe"));
    chmodSync(join(own, "probe"), 0o755);
    chownSync(own, uid, uid);
    const mine = process.getuid?.() === uid;
    const as = mine ? [] : ["setpriv", "--reuid", `${uid}`, "--regid", `${uid}`, "--clear-groups", "--"];
    const env = { PATH: "/usr/bin:/bin", PROVE_CANARY: "1" };
    const done = Bun.spawnSync([...as, bun, join(folder, `${script}.js`), own, ...args], { cwd: own, env });
    if (!done.success) throw new Error(`${script}: ${done.stderr}`);
    return JSON.parse(done.stdout.toString());
  };
  return { folder, bun, run };
}

const isWork = (name: string) => name.startsWith("+");

/** Throws if a level that promises full protection lets an attack through or prevents ordinary work. */
function judgeAttacks(user: string, all: readonly Attacked[]): void {
  const bare = all.find(({ way }) => way === "none")?.answers ?? {};
  const names = Object.keys(bare);
  const attacks = names.filter((name) => !isWork(name) && bare[name] === true);
  const work = names.filter((name) => isWork(name) && bare[name] === true);
  const tried = names.filter((name) => !isWork(name)).length;
  for (const { way, text, answers } of all) {
    if (way === "none") continue;
    if (Object.keys(answers).length === 0) {
      console.log(`${user} | ${way} | ${tried} | not to be had here: ${text}`);
      continue;
    }
    const open = attacks.filter((name) => answers[name] === true);
    const broken = work.filter((name) => answers[name] !== true);
    const works = `${work.length - broken.length} of ${work.length}`;
    console.log([user, way, tried, attacks.length, open.length, works].join(" | "));
    if (open.length > 0) console.log(`  open: ${open.join(" ")}`);
    if (broken.length > 0) console.log(`  broken: ${broken.join(" ")}`);
    const isWhole = way === "namespaces" || way === "bubblewrap";
    if (isWhole && open.length + broken.length > 0) throw new Error(`${way} does not hold for ${user}`);
  }
}

function judgeInjected(user: string, { cases, stopped, harmless, ran, missed }: Injected): void {
  console.log([user, cases, stopped, harmless, ran.length].join(" | "));
  if (ran.length > 0) throw new Error(`the command ran although its set-up failed: ${ran.join("; ")}`);
  if (missed.length > 0) console.log(`  never made by a tape: ${missed.join(" ")}`);
}

export async function prove(): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  const own = process.getuid?.() ?? 0;
  const users = isRoot
    ? ([
        ["root", 0],
        ["ordinary user", ordinaryUser],
      ] as const)
    : ([["ordinary user", own]] as const);
  mkdirSync(base, { recursive: true });
  const { folder, run } = await prepare();
  try {
    console.log("user | way | attacks | work without a sandbox | open | ordinary work");
    for (const [user, uid] of users) judgeAttacks(user, run<readonly Attacked[]>("attack-levels", uid));
    if (Bun.which("strace") === null) console.log("\nskipped: failing set-up calls need strace");
    else {
      console.log("\nuser | failing set-up calls | not run | an optional step | run all the same");
      for (const [user, uid] of users) judgeInjected(user, run<Injected>("inject-failures", uid));
    }
    console.log("\nuser | way | processes before kill -9 of pai | after");
    for (const [user, uid] of users) {
      for (const { way, before, after } of run<readonly Killed[]>("kill-pai", uid)) {
        console.log([user, way, before, after].join(" | "));
        if (before === 0 || after > 0) throw new Error(`${after} processes outlive pai with ${way}`);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
