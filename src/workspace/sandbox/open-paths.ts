/** The paths of a confinement: what is hidden, what may be read or written outside, sockets and caches. */
import { lstatSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import type { SandboxLevel } from "../../core/command/sandbox.ts";
import type { PathRules } from "../policy.ts";
import { type ClosedPaths, findClosedPaths, findSockets, findSubmounts, hasPowerfulSocket } from "./closed-paths.ts";
import { type Confinement, type Hidden, isIsolated, type LandlockRule } from "./confinement.ts";
import type { Found } from "./find-level.ts";
import { readableRules } from "./landlock.ts";
import { isReplaced } from "./namespaces.ts";
import type { SandboxSettings } from "./settings.ts";

export interface PathOptions {
  readonly settings: SandboxSettings;
  /** Real path of the workspace. */
  readonly workspace: string;
  readonly rules: PathRules;
  readonly home: string | null;
  /** Folders of pai's own, which commands do not see. */
  readonly own: readonly string[];
}

const cacheNames = [".cache", ".npm", ".cargo", "go", ".m2", ".gradle", ".nuget", ".bun", ".deno", ".pub-cache"];
/** Local services that a program with the network may reach through their sockets, and the resolver's own files. */
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

/** The paths of a confinement; secrets are looked for again when what is known of them is a second old. */
export function openPaths({ settings, workspace, rules, home, own }: PathOptions, isRoot: boolean) {
  const absolute = (path: string) => realOrSame(resolve(workspace, path.replace(/^~(?=\/|$)/, home ?? "~")));
  const readable = settings.readable.map(absolute);
  const writable = settings.writable.map(absolute);
  const isInside = (path: string) => path.startsWith(`${workspace}/`);
  let known: { readonly paths: ClosedPaths; readonly at: number; readonly own: number } | null = null;
  let outside: readonly LandlockRule[] | null = null;
  let knownCaches: readonly string[] | null = null;

  const closed = (): ClosedPaths => {
    // A folder of pai's own that was made since must be hidden at once.
    const ownNow = own.filter(isThere).length;
    if (known !== null && known.own !== ownNow) outside = null;
    if (known === null || known.own !== ownNow || performance.now() - known.at > closedFreshMs) {
      const open = [...readable, ...writable];
      const paths = findClosedPaths({ workspace, rules, home, own, isRoot, open }, known?.paths ?? null);
      known = { paths, at: performance.now(), own: ownNow };
    }
    return known.paths;
  };
  const caches = (): readonly string[] => {
    knownCaches ??= cachesOf(home, writable);
    return knownCaches;
  };
  const rulesOutside = (): readonly LandlockRule[] => {
    outside ??= readableRules(closed().hidden.filter(({ path }) => !isInside(path)));
    return outside;
  };
  const replaced = (network: boolean) => [...readable, ...(network ? runFolders() : [])].filter(isReplaced);

  const paths = {
    closed,
    /** To be looked for again: a command that works in the workspace may have moved it. */
    renew() {
      if (known !== null) known = { ...known, at: Number.NEGATIVE_INFINITY };
    },
    forget() {
      paths.renew();
      outside = null;
      knownCaches = null;
    },
    /** What is different where the workspace, too, may only be read. */
    forReading: (level: SandboxLevel): Partial<Confinement> => ({
      workspaceRights: "read",
      ...(level === "L2" ? { outside: readableRules(closed().hidden) } : {}),
      ...(level === "L3b" ? { readOnly: [workspace] } : {}),
    }),
    forLevel(found: Found, level: SandboxLevel, network: boolean, isLayered: boolean) {
      const { hidden, repositories } = closed();
      const sockets = socketsFor(level, network, hidden);
      const mine = repositories.filter(isInside);
      return {
        network,
        hidden: [...hidden, ...sockets],
        throughOverlay: settings.git && isLayered ? mine : [],
        submounts: isLayered ? findSubmounts(workspace) : [],
        unixSockets: seesOwnSockets(level, network),
        writable: writable.filter(isThere),
        readable: isIsolated(level) ? replaced(network) : [],
        readOnly: settings.git ? [] : mine,
        caches: found.caches && level === "L3" ? caches() : [],
        outside: level === "L2" ? rulesOutside() : [],
      };
    },
  };
  return paths;
}

/** Those of services, but for the ones that are hidden with a folder. */
const socketsFor = (level: SandboxLevel, network: boolean, hidden: readonly Hidden[]): readonly Hidden[] =>
  (isIsolated(level) ? findSockets(!network) : []).filter(
    ({ path }) => !hidden.some((each) => isAtOrBelow(path, each.path)),
  );

/** Without private mounts a command with the network sees every socket of the machine. */
const seesOwnSockets = (level: SandboxLevel, network: boolean): boolean =>
  isIsolated(level) || !network || !hasPowerfulSocket();

const isAtOrBelow = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

export const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

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
  const isUsable = (path: string) =>
    lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true && !isReplaced(path);
  return [...new Set(found)].filter((path) => isUsable(path) && !writable.includes(path));
}

const runFolders = (): readonly string[] => networkFolders.map((name) => `/run/${name}`).filter(isThere);
