/** The way to L3b: bwrap makes the namespaces where only that program may (Ubuntu), the tape does the rest inside it. */
import { existsSync } from "node:fs";
import type { Confinement } from "./confinement.ts";
import { isReplaced, protectedProc } from "./namespaces.ts";

/** The path that AppArmor's profile names; a bwrap elsewhere has no such rights. */
const program = "/usr/bin/bwrap";

export const hasBubblewrap = (): boolean => existsSync(program);

/** The command line that comes before the tape. It knows no caches and no overlay. */
export function wrap({
  workspace,
  writable,
  readable,
  readOnly,
  hidden,
  fixed,
  network,
}: Confinement): readonly string[] {
  const kept = [workspace, ...writable, ...readable];
  const isSeen = (path: string) => !isReplaced(path) || kept.some((each) => path.startsWith(`${each}/`));
  const masks = hidden.filter(({ path }) => isSeen(path));
  return [
    program,
    ...["--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"],
    ...(network ? [] : ["--unshare-net"]),
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    ...protectedProc.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", path, path]),
    ...["/tmp", "/var/tmp", "/run"].flatMap((path) => ["--tmpfs", path]),
    ...[workspace, ...writable, ...fixed].flatMap((path) => ["--bind", path, path]),
    ...[...readable, ...readOnly].flatMap((path) => ["--ro-bind", path, path]),
    ...masks.flatMap(({ path, isFolder }) =>
      isFolder ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path],
    ),
    "--",
  ];
}
