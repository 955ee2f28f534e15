/** Where tests make their folders: below the grounds of this run, which go when the process that opened them is gone. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { accessSync, chmodSync, constants, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * `disk`: below the folder for temporary files, where `tmpdir()` points in a test. `memory`: where a sync costs nothing.
 * `checkout`: outside of /tmp, which sandboxes replace.
 */
export type Ground = "disk" | "memory" | "checkout";
type Grounds = Readonly<Record<Ground, string>>;

const variable = "PAI_TEST_GROUNDS";

/**
 * Waits until its input ends, with whoever held it, and removes what is there: also folders that its own user may not
 * enter. Files keep their modes, as some are second names of files elsewhere.
 */
const reaper = `trap '' HUP INT TERM; read -r _
find "$@" -type d ! -perm -700 -exec chmod u+rwx {} \\;
rm -rf "$@"`;

export interface OpenedGrounds {
  /** What the processes of the run need in their environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Removes all of them. */
  readonly close: () => Promise<void>;
}

function choose(): Grounds {
  const id = `pai-test-${randomBytes(4).toString("hex")}`;
  const disk = join(tmpdir(), id);
  const checkout = join(import.meta.dir, "../dist", `.${id}`);
  try {
    accessSync("/dev/shm", constants.W_OK);
    return { disk, memory: join("/dev/shm", id), checkout };
  } catch {
    return { disk, memory: disk, checkout };
  }
}

export function openGrounds(): OpenedGrounds {
  const grounds = choose();
  const child = spawn("/bin/sh", ["-c", reaper, "sh", ...Object.values(grounds)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  child.unref();
  for (const ground of Object.values(grounds)) mkdirSync(ground, { recursive: true });
  // As /tmp is: some tests work as other users.
  for (const ground of [grounds.disk, grounds.memory]) chmodSync(ground, 0o1777);
  chmodSync(grounds.checkout, 0o755);
  return {
    env: { TMPDIR: grounds.disk, [variable]: JSON.stringify(grounds) },
    async close() {
      child.ref();
      child.stdin.end();
      await ended;
    },
  };
}

/** Opens grounds for this process unless the runner has opened some for the whole run. */
export function needGrounds(): void {
  if (process.env[variable] === undefined) Object.assign(process.env, openGrounds().env);
}

/** What a process with an environment of its own needs to use them. */
export const groundsEnv = (): Readonly<Record<string, string>> =>
  Object.fromEntries(["TMPDIR", variable].flatMap((name) => [[name, process.env[name] ?? ""]]));

/** A new folder whose name begins so. Outside of a run of tests it is a temporary folder like any other. */
export function newFolder(on: Ground, name: string): string {
  const grounds = JSON.parse(process.env[variable] ?? "{}") as Partial<Grounds>;
  return mkdtempSync(join(grounds[on] ?? tmpdir(), `pai-${name}-`));
}

/** Removes a folder of a test; what its own user may not enter goes with the ground. */
export function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EACCES") throw thrown;
  }
}
