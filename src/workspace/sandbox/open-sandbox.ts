/** The sandbox of one workspace: finds the level that works here once, then starts programs in it. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isEnough, type SandboxChoice, type SandboxLevel, type SandboxState } from "../../core/command/sandbox.ts";
import { PaiError } from "../../core/error.ts";
import { wrap } from "./bubblewrap.ts";
import { findReplaced } from "./closed-inside.ts";
import { namedIn } from "./closed-paths.ts";
import { type Confinement, isIsolated, levelOf, type Way } from "./confinement.ts";
import { describeState } from "./describe-state.ts";
import { type Found, findLevel, foundNothing } from "./find-level.ts";
import { type Launched, launch } from "./launch.ts";
import { type Layers, makeLayers, makeScratch, removeTree, sweepScratch } from "./layers.ts";
import { thisMachine } from "./machine-code.ts";
import { isReplaced } from "./namespaces.ts";
import { isThere, openPaths, type PathOptions } from "./open-paths.ts";
import { runProgram, writeConfinement } from "./write-tape.ts";

export interface SandboxOptions extends PathOptions {
  /** Descriptor of the workspace folder. */
  readonly workspaceFd: number;
  /** Folder for overlay layers; null: only the temporary folder. */
  readonly stateFolder: string | null;
}

export interface Request {
  /** The argument says whether all processes it starts end with it. */
  readonly argv: (isContained: boolean) => readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly by: "user" | "plan";
  readonly stdin: "ignore" | "pipe";
  readonly stderr: "merge" | "pipe";
  /** Layers that receive the changes; null: the workspace does. */
  readonly layers: Layers | null;
  /** Without layers: the workspace is read-only. Needs a level with Landlock. */
  readonly readsOnly?: boolean;
}

export interface Started extends Launched {
  readonly level: SandboxLevel;
  /** All processes that it starts end with it in any case. */
  readonly isContained: boolean;
  /** Its processes may outlive it for a moment: bubblewrap's own process ends before the last of the others. */
  readonly isLate: boolean;
  /** Absolute paths of hidden workspace files that others have replaced since, so that the program could read them. */
  readonly replaced: () => readonly string[];
}

export interface Sandbox {
  /** Makes empty layers for a command; for levels whose `state` says that commands work on copies. */
  readonly makeLayers: () => Promise<Layers>;
  /** Whether commands may write `.git`. */
  readonly git: boolean;
  readonly state: () => Promise<SandboxState>;
  /**
   * Starts a program. null: there is no sandbox; `state` says why. Throws sandbox_missing where the requested level
   * does not work. `finish` reports a failed set-up.
   */
  readonly start: (request: Request) => Promise<Started | null>;
  /** Hidden paths that a text mentions, relative for those of the project. */
  readonly hiddenIn: (text: string) => readonly string[];
}

export function openSandbox(options: SandboxOptions): Sandbox {
  const { settings, workspace, workspaceFd, home } = options;
  const machine = thisMachine();
  const isRoot = process.getuid?.() === 0;
  const paths = openPaths(options, isRoot);
  const scratches = scratchesFor(options.stateFolder);

  const confine = (found: Found, way: Way, more: Partial<Confinement>): Confinement => ({
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
    ...paths.forWay(found, way, more.network ?? settings.network, more.overlay != null),
    ...more,
  });

  let found: Promise<Found> | null = null;
  const find = (): Promise<Found> => {
    found ??= look();
    return found;
  };
  const look = async (): Promise<Found> => {
    if (settings.choice === "off") return foundNothing();
    if (machine === null) return foundNothing(`there is no sandbox for ${process.arch}`);
    for (const scratch of scratches) sweepScratch(scratch);
    // The way must not depend on the project's content: a step that fails because of its paths fails only the
    // command.
    const none = { hidden: [], readOnly: [], throughOverlay: [], fixed: [] };
    const layered = (here: Found, way: Way, overlay: Layers | null) => confine(here, way, { overlay, ...none });
    return findLevel({ machine, isRoot, workspaceFd, scratches, only: settings.only, confine: layered });
  };

  const hasNetwork = (by: Request["by"]): boolean => settings.network || (by === "user" && settings.checkNetwork);

  return {
    makeLayers: async () => makeLayers((await find()).scratch),
    hiddenIn: (text) => namedIn(text, paths.lastClosed().hidden, workspace),
    git: settings.git,
    async state() {
      return describeState({ ...(await find()), settings, closed: paths.lastClosed(), workspace, home });
    },
    async start({ argv, env, by, stdin, stderr, layers, readsOnly = false }) {
      const here = await find();
      requireLevel(settings.choice, here);
      const { way } = here;
      if (way === null || machine === null) return null;
      // A person may have made a closed file since the last search.
      if (by === "plan") paths.renew();
      const network = hasNetwork(by);
      const temporary = way === "landlock" ? makeScratch(tmpdir(), "tmp") : null;
      const confinement = confine(here, way, {
        overlay: layers,
        network,
        temporary,
        ...(readsOnly ? paths.forReading(way) : {}),
      });
      const isContained = isIsolated(way);
      const program = {
        folder: isContained ? workspace : null,
        argv: argv(isContained),
        env: { ...env, ...variablesFor(way, temporary, home) },
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
          through: way === "bubblewrap" ? wrap(confinement, here.asFile) : [],
        },
      );
      const finish = () => {
        if (temporary !== null) removeTemporary(temporary);
        const failure = launched.finish();
        paths.settle(failure !== null, layers === null);
        return failure;
      };
      const { inside } = paths.closed();
      const replaced = () => (isContained && layers === null ? findReplaced(inside) : []);
      return { ...launched, finish, level: levelOf(way), isLate: way === "bubblewrap", isContained, replaced };
    },
  };
}

/**
 * In a container the state folder is often on an overlay itself, which cannot hold the layers of another; memory can.
 */
function scratchesFor(stateFolder: string | null): readonly [string, ...string[]] {
  const others = [tmpdir(), "/dev/shm"].filter((path) => path !== stateFolder && isThere(path));
  const [first = tmpdir(), ...rest] = [...(stateFolder === null ? [] : [stateFolder]), ...new Set(others)];
  return [first, ...rest];
}

/** A failure to remove temporary files does not change the command's result. */
function removeTemporary(folder: string): void {
  try {
    removeTree(folder);
  } catch {
    // Some of its content cannot be removed.
  }
}

function requireLevel(choice: SandboxChoice, { way, reasons }: Found): void {
  if (isEnough(way && levelOf(way), choice)) return;
  throw new PaiError("sandbox_missing", `the sandbox ${choice} does not work here: ${reasons.join("; ")}`, {
    hint: "--sandbox off runs commands without one",
  });
}

/** Points temporary files and caches to writable places. */
function variablesFor(way: Way, temporary: string | null, home: string | null): Record<string, string> {
  const folder = temporary ?? "/tmp";
  const has = (name: string) => way === "namespaces" && home !== null && isThere(join(home, name)) && !isReplaced(home);
  return {
    TMPDIR: folder,
    ...(has(".cache") ? {} : { XDG_CACHE_HOME: join(folder, ".cache") }),
    ...(has(".npm") ? {} : { npm_config_cache: join(folder, ".npm") }),
  };
}
