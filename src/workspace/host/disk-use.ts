/** How full the disks are, which folders fill one, and what is deleted and still held open. Looks for two seconds at most. */

import { lstatSync, readdirSync, readlinkSync, type Stats, statfsSync, statSync } from "node:fs";
import { orNull } from "../../core/error.ts";
import { breathe } from "../../core/steps.ts";
import { alignRows } from "../../core/text.ts";
import { unescapeMount } from "../sandbox/mounts.ts";
import { type HostFiles, plainName, spellBytes } from "./host.ts";
import { pidsOf, readProcesses } from "./processes.ts";

const limits = { lookMs: 2000, folders: 15, files: 8, deleted: 8, path: 120 } as const;
/** A folder or file smaller than this share of all is not named. */
const smallShare = 0.02;
/** Of a folder whose one child holds this share of it only the child is named. */
const passShare = 0.9;
const largeFile = 10 * 1024 * 1024;

const kernelTypes =
  /^(?:proc|sysfs|cgroup2?|devpts|devtmpfs|mqueue|debugfs|tracefs|securityfs|pstore|bpf|configfs|fusectl|hugetlbfs|autofs|binfmt_misc|efivarfs|rpc_pipefs|nsfs|ramfs|squashfs)$/;
/** A look at one of these waits for a server that may be gone. */
const remoteTypes = /^(?:nfs\d?|cifs|smb\d?|smbfs|ceph|glusterfs|9p|afs|fuse\..*|fuseblk)$/;

/** The mounts of this process, the last of each place; with what the kernel only makes up where `all`. */
export function readMountTable(host: HostFiles, all: boolean) {
  const byPoint = new Map<string, { device: string; point: string; type: string; options: string }>();
  for (const line of host.read("/proc/self/mounts").split("\n")) {
    const [device = "", point = "", type = "", options = ""] = line.split(" ");
    if (point === "" || (!all && kernelTypes.test(type))) continue;
    byPoint.set(point, { device: unescapeMount(device), point: unescapeMount(point), type, options });
  }
  return [...byPoint.values()];
}

/** Disks with their use; bind mounts of one disk count once. */
function readDisks(host: HostFiles) {
  const byDisk = new Map<string, { point: string; type: string; size: number; used: number; inodes: number }>();
  for (const mount of readMountTable(host, false)) {
    if (remoteTypes.test(mount.type)) continue;
    try {
      const { bsize, blocks, bfree, bavail, files, ffree } = statfsSync(host.at(mount.point));
      // As df counts it: what only root may use counts as taken.
      const [used, size] = [(blocks - bfree) * bsize, (blocks - bfree + bavail) * bsize];
      const key = `${mount.device} ${mount.type} ${blocks} ${bfree} ${files}`;
      const isNearer = (byDisk.get(key)?.point.length ?? Number.POSITIVE_INFINITY) > mount.point.length;
      const inodes = files === 0 ? 0 : (files - ffree) / files;
      if (size > 0 && isNearer) byDisk.set(key, { ...mount, size, used, inodes });
    } catch {
      // A mount point that this user may not enter.
    }
  }
  return [...byDisk.values()].sort((a, b) => b.used / b.size - a.used / a.size);
}

interface Folder {
  readonly path: string;
  readonly above: Folder | null;
  readonly uid: number;
  size: number;
}

/** Adds up a folder within its own file system, hard links once. Throws the reason of `signal`. */
async function addUp(host: HostFiles, top: string, signal: AbortSignal | undefined) {
  const stat = statOf(host, top);
  const began = performance.now();
  const isOver = () => performance.now() - began > limits.lookMs;
  const folders: Folder[] = stat?.isDirectory() === true ? [{ path: top, above: null, uid: stat.uid, size: 0 }] : [];
  const files: { readonly path: string; readonly uid: number; readonly size: number }[] = [];
  const linked = new Set<number>();
  const add = (folder: Folder, path: string): void => {
    const found = statOf(host, path);
    if (found === null || found.dev !== stat?.dev || linked.has(found.ino)) return;
    const { uid } = found;
    const size = found.blocks * 512;
    folder.size += size;
    if (found.isDirectory()) folders.push({ path, above: folder, uid, size: 0 });
    else {
      if (found.nlink > 1) linked.add(found.ino);
      if (size >= largeFile) files.push({ path, size, uid });
    }
  };
  const addAll = (folder: Folder): boolean => {
    const names = orNull(() => readdirSync(host.at(folder.path)));
    for (const name of names ?? []) {
      add(folder, folder.path === "/" ? `/${name}` : `${folder.path}/${name}`);
      if (isOver()) break;
    }
    return names !== null;
  };
  let unreadable = 0;
  for (let at = 0; at < folders.length && !isOver(); at += 1) {
    if (!addAll(folders[at] as Folder)) unreadable += 1;
    await breathe(signal);
  }
  // Folders come before those below them, so from the end every sum is complete.
  for (const folder of folders.toReversed()) if (folder.above !== null) folder.above.size += folder.size;
  return { folders, files, total: folders[0]?.size ?? 0, unreadable, isPart: isOver() };
}

