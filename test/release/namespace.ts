/** How a test gets mounts and roots of its own. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, linkSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Need, ownMounts } from "../needs.ts";
import { installer } from "./fixture.ts";

/** Each begins a command in a mount namespace of its own, as root there. */
const ways: readonly (readonly string[])[] = [
  ["unshare", "-m", "--"],
  ["unshare", "-rm", "--"],
];

/** The first way that works here; empty where none does. */
export const own: readonly string[] =
  ways.find(([command = "", ...args]) => {
    const script = "mount -t tmpfs none /mnt && chroot / true";
    return spawnSync(command, [...args, "sh", "-c", script], { stdio: "ignore" }).status === 0;
  }) ?? [];

/** Mounts of one's own, and another root in them. */
export const ownRoot: Need = { name: ownMounts.name, isHere: own.length > 0 };

const busybox = Bun.which("busybox");

/** A busybox without libraries: all that a root is made of. */
export const staticBusybox: Need = {
  name: "busybox (static)",
  isHere: busybox !== null && spawnSync("ldd", [busybox], { stdio: "ignore" }).status !== 0,
};

/** Names of programs that busybox is in a bare root. */
const applets = ["cat", "chmod", "id", "ls", "mkdir", "mv", "rm", "rmdir", "sh", "sha256sum", "tail", "tar", "uname"];

/** `PAI_RELEASE=dist/release`: a release takes minutes, so that it is made by hand. */
export const finished: Need = {
  name: "a finished release (PAI_RELEASE)",
  isHere: process.env["PAI_RELEASE"] !== undefined,
};

/** A copy that costs nothing where both are on one disk; what is there already stays. */
export function bring(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  if (existsSync(to)) return;
  try {
    linkSync(realpathSync(from), to);
  } catch {
    copyFileSync(from, to);
  }
}

const qemu = Bun.which("qemu-aarch64-static");
/** Where Debian puts the C library of another processor. */
const armLibraries = "/usr/aarch64-linux-gnu/lib";

/** What registers qemu for arm64 programs; in a user namespace of its own it is nobody else's matter. */
const register = `mount -t binfmt_misc none /proc/sys/fs/binfmt_misc && printf '%s' \
  ':arm64:M::\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00:\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff:${qemu}:F' \
  >/proc/sys/fs/binfmt_misc/register`;

/** Programs for arm64 run here, in a root of their own. */
export const armPrograms: Need = {
  name: "qemu with the C library for arm64",
  isHere:
    qemu !== null &&
    existsSync(armLibraries) &&
    spawnSync("unshare", ["-rm", "sh", "-c", register], { stdio: "ignore" }).status === 0,
};

/** The libraries that a program for arm64 asks for. */
export function fillArmLibraries(root: string): void {
  for (const name of ["ld-linux-aarch64.so.1", "libc.so.6", "libpthread.so.0", "libdl.so.2", "libm.so.6"])
    bring(join(armLibraries, name), join(root, "lib", name));
}

/** Fills a folder: busybox, the installer, the program as /bin/pai with its libraries. No /dev, no /etc. */
export function fillRoot(root: string, program: string | null): void {
  for (const name of ["bin", "proc", "tmp"]) mkdirSync(join(root, name), { recursive: true });
  bring(busybox ?? "", join(root, "bin/busybox"));
  for (const name of applets) symlinkSync("busybox", join(root, "bin", name));
  bring(installer, join(root, "install.sh"));
  if (program === null) return;
  bring(program, join(root, "bin/pai"));
  const { stdout } = spawnSync("ldd", [program], { encoding: "utf8" });
  for (const [library] of stdout.matchAll(/\/\S+/g)) bring(library, join(root, library));
}

interface RootOptions {
  /** Commands of sh beforehand, outside the root; $ROOT is its path. */
  readonly outside?: string;
  /** UID:GID inside. */
  readonly user?: string;
  /** Whether /proc is there. */
  readonly proc?: boolean;
  /** Programs for arm64 run, too. */
  readonly arm?: boolean;
  /** Variables besides PATH: NAME=value. */
  readonly env?: string;
}

/** Runs a script of sh in a root; its environment is PATH and nothing else. */
export function runInRoot(root: string, script: string, options: RootOptions = {}): SpawnSyncReturns<string> {
  const { outside = ":", user, proc = true, arm = false, env = "" } = options;
  const [command = "", ...args] = arm ? ["unshare", "-rm", "--"] : own;
  const chroot = `chroot ${user === undefined ? "" : `--userspec=${user} `}"$ROOT" /bin/sh -c "$SCRIPT"`;
  const commands = `mount --bind "$ROOT" "$ROOT"; ${proc ? 'mount --rbind /proc "$ROOT/proc"' : ":"}; ${arm ? register : ":"}; ${outside}\nenv -i PATH=/bin:/usr/sbin:/usr/bin ${env} ${chroot}`;
  return spawnSync(command, [...args, "sh", "-c", commands], {
    encoding: "utf8",
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ROOT: root, SCRIPT: script },
  });
}
