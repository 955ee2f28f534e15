/** The sandbox on kernels and in containers that lack a part of what it uses; the calls fail as they do there. */
import { expect, test } from "bun:test";
import { openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { wrapInBubblewrap } from "../../../src/workspace/sandbox/bubblewrap.ts";
import type { Way } from "../../../src/workspace/sandbox/confinement.ts";
import { probe } from "../../../src/workspace/sandbox/find-level.ts";
import { explainFailure, type Knobs } from "../../../src/workspace/sandbox/reasons.ts";
import { groundsEnv, newFolder } from "../../grounds.ts";
import { needs, rootUser } from "../../needs.ts";
import { bareConfinement } from "./bare-confinement.ts";
import type { Refused } from "./refuse-calls.ts";
import { confinedBy, has } from "./ways.ts";

const calls = { memory: process.arch === "x64" ? 319 : 279, closeRange: 436, setMount: 442, landlock: 444 } as const;
const errnos = { EPERM: 1, EACCES: 13, EINVAL: 22, ENOSYS: 38, EOPNOTSUPP: 95 } as const;
const missing = (...names: readonly (keyof typeof calls)[]): readonly Refused[] =>
  names.map((name) => ({ call: calls[name], errno: errnos.ENOSYS }));
/** The flag that closes descriptors when a program starts. */
const closeOnExec = 4;
const noFlag = { call: calls.closeRange, flags: closeOnExec, errno: errnos.EINVAL };
const linux5_10 = [...missing("setMount", "landlock"), noFlag];
const linux5_4 = missing("setMount", "landlock", "closeRange");

interface Said {
  readonly level: string | null;
  readonly text: string;
  readonly why: string | null;
  readonly results: readonly { readonly exit: number | null; readonly output: string }[];
}

/** Runs one of the scripts while calls fail; `through`: a program that starts it all. */
function runWith(refused: readonly Refused[], words: readonly string[], through: readonly string[] = []) {
  const script = (name: string) => join(import.meta.dir, name);
  const [name = "", ...args] = words;
  const refusing = [process.execPath, script("refuse-calls.ts"), JSON.stringify(refused)];
  const program = [...refusing, process.execPath, script(name)];
  // A descriptor that pai was started with is none of a command's.
  const inherited = ["/bin/sh", "-c", 'exec "$@" 9</etc/passwd', "sh", ...through];
  const env = { PATH: "/usr/bin:/bin", HOME: process.env["HOME"] ?? "", ...groundsEnv() };
  const said = Bun.spawnSync([...inherited, ...program, ...args], { env });
  if (!said.success) throw new Error(said.stderr.toString());
  return JSON.parse(said.stdout.toString());
}

/** What the sandbox says of itself, and what a command of the plan and one of the user came to. */
const sayWith = (refused: readonly Refused[], command = "true", only: readonly Way[] = []): Said =>
  runWith(refused, ["say-level.ts", command, ...only]);

for (const [kernel, refused] of Object.entries({ "5.10": linux5_10, "5.4": linux5_4 })) {
  test(`Linux ${kernel}: the level that is named is one in which commands run`, () => {
    const { level, text, why, results } = sayWith(refused, "cat a.txt; ls /proc/self/fd | tr '\\n' ' '");
    expect(level).toBe(has("bubblewrap") ? "full" : null);
    expect(text).not.toContain("Landlock");
    expect(why).toContain("full: this kernel has no mount_setattr (Linux 5.12)");
    for (const { exit, output } of results) expect([exit, output]).toEqual([0, "a\n0 1 2 3 "]);
  });
}

test("programs in memory that a filter refuses: no level, its own words, what mends it once", () => {
  const { level, why } = sayWith([{ call: calls.memory, errno: errnos.EPERM }]);
  expect(level).toBeNull();
  expect(why).toContain("a filter of system calls refuses programs in memory (container) (memfd_create: EPERM)");
  expect(why?.split("--security-opt seccomp=unconfined").length).toBe(2);
});

needs(confinedBy("bubblewrap")).test("without Landlock a command cannot change the process that waits for it", () => {
  const { level, results } = sayWith(linux5_10, "(exec 6<>/proc/1/mem) 2>/dev/null && echo got in");
  expect([level, results.map(({ output }) => output)]).toEqual(["full", ["", ""]]);
});

test("a Landlock that is refused is not one that is missing", () => {
  const sayOf = (errno: number) => sayWith([{ call: calls.landlock, errno }], "true", ["landlock"]).why;
  expect(sayOf(errnos.EPERM)).toContain("writes: a filter of system calls refuses Landlock (container)");
  expect(sayOf(errnos.EOPNOTSUPP)).toContain("writes: Landlock is switched off");
  expect(sayOf(errnos.ENOSYS)).toContain("writes: this kernel has no Landlock");
});

for (const way of ["namespaces", "bubblewrap"] as const) {
  needs(confinedBy(way)).test(`${way} without Landlock: what may only read does not write`, () => {
    const answer = { level: "full", exit: 1, made: false };
    expect(runWith(missing("landlock"), ["write-reading.ts", way])).toEqual(answer);
  });
}

needs(rootUser, "setpriv", confinedBy("landlock")).test("root without capabilities has Landlock all the same", () => {
  const bare = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"];
  const read = { exit: 0, output: "a\n" };
  const said = runWith([], ["say-level.ts", "cat a.txt", "landlock"], bare);
  expect(said).toMatchObject({ level: "writes", results: [read, read] });
});

needs(confinedBy("bubblewrap")).test("where nothing may run in memory, the tape is started from a file", async () => {
  const workspace = newFolder("checkout", "file");
  const workspaceFd = openSync(workspace, 0o10200000);
  const confinement = bareConfinement("bubblewrap", workspace, { asFile: true });
  try {
    expect(wrapInBubblewrap(confinement).at(-1)).toMatch(/^\/run\//);
    expect(await probe(confinement, workspaceFd)).toBeNull();
  } finally {
    rmSync(workspace, { recursive: true });
  }
});

const plain: Knobs = { isCloneOff: false, isRestricted: false, profile: null, isFiltered: false };

test("each refusal is explained by what this machine says of itself", () => {
  const why = (step: string, errno: string, knobs: Partial<Knobs> = {}) =>
    explainFailure({ step, errno }, { ...plain, ...knobs });
  expect(why("unshare", "EPERM", { isCloneOff: true })).toBe(
    "ordinary users may not create namespaces (unshare: EPERM); sysctl kernel.unprivileged_userns_clone=1",
  );
  expect(why("unshare", "ENOSPC")).toContain("sysctl user.max_user_namespaces");
  expect(why("unshare", "EPERM", { isFiltered: true, isCloneOff: true })).toContain("(container)");
  for (const step of ["/proc/self/uid_map", "private mounts", "unshare"]) {
    expect(why(step, "EACCES", { isRestricted: true })).toContain("apparmor_restrict_unprivileged_userns=0");
    expect(why(step, "EACCES", { profile: "docker-default" })).toContain("profile docker-default refuses it");
  }
  expect(why("memfd_create", "EACCES")).toContain("sysctl vm.memfd_noexec=0");
  expect(why("landlock_create_ruleset", "ENOSYS")).toContain("Linux 5.13");
  expect(why("landlock_create_ruleset", "EOPNOTSUPP")).toContain("lsm=landlock");
  expect(why("landlock_create_ruleset", "EPERM")).toContain("a filter of system calls refuses Landlock");
  expect(why("no such step", "EIO")).toBe("no such step: EIO");
  const said = "setting up uid map: Permission denied";
  const failed = explainFailure({ step: "bubblewrap", errno: "exit 1", said }, plain);
  expect(failed).toBe(`bubblewrap could not set it up (bubblewrap: ${said})`);
});