const statOf = (host: HostFiles, path: string): Stats | null => orNull(() => lstatSync(host.at(path)));

/** The largest folders, without those that only lead to another of them. */
function pickFolders(folders: readonly Folder[], total: number): readonly Folder[] {
  const largest = new Map<Folder | null, number>();
  for (const { above, size } of folders) largest.set(above, Math.max(size, largest.get(above) ?? 0));
  return folders
    .filter((each) => each.above !== null && each.size >= smallShare * total)
    .filter((each) => (largest.get(each) ?? 0) < passShare * each.size)
    .sort((a, b) => b.size - a.size)
    .slice(0, limits.folders);
}

/** The deleted file that a process holds open there; null: it is another thing, or takes no room. */
function deletedAt(host: HostFiles, pid: number, fd: string) {
  const path = host.at(`/proc/${pid}/fd/${fd}`);
  const target = orNull(() => readlinkSync(path)) ?? "";
  if (!target.endsWith(" (deleted)") || !/^\/(?!memfd:|dev\/|SYSV|\[)/.test(target)) return null;
  const stat = orNull(() => statSync(path));
  if (stat === null || stat.blocks === 0) return null;
  return { key: `${stat.dev}:${stat.ino}`, size: stat.blocks * 512, path: target.slice(0, -10), pid };
}

function renderDeleted(host: HostFiles): readonly string[] {
  const found = new Map<string, NonNullable<ReturnType<typeof deletedAt>>>();
  for (const pid of pidsOf(host)) {
    for (const fd of host.list(`/proc/${pid}/fd`) ?? []) {
      const deleted = deletedAt(host, pid, fd);
      if (deleted !== null && !found.has(deleted.key)) found.set(deleted.key, deleted);
    }
  }
  const largest = [...found.values()].sort((a, b) => b.size - a.size).slice(0, limits.deleted);
  if (largest.length === 0) return [];
  const named = readProcesses(host).map(({ pid, program, user }) => [pid, `${program} (pid ${pid}, ${user})`] as const);
  const holders = new Map(named);
  const lineOf = ({ size, path, pid }: (typeof largest)[number]) =>
    `${spellBytes(size)}  ${plainName(path, limits.path)}  held by ${holders.get(pid) ?? pid}`;
  return ["deleted and still open:", ...largest.map(lineOf)];
}

/** `filter`: the absolute path to look into; without one the fullest disk is looked into. */
export async function renderDisk(host: HostFiles, filter: string, signal?: AbortSignal): Promise<string> {
  const disks = readDisks(host);
  const table = disks.map(({ point, type, size, used, inodes }) => [
    plainName(point, limits.path),
    `${Math.round((100 * used) / size)} %`,
    `${spellBytes(used)} of ${spellBytes(size)}`,
    `inodes ${Math.round(100 * inodes)} %`,
    type,
  ]);
  const remote = readMountTable(host, false).filter(({ type }) => remoteTypes.test(type));
  const elsewhere = remote.map(({ point }) => plainName(point, 60)).join(" ");
  const top = filter.startsWith("/") ? filter.replace(/(?<=.)\/+$/, "") : (disks[0]?.point ?? "/");
  const { folders: all, files, total, isPart, unreadable } = await addUp(host, top, signal);
  const named = plainName(top, limits.path);
  const folders = pickFolders(all, total).map(({ path, size, uid }) => ({ path: `${path}/`, size, uid }));
  const large = files.toSorted((a, b) => b.size - a.size).filter(({ size }) => size >= smallShare * total);
  const shown = [...folders, ...large.slice(0, limits.files)];
  const rows = shown.map(({ path, size, uid }) => [spellBytes(size), host.userOf(uid), plainName(path, limits.path)]);
  const part = isPart ? "; after 2 s not all was seen: the sums are lower bounds, a folder looks closer" : "";
  return [
    ...alignRows([["disk", "used", "", "", "type"], ...table]),
    ...(remote.length === 0 ? [] : [`not looked at, since it is elsewhere: ${elsewhere}`]),
    `${named} holds ${spellBytes(total)}${part}${unreadable > 0 ? `; ${unreadable} folders could not be read` : ""}; largest folders and files:`,
    ...alignRows(rows),
    ...renderDeleted(host),
  ].join("\n");
}
