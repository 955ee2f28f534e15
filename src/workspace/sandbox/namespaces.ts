/** The tape up to Landlock: private mounts, processes and network, with the rest of the disk read-only. */
import { existsSync } from "node:fs";
import { release } from "node:os";
import { entryAt } from "../../system/lookups.ts";
import { type Confinement, type Hidden, maxProcesses, reportFd, workspaceFd } from "./confinement.ts";
import { contains } from "./folders.ts";
import {
  closeFrom,
  currentFolder,
  datagram,
  type Label,
  openFlags,
  type Tape,
  type TapePlace,
  type TapeResult,
  writeText,
} from "./tape.ts";

const mountFlags = {
  readOnly: 1,
  noSuid: 2,
  noDev: 4,
  noExec: 8,
  bind: 4096,
  recursive: 16384,
  private: 1 << 18,
} as const;
const attributes = { readOnly: 1, noSuid: 2, noDev: 4 } as const;
const clone = { closeOnExec: openFlags.closeOnExec, tree: 1, recursive: 0x8000 } as const;
const moveFromDescriptor = 4;
const namespaces = {
  mount: 0x20000,
  names: 0x4000000,
  ipc: 0x8000000,
  user: 0x10000000,
  processes: 0x20000000,
  network: 0x40000000,
} as const;
const SIGCHLD = 17;
const deathSignal = 1;
const SIGKILL = 9;
const setInterfaceFlags = 0x8914;
const interfaceUp = 0x41;

/** Replaced by empty folders that are private to the command. */
export const privateFolders = ["/tmp", "/var/tmp", "/run", "/dev/shm"] as const;
const deviceNames = ["null", "zero", "full", "random", "urandom", "tty"] as const;
const deviceLinks = {
  fd: "/proc/self/fd",
  stdin: "/proc/self/fd/0",
  stdout: "/proc/self/fd/1",
  stderr: "/proc/self/fd/2",
  ptmx: "pts/ptmx",
} as const;
/** Paths through which root could change the machine. */
export const protectedProc = "sys sysrq-trigger irq bus fs acpi asound scsi mtrr"
  .split(" ")
  .map((name) => `/proc/${name}`);

/** Every command sees an empty private folder there. */
export const isPrivate = (path: string): boolean =>
  [...privateFolders, "/dev"].some((folder) => contains(folder, path));

/** A command sees an empty folder there unless something is put there. */
export const isReplaced = (path: string, homes: readonly string[]): boolean =>
  isPrivate(path) || homes.some((home) => contains(home, path));

const isRealFolder = (path: string) => entryAt(path)?.isDirectory() === true;

/** After this the tape is process 1 of its own namespaces. */
export function addNamespaces(tape: Tape, confinement: Confinement, parents: (() => void)[]): void {
  const { network, userNamespace } = confinement;
  const wanted =
    namespaces.mount |
    namespaces.ipc |
    namespaces.names |
    (userNamespace ? namespaces.user : 0) |
    (network ? 0 : namespaces.network);
  // The working folder moves into the new mount namespace, a descriptor does not.
  tape.call("fchdir", [workspaceFd], { note: "enter the workspace" });
  // The descriptor would lead past every later mount.
  tape.call("close", [workspaceFd], { note: "close the workspace" });
  tape.call("unshare", [wanted]);
  if (userNamespace) mapUser(tape);
  const flags = mountFlags.recursive | mountFlags.private;
  tape.call("mount", [tape.text("none"), tape.text("/"), 0, flags, 0], { note: "private mounts" });
  addMounts(tape, confinement);
  if (!network) raiseLoopback(tape);
  forkCollected(tape, parents, namespaces.processes, "clone process namespace");
  tape.call("prctl", [deathSignal, SIGKILL, 0, 0, 0], { note: "die with pai" });
  mountType(tape, "proc", "/proc", mountFlags.noSuid | mountFlags.noDev | mountFlags.noExec, "", "proc");
  // The only process limit that also applies to root.
  if (hasOwnProcessLimit(release()))
    writeText(tape, "/proc/sys/kernel/pid_max", `${maxProcesses}`, { onError: "next", note: "limits" });
  for (const path of protectedProc) if (existsSync(path)) makeReadOnly(tape, path);
  const host = Buffer.from("sandbox");
  tape.call("sethostname", [tape.bytes(host), host.length]);
}

/** The child continues the tape, the parent waits for it and exits with its status. */
export function forkCollected(tape: Tape, parents: (() => void)[], flags: number, note: string): void {
  const parent: Label = { record: null };
  const child = tape.call("clone", [flags | SIGCHLD, 0, 0, 0, 0], { onPositive: parent, note });
  parents.push(() => {
    tape.mark(parent);
    tape.call("close", [reportFd], { onError: "next" });
    blockSignals(tape);
    tape.collect(child);
  });
}

