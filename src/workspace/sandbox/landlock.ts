/** Landlock rules of a tape: a second protection of files behind own mounts, else the first. */

import { readdirSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { orNull } from "../../core/error.ts";
import { entryAt } from "../../system/lookups.ts";
import { type Confinement, type Hidden, type LandlockRule, workspaceFd } from "./confinement.ts";
import { currentFolder, type Label, openFlags, type Tape } from "./tape.ts";

const right = {
  execute: 1,
  writeFile: 2,
  readFile: 4,
  readFolder: 8,
  removeFolder: 16,
  removeFile: 32,
  makeCharacterDevice: 64,
  makeFolder: 128,
  makeFile: 256,
  makeSocket: 512,
  makePipe: 1024,
  makeBlockDevice: 2048,
  makeLink: 4096,
  refer: 8192,
  truncate: 16384,
  control: 32768,
  reachSocket: 65536,
} as const;
const firstVersion = 0x1fff;
/** Linux 7.1 or later. */
export const firstWithSockets = 9;
const readRights = right.execute | right.readFile | right.readFolder;
/** All that the rule of a file may name. */
const fileRights = right.execute | right.writeFile | right.readFile | right.truncate | right.control;
const tcpRights = 3;
const allScopes = 3;
const openPath = 0x200000;
/** Above the descriptors that adding rules opens, which are closed between batches. */
const rulesFd = 100;
const firstRuleFd = 6;
const rulesAtOnce = 80;

function rightsOf(rights: LandlockRule["rights"], handled: number): number {
  if (rights === "list") return right.readFolder;
  if (rights === "read") return readRights;
  if (rights === "device") return fileRights | right.readFolder;
  return handled & ~(right.makeCharacterDevice | right.makeBlockDevice | right.reachSocket);
}

/** A command may always reach its own sockets, and those of others only if the network is open. */
function handledBy(version: number, network: boolean): number {
  return (
    (version >= firstWithSockets && !network ? right.reachSocket : 0) |
    firstVersion |
    (version >= 2 ? right.refer : 0) |
    (version >= 3 ? right.truncate : 0) |
    (version >= 5 ? right.control : 0)
  );
}

export function addLandlock(tape: Tape, confinement: Confinement): void {
  const { landlock: version, way, network } = confinement;
  const handled = handledBy(version, network);
  const tcp = version >= 4 && way === "landlock" && !network ? tcpRights : 0;
  const bytes = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  const about = tape.words(handled, tcp, version >= 6 ? allScopes : 0);
  const ruleset = tape.call("landlock_create_ruleset", [about, bytes, 0]);
  tape.call("dup3", [ruleset, rulesFd, openFlags.closeOnExec], { note: "landlock_create_ruleset" });
  for (const [n, rule] of rulesOf(confinement).entries()) {
    if (n % rulesAtOnce === 0) tape.call("close_range", [firstRuleFd, rulesFd - 1, 0], { note: "close rules" });
    addRule(tape, rule, handled);
  }
  if (way === "landlock" && confinement.workspaceRights === "write") {
    // For the opened folder, whatever is at its path now.
    const rule = tape.words(rightsOf("write", handled), workspaceFd);
    tape.call("landlock_add_rule", [rulesFd, 1, rule, 0], { note: "rule for the workspace" });
  }
  tape.call("landlock_restrict_self", [rulesFd, 0]);
}

function addRule(tape: Tape, { path, isFolder, rights, mayBeGone }: LandlockRule, handled: number): void {
  const allowed = rightsOf(rights, handled) & handled & (isFolder ? ~0 : fileRights);
  const rule = tape.words(allowed, 0);
  const gone: Label = { record: null };
  tape.call("openat", [currentFolder, tape.text(path), openPath | openFlags.closeOnExec, 0], {
    storeAt: rule.offset + 8,
    note: `rule for ${path}`,
    ...(mayBeGone === true ? { onError: gone } : {}),
  });
  tape.call("landlock_add_rule", [rulesFd, 1, rule, 0], { note: `rule for ${path}` });
  tape.mark(gone);
}

const folder = (path: string, rights: LandlockRule["rights"]): LandlockRule => ({ path, isFolder: true, rights });

function rulesOf(confinement: Confinement): readonly LandlockRule[] {
  const { way, workspace, workspaceRights, writable, caches, temporary, outside, homes } = confinement;
  const own = [...writable, ...caches].map((path) => ruleFor(path, "write"));
  if (way === "landlock") return [...outside, ...own, ...(temporary === null ? [] : [folder(temporary, "write")])];
  // With private mounts these folders are the command's own.
  const scratch = ["/tmp", "/var/tmp", "/run", "/dev/shm", ...homes].filter((path) => ruleFor(path, "write").isFolder);
  return [
    ...(outside.length === 0 ? [folder("/", "read")] : [folder("/", "list"), ...outside]),
    ...scratch.map((path) => folder(path, "write")),
    folder("/dev", "device"),
    folder("/proc", "device"),
    folder(workspace, workspaceRights),
    ...own,
  ];
}

function ruleFor(path: string, rights: LandlockRule["rights"]): LandlockRule {
  return { path, isFolder: entryAt(path)?.isDirectory() ?? true, rights };
}

/**
 * Lets all but the hidden paths be read, even if these are replaced: a folder that holds one is opened child by child.
 * `isIsolated`: shared temporary folders need no care. `shown`: below hidden paths, and read all the same.
 */
export function readableRules(
  hidden: readonly Hidden[],
  isIsolated: boolean,
  shown: readonly string[] = [],
): readonly LandlockRule[] {
  const closed = new Set(hidden.map(({ path }) => path));
  const parted = new Set<string>();
  for (const path of closed) for (let at = dirname(path); !parted.has(at); at = dirname(at)) parted.add(at);
  const rules: LandlockRule[] = [];
  const add = (path: string): void => {
    if (closed.has(path)) return;
    const stat = entryAt(path);
    if (stat === undefined || stat.isSymbolicLink()) return;
    if (!parted.has(path)) rules.push({ path, isFolder: stat.isDirectory(), rights: "read", mayBeGone: true });
    else if (isIsolated || !isSharedScratch(stat)) {
      for (const name of namesIn(path, parted)) add(join(path, name));
    }
  };
  for (const path of ["/", ...shown]) add(path);
  const devices = ["null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts"].map((name) => `/dev/${name}`);
  const there = devices.filter((path) => entryAt(path) !== undefined);
  return [...rules, ...there.map((path) => ruleFor(path, "device"))];
}

/** Like /tmp, whose content keeps changing: if it holds a hidden path, all of it stays closed. */
const isSharedScratch = ({ mode }: Stats) => (mode & 0o1002) === 0o1002;

/** If it may not be listed, those that lead to a hidden path. */
const namesIn = (folder: string, parted: ReadonlySet<string>): readonly string[] =>
  orNull(() => readdirSync(folder)) ??
  [...parted].flatMap((path) => (dirname(path) === folder && path !== folder ? [basename(path)] : []));
