/** Finds the files of listening sockets: commands can connect to them even where the disk is read-only. */
// Landlock blocks such connections only from version 9 on (Linux 7.1).

import { readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { orNull } from "../../core/error.ts";
import { entryAt, namesOf, realPathOf, textOfSystem } from "../../system/lookups.ts";
import type { Hidden } from "./confinement.ts";
import { type Mount, readMounts, translatePath } from "./mounts.ts";

/** Sockets of services that act with rights of their own; closed even with the network. */
const powerfulSocket =
  /docker|podman|containerd|buildkit|cri-?o|lxd|incus|libvirt|qemu|snapd|systemd|dbus|bus$|agent|keyring|wayland|X11|\bX\d/i;

/** Below `/run`: services for programs with the network that answer queries and run nothing, even if root owns them. */
export const networkFolders = `systemd/resolve resolvconf NetworkManager postgresql mysqld redis memcached`.split(" ");
const ordinarySocket = new RegExp(`^/(?:var/)?run/(?:${networkFolders.join("|")})/|^/var/lib/mysql/`);

/** They may belong to another user or network namespace. */
const usualSockets = `/run/docker.sock /run/podman/podman.sock /run/containerd/containerd.sock /run/crio/crio.sock
  /run/buildkit/buildkitd.sock /run/dbus/system_bus_socket /var/snap/lxd/common/lxd/unix.socket /var/lib/lxd/unix.socket
  /var/lib/incus/unix.socket /run/libvirt/libvirt-sock /run/snapd.socket`.split(/\s+/);

/** With rights of its own, or those of the user. */
export function hasPowerfulSocket(): boolean {
  const isSocket = (path: string) => entryAt(path)?.isSocket() === true;
  return usualSockets.some(isSocket) || findSockets(false).length > 0;
}

/** `all`: also ordinary services of other users, such as a database. */
export function findSockets(all: boolean): readonly Hidden[] {
  const found = new Map<string, Hidden>();
  for (const path of [...namesHere(), ...keptElsewhere()]) {
    const real = realPathOf(path);
    const stat = real === null ? undefined : entryAt(real);
    if (real === null || stat?.isSocket() !== true) continue;
    if (all || hasRights(real, stat.uid)) found.set(real, { path: real, isFolder: false });
  }
  return [...found.values()];
}

/** A process of the user can do for a command what the user can. */
const hasRights = (path: string, owner: number): boolean =>
  powerfulSocket.test(path) || (owner === 0 ? !ordinarySocket.test(path) : owner === process.getuid?.());

const namesHere = (): readonly string[] => boundNames("/proc/net/unix").filter((name) => name.startsWith("/"));

const freshMs = 1000;
let kept: { readonly names: readonly string[]; readonly at: number } | null = null;

/** Every process has to be looked at. */
function keptElsewhere(): readonly string[] {
  if (kept === null || performance.now() - kept.at > freshMs) kept = { names: namesElsewhere(), at: performance.now() };
  return kept.names;
}

/** Relative to the folder of the process, or in other network namespaces. */
function namesElsewhere(): readonly string[] {
  const own = spaceOf("self");
  /** By network namespace. */
  const spaces = new Map<number, { readonly names: readonly string[]; readonly members: number[] }>();
  for (const entry of namesOf("/proc")) {
    const id = Number(entry);
    const space = Number.isInteger(id) ? spaceOf(id) : null;
    if (space === null) continue;
    const known = spaces.get(space);
    if (known !== undefined) known.members.push(id);
    else spaces.set(space, { names: boundNames(`/proc/${id}/net/unix`), members: [id] });
  }
  const ours = readMounts("self");
  return [...spaces].flatMap(([space, { names, members }]) => {
    const isOwn = space === own;
    const wanted = isOwn ? names.filter((name) => !name.startsWith("/")) : names;
    return wanted.length === 0 ? [] : placesOf(wanted, members, isOwn, ours);
  });
}

function placesOf(
  names: readonly string[],
  members: readonly number[],
  isOwn: boolean,
  ours: readonly Mount[],
): readonly string[] {
  const absolute = names.filter((name) => name.startsWith("/"));
  const relative = names.filter((name) => !name.startsWith("/"));
  const seen = new Set<string>();
  return members.flatMap((id) => {
    const folder = relative.length === 0 ? null : orNull(() => readlinkSync(`/proc/${id}/cwd`));
    const theirs = isOwn ? ours : readMounts(id);
    const about = `${folder} ${theirs.map(({ device, point }) => device + point).join()}`;
    if (seen.has(about)) return [];
    seen.add(about);
    const paths = [...absolute, ...(folder === null ? [] : relative.map((name) => join(folder, name)))];
    return isOwn ? paths : paths.flatMap((path) => translatePath(path, theirs, ours));
  });
}

/** Abstract names begin with @; the network namespace keeps commands off them. */
const boundNames = (table: string): readonly string[] =>
  textOfSystem(table)
    .split("\n")
    .slice(1)
    .flatMap((line) => /^(?:\S+\s+){7}([^@].*)$/.exec(line)?.[1] ?? []);

/** By the inode of its socket table; null: unknown. */
const spaceOf = (process: number | "self"): number | null => orNull(() => statSync(`/proc/${process}/net/unix`).ino);
