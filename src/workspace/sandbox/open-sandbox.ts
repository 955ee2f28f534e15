/** The sandbox of one workspace: finds the level that works here once, then starts programs in it. */
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { PathRules } from "../../core/closed-names.ts";
import { isEnough, type SandboxChoice, type SandboxState } from "../../core/command/sandbox.ts";
import { orNull, PaiError } from "../../core/error.ts";
import { foldersAbove, type RelPath } from "../../core/path.ts";
import { entryAt, realPathOf } from "../../system/lookups.ts";
import { type ClosedPaths, findClosedHomes, findClosedPaths, isUnseen, namedIn } from "./closed-paths.ts";
import { type Confinement, type Hidden, isIsolated, type LandlockRule, levelOf, type Way } from "./confinement.ts";
import {
  type FoundLevel,
  findLevel,
  foundNothing,
  type Layers,
  makeLayers,
  makeScratch,
  removeTree,
  sweepScratch,
} from "./find-level.ts";
import { contains } from "./folders.ts";
import { firstWithSockets, readableRules } from "./landlock.ts";
import { findSubmounts } from "./mounts.ts";
import { isPrivate, isReplaced } from "./namespaces.ts";
import { describeState } from "./reasons.ts";
import type { SandboxSettings } from "./settings.ts";
import { findSockets, hasPowerfulSocket, networkFolders } from "./sockets.ts";
import { runsTapes } from "./tape.ts";
import { type Launched, launch, runProgram } from "./write-tape.ts";

interface SandboxOptions {
  readonly settings: SandboxSettings;
  /** Real path of the workspace. */
  readonly workspace: string;
  readonly workspaceFd: number;
  readonly rules: PathRules;
  readonly home: string | null;
  readonly own: readonly string[];
  /** Folders outside the project that actions may change. */
  readonly also?: readonly string[];
  /** For overlay layers; null: only the temporary folder. */
  readonly stateFolder: string | null;
}

interface Request {
  /** `isContained`: all that it starts ends with it. */
  readonly argv: (isContained: boolean) => readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly by: "user" | "plan";
  readonly stdin: "ignore" | "pipe";
  readonly stderr: "merge" | "pipe";
  /** These receive the changes; null: the workspace does. */
  readonly layers: Layers | null;
  /** Without layers: the workspace is read-only. */
  readonly readsOnly?: boolean;
  /** Absent: the settings'. */
  readonly weakest?: SandboxChoice | undefined;
}

export interface StartedCommand extends Launched {
  readonly way: Way;
}

export type Sandbox = ReturnType<typeof openSandbox>;

export function openSandbox(options: SandboxOptions) {
  const { settings, workspace, workspaceFd, home } = options;
  const isRoot = process.getuid?.() === 0;
  const paths = openPaths(options, isRoot);
  const scratches = scratchesFor(options.stateFolder);

  let last: ClosedPaths | null = null;
  const search = (): ClosedPaths => {
    last = paths.search();
    return last;
  };

  let found: Promise<FoundLevel> | null = null;
  const find = (): Promise<FoundLevel> => {
    found ??= look();
    return found;
  };
  const look = async (): Promise<FoundLevel> => {
    if (settings.choice === "off") return foundNothing();
    if (!runsTapes()) return foundNothing(`there is no sandbox for ${process.arch}`);
    for (const scratch of scratches) sweepScratch(scratch);
    // A step that fails because of the project's paths fails only the command.
    const closed = paths.searchHomes();
    const rest = { network: settings.network, temporary: null, readsOnly: false };
    const confine = (here: FoundLevel, way: Way, overlay: Layers | null) =>
      paths.confine(here, way, closed, { overlay, ...rest });
    return findLevel({ isRoot, workspaceFd, scratches, only: settings.only, confine });
  };

  const hasNetwork = (by: Request["by"]): boolean => settings.network || by === "user";

  return {
    /** For levels whose `state` says that commands work on copies. */
    makeLayers: async (): Promise<Layers> => makeLayers((await find()).scratch),
    isUnseen: (path: string): boolean => !paths.isOpen(path) && isUnseen(path, last ?? search(), workspace),
    hiddenIn: (text: string): readonly string[] => namedIn(text, last ?? search(), workspace),
    git: settings.git,
    hasNetwork,
    async state(): Promise<SandboxState> {
      return describeState({ ...(await find()), settings, closed: last ?? search(), workspace, home });
    },
    /** null: there is none; `state` says why. Throws sandbox_missing where the requested level does not work. */
    async start(request: Request): Promise<StartedCommand | null> {
      const { argv, env, by, stdin, stderr, layers, readsOnly = false, weakest = settings.choice } = request;
      const here = await find();
      requireLevel(weakest, here);
      const { way } = here;
      if (way === null) return null;
      const closed = search();
      const temporary = way === "landlock" ? makeScratch(tmpdir(), "tmp") : null;
      const own = { overlay: layers, network: hasNetwork(by), temporary, readsOnly };
      const confinement = paths.confine(here, way, closed, own);
      const mergeOutput = stderr === "merge";
      const variables = { ...env, ...variablesFor(confinement, home) };
      const program = { argv: argv(isIsolated(way)), env: variables, mergeOutput };
      const launched = launch(confinement, (tape) => runProgram(tape, confinement, program), {
        workspaceFd,
        stdin,
        stderr: mergeOutput ? "ignore" : "pipe",
      });
      const finish = () => {
        // A failure to remove temporary files does not change the command's result.
        if (temporary !== null) orNull(() => removeTree(temporary));
        return launched.finish();
      };
      return { ...launched, finish, way };
    },
  };
}

