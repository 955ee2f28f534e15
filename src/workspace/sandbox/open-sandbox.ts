/** The sandbox of one workspace: finds the level that works here once, then starts programs in it. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isEnough, type SandboxChoice, type SandboxState } from "../../core/command/sandbox.ts";
import { orNull, PaiError } from "../../core/error.ts";
import { realPathOf } from "../../system/lookups.ts";
import { wrapInBubblewrap } from "./bubblewrap.ts";
import { type ClosedPaths, isUnseen, namedIn } from "./closed-paths.ts";
import { type Confinement, isIsolated, levelOf, type Way } from "./confinement.ts";
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
import { thisMachine } from "./machine-code.ts";
import { isPrivate, isReplaced } from "./namespaces.ts";
import { isThere, openPaths, type PathOptions } from "./open-paths.ts";
import { describeState } from "./reasons.ts";
import { type Launched, launch, runProgram, writeConfinement } from "./write-tape.ts";

export interface SandboxOptions extends PathOptions {
  readonly workspaceFd: number;
  /** For overlay layers; null: only the temporary folder. */
  readonly stateFolder: string | null;
}

export interface Request {
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
  const machine = thisMachine();
  const isRoot = process.getuid?.() === 0;
  const paths = openPaths(options, isRoot);
  const scratches = scratchesFor(options.stateFolder);

  /** For descriptions. */
  let last: ClosedPaths | null = null;
  const search = (): ClosedPaths => {
    last = paths.search();
    return last;
  };

  const confine = (found: FoundLevel, way: Way, closed: ClosedPaths, more: Partial<Confinement>): Confinement => ({
    way,
    workspace,
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
    userNamespace: found.userNamespace,
    workspaceRights: "write",
    overlay: null,
    temporary: null,
    landlock: found.landlock,
    parent: way === "bubblewrap" ? null : process.pid,
    ...paths.forWay(found, way, closed, more.network ?? settings.network, more.overlay != null),
    ...more,
  });

  let found: Promise<FoundLevel> | null = null;
  const find = (): Promise<FoundLevel> => {
    found ??= look();
    return found;
  };
  const look = async (): Promise<FoundLevel> => {
    if (settings.choice === "off") return foundNothing();
    if (machine === null) return foundNothing(`there is no sandbox for ${process.arch}`);
    for (const scratch of scratches) sweepScratch(scratch);
    // A step that fails because of the project's paths fails only the command.
    const closed = paths.searchHomes();
    const layered = (here: FoundLevel, way: Way, overlay: Layers | null) => confine(here, way, closed, { overlay });
    return findLevel({ machine, isRoot, workspaceFd, scratches, only: settings.only, confine: layered });
  };

  const hasNetwork = (by: Request["by"]): boolean => settings.network || by === "user";

  return {
    /** For levels whose `state` says that commands work on copies. */
    makeLayers: async (): Promise<Layers> => makeLayers((await find()).scratch),
    /** Something is there that programs do not see. */
    isUnseen: (path: string): boolean => !paths.isOpen(path) && isUnseen(path, last ?? search(), workspace),
    /** Hidden paths that a text mentions. */
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
      if (way === null || machine === null) return null;
      const closed = search();
      const network = hasNetwork(by);
      const temporary = way === "landlock" ? makeScratch(tmpdir(), "tmp") : null;
      const confinement = confine(here, way, closed, {
        overlay: layers,
        network,
        temporary,
        ...(readsOnly ? paths.forReading(way, closed) : {}),
      });
      const isContained = isIsolated(way);
      const program = {
        folder: isContained ? workspace : null,
        argv: argv(isContained),
        env: { ...env, ...variablesFor(confinement, home) },
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
          through: way === "bubblewrap" ? wrapInBubblewrap(confinement, here.asFile) : [],
        },
      );
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
  throw new PaiError("sandbox_missing", `the sandbox ${choice} does not work here: ${reasons.join("; ")}`, {
    hint: "--sandbox off runs commands without one",
  });
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
