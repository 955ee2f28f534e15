/** The sandbox of one workspace: finds out once what holds here, then starts programs in it. */
import { lstatSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { isEnough, type SandboxChoice, type SandboxLevel, type SandboxState } from "../../core/command/sandbox.ts";
import { PaiError } from "../../core/error.ts";
import type { PathRules } from "../policy.ts";
import { wrap } from "./bubblewrap.ts";
import {
  type ClosedPaths,
  findClosedPaths,
  findSockets,
  findSubmounts,
  hasPowerfulSocket,
  namedIn,
} from "./closed-paths.ts";
import { type Confinement, type Hidden, isIsolated, type LandlockRule } from "./confinement.ts";
import { describeState } from "./describe-state.ts";
import { type Found, findLevel, foundNothing } from "./find-level.ts";
import { readableRules } from "./landlock.ts";
import { type Launched, launch } from "./launch.ts";
import { type Layers, removeTree, sweepScratch } from "./layers.ts";
import { thisMachine } from "./machine-code.ts";
import { isReplaced } from "./namespaces.ts";
import type { SandboxSettings } from "./settings.ts";
import { runProgram, writeConfinement } from "./write-tape.ts";

export interface SandboxOptions {
  readonly settings: SandboxSettings;
  /** Real path of the workspace, and its open folder. */
  readonly workspace: string;
  readonly workspaceFd: number;
  readonly rules: PathRules;
  readonly home: string | null;
  readonly own: readonly string[];
  /** Where a folder may be made for what commands change; null: nowhere but for temporary files. */
  readonly stateFolder: string | null;
}

export interface Request {
  /** Told whether everything it starts ends with it. */
  readonly argv: (isContained: boolean) => readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly by: "user" | "plan";
  readonly stdin: "ignore" | "pipe";
  readonly stderr: "merge" | "pipe";
  /** Where changes of the workspace go; null: to the workspace. */
  readonly layers: Layers | null;
  /** Without layers: the workspace may only be read. Levels with Landlock hold that. */
  readonly readsOnly?: boolean;
}

export interface Started extends Launched {
  readonly level: SandboxLevel;
  /** Everything it starts ends with it, whatever that does. */
  readonly isContained: boolean;
}

export interface Sandbox {
  /** Where the layers of commands are made. */
  readonly scratch: string;
  /** Whether commands may write `.git`. */
  readonly git: boolean;
  readonly state: () => Promise<SandboxState>;
  /**
   * Starts a program; null: without a sandbox, which `state` says. Throws sandbox_missing where less holds than was asked
   * for. What the set-up could not do is said by `finish`.
   */
  readonly start: (request: Request) => Promise<Started | null>;
  /** What commands do not see and a text names, the project's own paths relative to it. */
  readonly hiddenIn: (text: string) => readonly string[];
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

export function openSandbox(options: SandboxOptions): Sandbox {
  const { settings, workspace, workspaceFd, home } = options;
  const machine = thisMachine();
  const isRoot = process.getuid?.() === 0;
  const paths = openPaths(options, isRoot);
  const scratch = options.stateFolder ?? tmpdir();

  const confine = (found: Found, level: SandboxLevel, more: Partial<Confinement>): Confinement => ({
    level,
    workspace,
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
    userNamespace: found.userNamespace,
    workspaceRights: "write",
    overlay: null,
    temporary: null,
    landlock: found.landlock,
    parent: level === "L3b" ? null : process.pid,
    ...paths.forLevel(found, level, more.network ?? settings.network, more.overlay != null),
    ...more,
  });

  let found: Promise<Found> | null = null;
  const find = (): Promise<Found> => {
    found ??= look();
    return found;
  };
  const look = async (): Promise<Found> => {
    if (settings.choice === "off") return foundNothing();
    if (machine === null) return foundNothing(`no tape is written for ${process.arch}`);
    sweepScratch(scratch);
    const layered = (here: Found, level: SandboxLevel, overlay: Layers | null) => confine(here, level, { overlay });
    return findLevel({ machine, isRoot, workspaceFd, scratch, only: settings.only, confine: layered });
  };

  return {
    scratch,
    hiddenIn: (text) => namedIn(text, paths.closed().hidden, workspace),
    git: settings.git,
    async state() {
      const { level, overlay, reasons, landlock } = await find();
      return describeState({ settings, level, overlay, reasons, landlock, closed: paths.closed(), workspace, home });
    },
    async start({ argv, env, by, stdin, stderr, layers, readsOnly = false }) {
      const here = await find();
      requireLevel(settings.choice, here);
      const { level } = here;
      if (level === null || machine === null) return null;
      const network = settings.network || (by === "user" && settings.checkNetwork);
      const temporary = level === "L2" ? mkdtempSync(join(tmpdir(), "pai-tmp-")) : null;
      const confinement = confine(here, level, {
        overlay: layers,
        network,
        temporary,
        ...(readsOnly ? paths.forReading(level) : {}),
      });
      const isContained = isIsolated(level);
      const program = {
        folder: isContained ? workspace : null,
        argv: argv(isContained),
        env: { ...env, ...variablesFor(level, temporary, home) },
        mergeOutput: stderr === "merge",
        keepLifeline: !isContained,
      };
      const launched = launch(
        writeConfinement(machine, confinement, (tape) => runProgram(tape, program)),
        {
          workspaceFd,
          stdin,
          stderr: stderr === "merge" ? "ignore" : "pipe",
          lifeline: !isContained,
          through: level === "L3b" ? wrap(confinement) : [],
        },
      );
      const finish = () => {
        if (temporary !== null) removeTemporary(temporary);
        const failure = launched.finish();
        // A hidden file that is gone meanwhile is looked for again.
        if (failure !== null) paths.forget();
        else if (layers === null) paths.renew();
        return failure;
      };
      return { ...launched, finish, level, isContained };
    },
  };
}

/** How a command leaves its temporary files is not what it came to. */
function removeTemporary(folder: string): void {
  try {
    removeTree(folder);
  } catch {
    // Something in it cannot be removed.
  }
}

/** The paths of a confinement; secrets are looked for again when what is known of them is a second old. */
function openPaths({ settings, workspace, rules, home, own }: SandboxOptions, isRoot: boolean) {
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

function requireLevel(choice: SandboxChoice, { level, reasons }: Found): void {
  if (isEnough(level, choice)) return;
  throw new PaiError("sandbox_missing", `the sandbox ${choice} does not hold here: ${reasons.join("; ")}`, {
    hint: "--sandbox off runs commands without one",
  });
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

const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

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

/** Temporary files and caches go where the program may write. */
function variablesFor(level: SandboxLevel, temporary: string | null, home: string | null): Record<string, string> {
  if (level === "L1") return {};
  const folder = temporary ?? "/tmp";
  const has = (name: string) => level === "L3" && home !== null && isThere(join(home, name)) && !isReplaced(home);
  return {
    TMPDIR: folder,
    ...(has(".cache") ? {} : { XDG_CACHE_HOME: join(folder, ".cache") }),
    ...(has(".npm") ? {} : { npm_config_cache: join(folder, ".npm") }),
  };
}