/** In a container the state folder is often on an overlay, which cannot hold the layers of another. */
function scratchesFor(stateFolder: string | null): readonly [string, ...string[]] {
  const others = [tmpdir(), "/dev/shm"].filter((path) => path !== stateFolder && isThere(path));
  const [first = tmpdir(), ...rest] = [...(stateFolder === null ? [] : [stateFolder]), ...new Set(others)];
  return [first, ...rest];
}

function requireLevel(choice: SandboxChoice, { way, reasons }: FoundLevel): void {
  if (isEnough(way && levelOf(way), choice)) return;
  const hint = "--sandbox off runs commands without one";
  throw new PaiError("sandbox_missing", `the sandbox ${choice} does not work here: ${reasons.join("; ")}`, { hint });
}

/** Temporary files and caches lie in writable places. */
function variablesFor({ way, temporary, homes, caches }: Confinement, home: string | null): Record<string, string> {
  const folder = temporary ?? "/tmp";
  const isAtHome = way === "namespaces" && home !== null && !isPrivate(home);
  const isWritable = (name: string) => {
    const path = isAtHome ? (realPathOf(join(home, name)) ?? join(home, name)) : "";
    return isAtHome && (caches.includes(path) || (!isThere(path) && isReplaced(path, homes)));
  };
  return {
    TMPDIR: folder,
    ...(isWritable(".cache") ? {} : { XDG_CACHE_HOME: join(folder, ".cache") }),
    ...(isWritable(".npm") ? {} : { npm_config_cache: join(folder, ".npm") }),
  };
}

interface Own extends Pick<Confinement, "overlay" | "network" | "temporary"> {
  readonly readsOnly: boolean;
}

/** The paths of one command after another, and the confinements made of them. */
function openPaths({ settings, workspace, rules, home, own, also = [] }: SandboxOptions, isRoot: boolean) {
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
  const rulesOutside = (way: Way, { hidden, homes }: ClosedPaths, isReading: boolean): readonly LandlockRule[] => {
    const isOwn = isIsolated(way);
    const closed = hidden.filter(({ path }) => isReading || !(isInside(path) || (isOwn && isPrivate(path))));
    const shown = [...homes.tools, ...homes.caches, ...readable, ...(isReading ? [workspace] : [])];
    const made = readableRules([...closed, ...homes.covered.map(asFolder)], isOwn, shown);
    return isOwn && made.length > maxRules ? [] : made;
  };
  const inside = ({ hidden, repositories }: ClosedPaths, isLayered: boolean, isOwn: boolean) => {
    const mine = repositories.filter(isInside);
    return {
      readOnly: settings.git ? [] : mine,
      throughOverlay: settings.git && isLayered ? mine.filter((path) => isInRepository(path, workspace)) : [],
      submounts: isLayered ? findSubmounts(workspace) : [],
      // On a copy the folders of the workspace cannot be renamed in the original.
      fixed: isOwn && !isLayered ? foldersBetween([...hidden.map(({ path }) => path), ...mine], workspace) : [],
    };
  };
  const beyond = ({ homes }: ClosedPaths, hasCaches: boolean, isOwn: boolean, network: boolean) => {
    const isReplacedHere = (path: string) => isReplaced(path, homes.covered);
    const seen = [...homes.tools, ...(hasCaches ? [] : homes.caches)].filter((path) => !writable.includes(path));
    return {
      writable: writable.filter(isThere),
      readable: isOwn ? [...seen, ...[...readable, ...(network ? runFolders() : [])].filter(isReplacedHere)] : [],
      caches: hasCaches ? homes.caches.filter((path) => !writable.includes(path)) : [],
      homes: isOwn ? homes.covered : [],
    };
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
    confine(found: FoundLevel, way: Way, closed: ClosedPaths, { readsOnly, ...given }: Own): Confinement {
      const { overlay, network } = given;
      const { landlock, userNamespace } = found;
      const { hidden } = closed;
      const isOwn = isIsolated(way);
      return {
        ...given,
        way,
        workspace,
        workspaceRights: readsOnly ? "read" : "write",
        userNamespace,
        landlock,
        asFile: found.asFile,
        hidden: [...hidden, ...socketsFor(way, network, landlock, hidden).filter(isClosed)],
        ...inside(closed, overlay !== null, isOwn),
        ...(readsOnly && { readOnly: [workspace] }),
        unixSockets: seesOwnSockets(way, network),
        ...beyond(closed, found.caches && way === "namespaces", isOwn, network),
        outside: landlock === 0 ? [] : rulesOutside(way, closed, readsOnly && !isOwn),
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

const isThere = (path: string) => entryAt(path) !== undefined;

const runFolders = (): readonly string[] => networkFolders.map((name) => `/run/${name}`).filter(isThere);