/** Since TERM may be sent to the whole group. */
const blockSignals = (tape: Tape): void => {
  const all = tape.words(~(1n << BigInt(SIGKILL - 1)) & 0xffffffffffffffffn);
  tape.call("rt_sigprocmask", [0, all, 0, 8], { note: "block signals" });
};

/** Maps only the user that runs pai. */
function mapUser(tape: Tape): void {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const write = (path: string, text: string) => writeText(tape, path, text, { note: path });
  write("/proc/self/setgroups", "deny");
  write("/proc/self/uid_map", `${uid} ${uid} 1`);
  write("/proc/self/gid_map", `${gid} ${gid} 1`);
  // A file that is open for writing would keep its file system from becoming read-only.
  closeFrom(tape, workspaceFd, "close maps");
}

function addMounts(tape: Tape, confinement: Confinement): void {
  const { workspace, overlay, throughOverlay, submounts, writable, readable, readOnly, hidden, caches, fixed, homes } =
    confinement;
  const take = (note?: string) => (path: string) => ({ path, tree: takeTree(tape, path, note && `${note}${path}`) });
  const through = throughOverlay.map(take());
  const mounted = overlay === null ? [] : submounts.map(take("overlay over "));
  const ground = overlay === null ? takeTree(tape, ".", "take the workspace") : takeOverlay(tape, workspace, overlay);
  const kept = [{ path: workspace, tree: ground }, ...[...writable, ...readable].map(take()), ...through, ...mounted];
  const devices = deviceNames
    .filter((name) => existsSync(`/dev/${name}`))
    .map((name) => ({ name, tree: takeTree(tape, `/dev/${name}`, undefined, 0) }));
  const closed = attribute(tape, attributes.readOnly | attributes.noSuid | attributes.noDev);
  tape.call("mount_setattr", [currentFolder, tape.text("/"), clone.recursive, ...closed], { note: "read-only disk" });
  addCaches(tape, caches);
  const filled = caches.map(take());
  replaceFolders(tape, homes);
  replaceDevices(tape, devices);
  const placed = [...filled, ...kept];
  for (const { path, tree } of placed) {
    makeWay(tape, path, homes);
    place(tape, tree, path);
  }
  const isPlaced = (path: string) => placed.some((each) => contains(each.path, path));
  const seen = hidden.filter(({ path }) => !isReplaced(path, homes) || isPlaced(path));
  for (const path of fixed) bindOnItself(tape, path);
  for (const path of [...readable, ...mounted.map(({ path }) => path), ...readOnly]) makeReadOnly(tape, path);
  for (const each of seen) hide(tape, each);
}

const attribute = (tape: Tape, set: number = attributes.readOnly | attributes.noSuid) =>
  [tape.words(set, 0, 0, 0), 32] as const;

/** Its lower layer is the pinned folder, even if that was moved. */
function takeOverlay(tape: Tape, workspace: string, { upper, work }: NonNullable<Confinement["overlay"]>): TapeResult {
  const data = `lowerdir=.,upperdir=${escapeOption(upper)},workdir=${escapeOption(work)},userxattr`;
  mountType(tape, "overlay", workspace, 0, data, "overlay of the workspace");
  return takeTree(tape, workspace);
}

const escapeOption = (path: string) => path.replace(/[\\,:]/g, "\\$&");

function takeTree(tape: Tape, path: string, note = `take ${path}`, depth: number = clone.recursive): TapeResult {
  const flags = clone.tree | depth | clone.closeOnExec;
  return tape.call("open_tree", [currentFolder, tape.text(path), flags], { note });
}

const place = (tape: Tape, tree: TapeResult, path: string): void => {
  const [from, to] = [tape.text(""), tape.text(path)];
  tape.call("move_mount", [tree, from, currentFolder, to, moveFromDescriptor], { note: `place ${path}` });
};

function mountType(tape: Tape, type: string, path: string, flags: number, data: string, note: string): void {
  const name = tape.text(type);
  tape.call("mount", [name, tape.text(path), name, flags, data === "" ? 0 : tape.text(data)], { note });
}

/** A mount point cannot be renamed or removed. */
function bindOnItself(tape: Tape, path: string): TapePlace {
  const at = tape.text(path);
  tape.call("mount", [at, at, 0, mountFlags.bind | mountFlags.recursive, 0], { note: `bind ${path}` });
  return at;
}

function makeReadOnly(tape: Tape, path: string): void {
  const at = bindOnItself(tape, path);
  tape.call("mount_setattr", [currentFolder, at, clone.recursive, ...attribute(tape)], { note: `read-only ${path}` });
}

