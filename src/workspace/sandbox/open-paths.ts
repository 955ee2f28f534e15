/** The paths of a confinement: hidden ones, readable and writable ones outside the workspace, sockets and caches. */

import { lstatSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { PathRules } from "../../core/names.ts";
import { entryAt } from "../../system/entry-at.ts";
import { type ClosedPaths, findClosedPaths } from "./closed-paths.ts";
import { type Confinement, type Hidden, isIsolated, type LandlockRule, type Way } from "./confinement.ts";
import type { Found } from "./find-level.ts";
import { findHomeSecrets, type HomeOptions } from "./home-secrets.ts";
import { firstWithSockets, type OutsideRules, readableRules } from "./landlock.ts";
import { findSubmounts } from "./mounts.ts";
import { isReplaced } from "./namespaces.ts";
import type { SandboxSettings } from "./settings.ts";
import { findSockets, hasPowerfulSocket } from "./sockets.ts";

export interface PathOptions {
  readonly settings: SandboxSettings;
  /** Real path of the workspace. */
  readonly workspace: string;
  readonly rules: PathRules;
  readonly home: string | null;
  readonly env: HomeOptions["env"];
  /** pai's own folders, which commands do not see. */
  readonly own: readonly string[];
}

const cacheNames = [".cache", ".npm", ".cargo", "go", ".m2", ".gradle", ".nuget", ".bun", ".deno", ".pub-cache"];
/** Sockets of local services, and files of the resolver, that a program with the network may use. */
const networkFolders = [
  "systemd/resolve",
  "resolvconf",
  "NetworkManager",
  "postgresql",
  "mysqld",
  "redis",
  "memcached",
];
const closedFreshMs = 1000;
/** A description is for people; a command always gets a search of its own after one that may have moved files. */
const toldFreshMs = 10_000;

interface Known {
  /** `performance.now()` of the search. */
  readonly at: number;
  /** How many of pai's own folders there were. */
  readonly own: number;
  /** A command may have moved hidden files since. */
  readonly isStale: boolean;
}

const ageOf = ({ at }: Pick<Known, "at">): number => performance.now() - at;

/** Returns the paths of a confinement; secrets are searched for again once the last result is a second old. */
export function openPaths({ settings, workspace, rules, home, env, own }: PathOptions, isRoot: boolean) {
  const absolute = (path: string) => realOrSame(resolve(workspace, path.replace(/^~(?=\/|$)/, home ?? "~")));
  const readable = settings.readable.map(absolute);
  const writable = settings.writable.map(absolute);
  const isClosed = ({ path }: Hidden) => ![...readable, ...writable].some((open) => isAtOrBelow(path, open));
  const isInside = (path: string) => path.startsWith(`${workspace}/`);
  let known: (Known & { readonly paths: ClosedPaths }) | null = null;
  const outside = openOutside();
  let knownCaches: readonly string[] | null = null;

  let knownAtHome: { readonly secrets: readonly string[]; readonly at: number } | null = null;

  const secretsAtHome = (): readonly string[] => {
    if (knownAtHome === null || ageOf(knownAtHome) > closedFreshMs)
      knownAtHome = { secrets: findHomeSecrets({ workspace, home, env, isRoot }), at: performance.now() };
    return knownAtHome.secrets;
  };
  const search = (ownNow: number): ClosedPaths => {
    const open = [...readable, ...writable];
    const project = { workspace, rules, home, env, own, isRoot, open, homeSecrets: secretsAtHome() };
    const paths = findClosedPaths(project, known?.paths ?? null);
    known = { paths, at: performance.now(), own: ownNow, isStale: false };
    return paths;
  };
  const closed = (): ClosedPaths => {
    // A folder of pai's own that has been created since must be hidden at once.
    const ownNow = own.filter(isThere).length;
    if (known !== null && known.own !== ownNow) outside.forget();
    const isFresh = known !== null && known.own === ownNow && !known.isStale && ageOf(known) <= closedFreshMs;
    return known !== null && isFresh ? known.paths : search(ownNow);
  };
  const caches = (): readonly string[] => {
    knownCaches ??= cachesOf(home, writable);
    return knownCaches;
  };
  const rulesOutside = (way: Way): readonly LandlockRule[] => {
    const isOwn = isIsolated(way);
    const hidden = closed().hidden.filter(({ path }) => !isInside(path) && !(isOwn && isReplaced(path)));
    return outside.rulesFor(hidden, isOwn);
  };
  const replaced = (network: boolean) => [...readable, ...(network ? runFolders() : [])].filter(isReplaced);
  const inside = (hidden: readonly Hidden[], mine: readonly string[], isLayered: boolean, isOwn: boolean) => ({
    readOnly: settings.git ? [] : mine,
    throughOverlay: settings.git && isLayered ? mine.filter((path) => isInRepository(path, workspace)) : [],
    submounts: isLayered ? findSubmounts(workspace) : [],
    // On a copy the folders of the workspace cannot be renamed in the original.
    fixed: isOwn && !isLayered ? foldersAbove([...hidden.map(({ path }) => path), ...mine], workspace) : [],
  });

  const paths = {
    closed,
    /** For descriptions: the last result, if it is not old. */
    lastClosed: (): ClosedPaths => (known !== null && ageOf(known) <= toldFreshMs ? known.paths : closed()),
    /** Forces a new search of the project. */
    renew() {
      if (known !== null) known = { ...known, isStale: true };
    },
    /**
     * After a command. One that worked in the workspace may have moved hidden files; one that could not start may have
     * failed because a hidden file had vanished.
     */
    settle(hasFailed: boolean, isInPlace: boolean) {
      if (!hasFailed && !isInPlace) return;
      paths.renew();
      knownAtHome = null;
      if (!hasFailed) return;
      outside.forget();
      knownCaches = null;
    },
    /** What differs if the workspace is read-only too. */
    forReading: (way: Way): Partial<Confinement> => ({
      workspaceRights: "read",
      ...(way === "landlock" ? { outside: readableRules(closed().hidden, false).rules } : {}),
      ...(isIsolated(way) ? { readOnly: [workspace] } : {}),
    }),
    forWay(found: Found, way: Way, network: boolean, isLayered: boolean) {
      const { hidden, repositories } = closed();
      return {
        network,
        hidden: [...hidden, ...socketsFor(way, network, found.landlock, hidden).filter(isClosed)],
        ...inside(hidden, repositories.filter(isInside), isLayered, isIsolated(way)),
        unixSockets: seesOwnSockets(way, network),
        writable: writable.filter(isThere),
        readable: isIsolated(way) ? replaced(network) : [],
        caches: found.caches && way === "namespaces" ? caches() : [],
        outside: found.landlock === 0 ? [] : rulesOutside(way),
      };
    },
  };
  return paths;
}

/** With more rules than this, ways with private mounts allow reading everything that is not covered by a mount. */
const maxRules = 2000;

/** Keeps the rules until a folder they were made from changes. */
function openOutside() {
  let kept: { readonly about: string; readonly made: OutsideRules; readonly state: string } | null = null;
  const stateOf = (folders: readonly string[]) =>
    folders.map((path) => lstatSync(path, { throwIfNoEntry: false, bigint: true })?.mtimeNs ?? "").join();
  return {
    forget() {
      kept = null;
    },
    rulesFor(hidden: readonly Hidden[], isOwn: boolean): readonly LandlockRule[] {
      const about = [isOwn, ...hidden.map(({ path }) => path)].join("\0");
      if (kept?.about !== about || kept.state !== stateOf(kept.made.folders)) {
        const made = readableRules(hidden, isOwn);
        kept = { about, made, state: stateOf(made.folders) };
      }
      const { rules } = kept.made;
      return isOwn && rules.length > maxRules ? [] : rules;
    },
  };
}

/** Sockets of services, without those in a hidden folder. */
const socketsFor = (way: Way, network: boolean, landlock: number, hidden: readonly Hidden[]): readonly Hidden[] =>
  (!isIsolated(way) || (landlock >= firstWithSockets && !network) ? [] : findSockets(!network)).filter(
    ({ path }) => !hidden.some((each) => isAtOrBelow(path, each.path)),
  );

/** Without private mounts a command with the network sees every socket of the machine. */
const seesOwnSockets = (way: Way, network: boolean): boolean => isIsolated(way) || !network || !hasPowerfulSocket();

/** Folders between the workspace and these paths, upper ones first. */
function foldersAbove(paths: readonly string[], workspace: string): readonly string[] {
  const found = new Set<string>();
  for (const path of paths) {
    if (!path.startsWith(`${workspace}/`)) continue;
    for (let at = dirname(path); at !== workspace && !found.has(at); at = dirname(at)) found.add(at);
  }
  return [...found].sort((a, b) => a.length - b.length);
}

/** A `.git` file may name a folder that is no repository. */
const isInRepository = (path: string, workspace: string): boolean =>
  path
    .slice(workspace.length)
    .split("/")
    .some((name) => /^\.(?:git|hg|svn)$/i.test(name));

const isAtOrBelow = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

export const isThere = (path: string) => entryAt(path) !== undefined;

function realOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function cachesOf(home: string | null, writable: readonly string[]): readonly string[] {
  if (home === null) return [];
  const found = cacheNames.map((name) => realOrSame(join(home, name)));
  const isUsable = (path: string) => entryAt(path)?.isDirectory() === true && !isReplaced(path);
  return [...new Set(found)].filter((path) => isUsable(path) && !writable.includes(path));
}

const runFolders = (): readonly string[] => networkFolders.map((name) => `/run/${name}`).filter(isThere);
