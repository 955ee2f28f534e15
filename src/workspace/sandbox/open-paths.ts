/** The paths of a confinement: hidden ones, readable and writable ones outside the workspace, sockets and caches. */

import { resolve } from "node:path";
import type { PathRules } from "../../core/closed-names.ts";
import { foldersAbove, type RelPath } from "../../core/path.ts";
import { entryAt } from "../../system/entry-at.ts";
import { realPathOf } from "../../system/lookups.ts";
import { type ClosedPaths, findClosedHomes, findClosedPaths } from "./closed-paths.ts";
import { type Confinement, type Hidden, isIsolated, type LandlockRule, type Way } from "./confinement.ts";
import type { FoundLevel } from "./find-level.ts";
import { contains } from "./folders.ts";
import { firstWithSockets, readableRules } from "./landlock.ts";
import { findSubmounts } from "./mounts.ts";
import { isPrivate, isReplaced } from "./namespaces.ts";
import type { SandboxSettings } from "./settings.ts";
import { findSockets, hasPowerfulSocket } from "./sockets.ts";

export interface PathOptions {
  readonly settings: SandboxSettings;
  /** Real path of the workspace. */
  readonly workspace: string;
  readonly rules: PathRules;
  readonly home: string | null;
  /** Not seen by commands. */
  readonly own: readonly string[];
  /** Folders outside the project that actions may change. */
  readonly also?: readonly string[];
}

/** Sockets and files of the resolver that a program with the network may use. */
const networkFolders = [
  "systemd/resolve",
  "resolvconf",
  "NetworkManager",
  "postgresql",
  "mysqld",
  "redis",
  "memcached",
];
/** The paths of one command after another. */
export function openPaths({ settings, workspace, rules, home, own, also = [] }: PathOptions, isRoot: boolean) {
  const absolute = (path: string) => {
    const whole = resolve(workspace, path.replace(/^~(?=\/|$)/, home ?? "~"));
    return realPathOf(whole) ?? whole;
  };
  const named = settings.readable.map(absolute);
  // What is closed within the folders beside the project stays hidden.
  const readable = [...named, ...also];
  const writable = settings.writable.map(absolute);
  const open = [...named, ...writable];
  const isClosed = ({ path }: Hidden) => !open.some((each) => contains(each, path));
  const isInside = (path: string) => path.startsWith(`${workspace}/`);
  const inside = (hidden: readonly Hidden[], mine: readonly string[], isLayered: boolean, isOwn: boolean) => ({
    readOnly: settings.git ? [] : mine,
    throughOverlay: settings.git && isLayered ? mine.filter((path) => isInRepository(path, workspace)) : [],
    submounts: isLayered ? findSubmounts(workspace) : [],
    // On a copy the folders of the workspace cannot be renamed in the original.
    fixed: isOwn && !isLayered ? foldersBetween([...hidden.map(({ path }) => path), ...mine], workspace) : [],
  });
  const rulesOutside = (way: Way, { hidden, homes }: ClosedPaths): readonly LandlockRule[] => {
    const isOwn = isIsolated(way);
    const closed = hidden.filter(({ path }) => !isInside(path) && !(isOwn && isPrivate(path)));
    const shown = [...homes.tools, ...homes.caches, ...readable];
    const made = readableRules([...closed, ...homes.covered.map(asFolder)], isOwn, shown);
    return isOwn && made.length > maxRules ? [] : made;
  };

  return {
    /** The user has opened it, or a folder above it. */
    isOpen: (path: string): boolean => open.some((each) => contains(each, path)),
    /** For each command: people and commands may have made a closed file since. */
    search: (): ClosedPaths => findClosedPaths({ workspace, rules, home, own, also, isRoot, open }),
    /** Whether a way works must not depend on what the project holds. */
    searchHomes(): ClosedPaths {
      const homes = findClosedHomes({ workspace, home, isRoot, open });
      return { hidden: [], repositories: [], homes };
    },
    /** What differs if the workspace is read-only too. */
    forReading: (way: Way, { hidden, homes }: ClosedPaths): Partial<Confinement> => ({
      workspaceRights: "read",
      ...(way === "landlock"
        ? {
            outside: readableRules([...hidden, ...homes.covered.map(asFolder)], false, [
              ...homes.tools,
              ...homes.caches,
              ...readable,
              workspace,
            ]),
          }
        : {}),
      ...(isIsolated(way) ? { readOnly: [workspace] } : {}),
    }),
    forWay(found: FoundLevel, way: Way, closed: ClosedPaths, network: boolean, isLayered: boolean) {
      const { hidden, repositories, homes } = closed;
      const isOwn = isIsolated(way);
      const hasCaches = found.caches && way === "namespaces";
      const isReplacedHere = (path: string) => isReplaced(path, homes.covered);
      const seen = [...homes.tools, ...(hasCaches ? [] : homes.caches)].filter((path) => !writable.includes(path));
      return {
        network,
        hidden: [...hidden, ...socketsFor(way, network, found.landlock, hidden).filter(isClosed)],
        ...inside(hidden, repositories.filter(isInside), isLayered, isOwn),
        unixSockets: seesOwnSockets(way, network),
        writable: writable.filter(isThere),
        readable: isOwn ? [...seen, ...[...readable, ...(network ? runFolders() : [])].filter(isReplacedHere)] : [],
        caches: hasCaches ? homes.caches.filter((path) => !writable.includes(path)) : [],
        homes: isOwn ? homes.covered : [],
        outside: found.landlock === 0 ? [] : rulesOutside(way, closed),
      };
    },
  };
}

const asFolder = (path: string): Hidden => ({ path, isFolder: true });

/** Beyond these, ways with private mounts allow reading all that no mount covers. */
const maxRules = 2000;

const socketsFor = (way: Way, network: boolean, landlock: number, hidden: readonly Hidden[]): readonly Hidden[] =>
  (!isIsolated(way) || (landlock >= firstWithSockets && !network) ? [] : findSockets(!network)).filter(
    ({ path }) => !hidden.some((each) => contains(each.path, path)),
  );

/** Without private mounts a command with the network sees every socket of the machine. */
const seesOwnSockets = (way: Way, network: boolean): boolean => isIsolated(way) || !network || !hasPowerfulSocket();

/** Upper ones first. */
const foldersBetween = (paths: readonly string[], workspace: string): readonly string[] =>
  [...new Set(paths.flatMap((path) => foldersAbove(path as RelPath)))]
    .filter((folder) => folder.startsWith(`${workspace}/`))
    .sort((a, b) => a.length - b.length);

/** A `.git` file may name a folder that is no repository. */
const isInRepository = (path: string, workspace: string): boolean =>
  path
    .slice(workspace.length)
    .split("/")
    .some((name) => /^\.(?:git|hg|svn)$/i.test(name));

export const isThere = (path: string) => entryAt(path) !== undefined;

const runFolders = (): readonly string[] => networkFolders.map((name) => `/run/${name}`).filter(isThere);