/** The upper layers are in memory, under the /tmp that the private one will cover. */
function addCaches(tape: Tape, caches: readonly string[]): void {
  if (caches.length === 0) return;
  mountType(tape, "tmpfs", "/tmp", mountFlags.noSuid | mountFlags.noDev, "mode=700,size=2g", "room for caches");
  for (const [n, path] of caches.entries()) {
    for (const layer of ["upper", "work"])
      tape.call("mkdirat", [currentFolder, tape.text(`/tmp/${layer}${n}`), 0o755], { note: "room for caches" });
    const data = `lowerdir=${escapeOption(path)},upperdir=/tmp/upper${n},workdir=/tmp/work${n},userxattr`;
    mountType(tape, "overlay", path, mountFlags.noSuid | mountFlags.noDev, data, `cache ${path}`);
  }
}

function replaceFolders(tape: Tape, homes: readonly string[]): void {
  for (const path of privateFolders) {
    if (path === "/dev/shm" || !isRealFolder(path)) continue;
    const data = path === "/run" ? "mode=755,size=16m" : "mode=1777,size=2g";
    mountType(tape, "tmpfs", path, mountFlags.noSuid | mountFlags.noDev, data, `private ${path}`);
  }
  for (const path of homes)
    mountType(tape, "tmpfs", path, mountFlags.noSuid | mountFlags.noDev, "mode=755,size=1g", `private ${path}`);
}

function replaceDevices(tape: Tape, devices: readonly { readonly name: string; readonly tree: TapeResult }[]): void {
  const note = "private /dev";
  mountType(tape, "tmpfs", "/dev", mountFlags.noSuid, "mode=755,size=64k", note);
  for (const { name, tree } of devices) {
    tape.call("mknodat", [currentFolder, tape.text(`/dev/${name}`), 0o100666, 0], { note });
    place(tape, tree, `/dev/${name}`);
  }
  for (const [name, target] of Object.entries(deviceLinks))
    tape.call("symlinkat", [tape.text(target), currentFolder, tape.text(`/dev/${name}`)], { note });
  for (const name of ["shm", "pts"]) tape.call("mkdirat", [currentFolder, tape.text(`/dev/${name}`), 0o755], { note });
  const shared = mountFlags.noSuid | mountFlags.noDev;
  mountType(tape, "tmpfs", "/dev/shm", shared, "mode=1777,size=1g", "private /dev/shm");
  const terminals = "newinstance,ptmxmode=0666,mode=620";
  mountType(tape, "devpts", "/dev/pts", mountFlags.noSuid | mountFlags.noExec, terminals, "private terminals");
  tape.call("mount_setattr", [currentFolder, tape.text("/dev"), 0, ...attribute(tape, attributes.readOnly)], { note });
}

/** To a path in an empty private folder. Existing ones are no failure. */
function makeWay(tape: Tape, path: string, homes: readonly string[]): void {
  const folder = [...privateFolders, ...homes].find((each) => contains(each, path) && path !== each);
  if (folder === undefined) return;
  const parts = path.slice(folder.length + 1).split("/");
  const isFolder = entryAt(path)?.isDirectory() ?? true;
  for (const n of parts.keys()) {
    const at = tape.text(`${folder}/${parts.slice(0, n + 1).join("/")}`);
    const note = `way to ${path}`;
    const options = { onError: "next", note } as const;
    if (!isFolder && n === parts.length - 1) tape.call("mknodat", [currentFolder, at, 0o100644, 0], options);
    else tape.call("mkdirat", [currentFolder, at, 0o755], options);
  }
}

/** All files are covered by the same node, as there may be more of them than descriptors. */
function hide(tape: Tape, { path, isFolder }: Hidden): void {
  if (!isFolder) {
    tape.call("mount", [tape.text("/dev/null"), tape.text(path), 0, mountFlags.bind, 0], { note: `hide ${path}` });
  } else {
    const flags = mountFlags.readOnly | mountFlags.noSuid | mountFlags.noDev;
    mountType(tape, "tmpfs", path, flags, "mode=555,size=4k", `hide ${path}`);
  }
}

/** It is down at first. */
function raiseLoopback(tape: Tape): void {
  const request = Buffer.alloc(40);
  request.write("lo");
  request.writeInt16LE(interfaceUp, 16);
  const { family, type } = datagram;
  const socket = tape.call("socket", [family, type | openFlags.closeOnExec, 0], { note: "loopback" });
  tape.call("ioctl", [socket, setInterfaceFlags, tape.bytes(request)], { note: "loopback" });
}

/** Since Linux 6.14 each process namespace has its own pid_max; before that the whole machine has one. */
export function hasOwnProcessLimit(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(".").map((part) => Number.parseInt(part, 10));
  return major > 6 || (major === 6 && minor >= 14);
}
