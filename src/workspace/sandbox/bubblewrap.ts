/** Has bwrap make the namespaces where only it may (Ubuntu); the tape does the rest inside. */
import { existsSync } from "node:fs";
import { type Confinement, tapeFd } from "./confinement.ts";
import { isReplaced, protectedProc } from "./namespaces.ts";

/** AppArmor's profile covers only this path; a bwrap elsewhere lacks the rights. */
const program = "/usr/bin/bwrap";

export const hasBubblewrap = (): boolean => existsSync(program);

/** Ubuntu's profile lets bwrap execute files with a path only; bwrap before 0.5 cannot make an executable one. */
const tapeFile = "/run/pai-tape";

/** Without caches and overlay. */
export function wrapInBubblewrap(confinement: Confinement): readonly string[] {
  const { workspace, writable, readable, readOnly, hidden, fixed, homes, network, asFile } = confinement;
  const kept = [workspace, ...writable, ...readable];
  const isSeen = (path: string) => !isReplaced(path, homes) || kept.some((each) => path.startsWith(`${each}/`));
  const masks = hidden.filter(({ path }) => isSeen(path));
  return [
    program,
    // A process 1 made by bwrap would have more rights than the command, which might be able to write its memory.
    ...["--as-pid-1", "--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"],
    ...(network ? [] : ["--unshare-net"]),
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    ...protectedProc.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", path, path]),
    ...["/tmp", "/var/tmp", "/run", ...homes].flatMap((path) => ["--tmpfs", path]),
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
