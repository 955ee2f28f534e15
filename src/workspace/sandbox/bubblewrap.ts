/** The way to L3b: bwrap makes the namespaces where only that program may (Ubuntu), the tape does the rest inside it. */
import { existsSync } from "node:fs";
import type { Confinement } from "./confinement.ts";
import { tapeFd } from "./launch.ts";
import { isReplaced, protectedProc } from "./namespaces.ts";

/** The path that AppArmor's profile names; a bwrap elsewhere has no such rights. */
const program = "/usr/bin/bwrap";

export const hasBubblewrap = (): boolean => existsSync(program);

/**
 * Ubuntu's profile of bwrap lets it run files that have a name only, and none in memory. bwrap before 0.5 cannot make one that
 * can be run.
 */
const tapeFile = "/run/pai-tape";

/** The command line that starts the tape. It knows no caches and no overlay. `asFile`: the tape is a file inside. */
export function wrap(confinement: Confinement, asFile: boolean): readonly string[] {
  const { workspace, writable, readable, readOnly, hidden, fixed, network } = confinement;
  const kept = [workspace, ...writable, ...readable];
  const isSeen = (path: string) => !isReplaced(path) || kept.some((each) => path.startsWith(`${each}/`));
  const masks = hidden.filter(({ path }) => isSeen(path));
  return [
    program,
    // A process 1 of bwrap's own would have more rights than the command, which may be able to write its memory.
    ...["--as-pid-1", "--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"],
    ...(network ? [] : ["--unshare-net"]),
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    ...protectedProc.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", path, path]),
    ...["/tmp", "/var/tmp", "/run"].flatMap((path) => ["--tmpfs", path]),
    ...[workspace, ...writable, ...fixed].flatMap((path) => ["--bind", path, path]),
    ...[...readable, ...readOnly].flatMap((path) => ["--ro-bind", path, path]),
    ...masks.flatMap(({ path, isFolder }) =>
      isFolder ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path],
    ),
    ...(asFile ? ["--perms", "0500", "--file", `${tapeFd}`, tapeFile] : []),
    "--",
    asFile ? tapeFile : `/proc/self/fd/${tapeFd}`,
  ];
}
