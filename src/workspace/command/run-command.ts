/** Runs commands in their sandbox and finds their effects: on a copy of the workspace, or by a look before and after. */

import { constants } from "node:fs";
import { dirname } from "node:path";
import { type Change, type Effects, noEffects } from "../../core/change.ts";
import type { PathRules } from "../../core/closed-names.ts";
import { explainWall, holdsUnasked, type SandboxLevel } from "../../core/command/sandbox.ts";
import { orNull, PaiError, toPaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import type { CommandOptions, CommandResult } from "../../core/ports.ts";
import { pace } from "../../core/steps.ts";
import { openLibc } from "../../system/libc.ts";
import { entryAt, mayUse, nearestThere, realPathOf } from "../../system/lookups.ts";
import type { Root } from "../confine.ts";
import { stageLayer, takeOver, takeTimes } from "../effects/copy-layer.ts";
import { readLayer } from "../effects/layer.ts";
import { compareLooks, diff, type Look, takeLook } from "../effects/look.ts";
import type { OwnOf } from "../effects/others.ts";
import { noUndo, type Undo, undoOf } from "../effects/watch.ts";
import { showName } from "../parse-path.ts";
import { type Layers, removeLayers } from "../sandbox/find-level.ts";
import type { Sandbox } from "../sandbox/open-sandbox.ts";
import { commandEnv, type Env, withheldNames } from "./command-env.ts";
import { runConfined, runShell, type ShellResult } from "./shell.ts";

/** Of a command on a copy, until its effects are kept or dropped. */
export interface Copy {
  /** Takes ignored paths over, after the changes were applied. Returns those that it took. */
  takeOver(paths: readonly RelPath[], signal: AbortSignal): Promise<readonly RelPath[]>;
  discard(): void;
}

interface Performed {
  readonly result: CommandResult;
  /** null: the effects are on disk. */
  readonly copy: Copy | null;
  readonly undo: Undo;
}

export interface SoFar {
  readonly changes: readonly Change[];
  /** Before a command in place. `git`: whether it may write `.git`. `isWalled`: a sandbox keeps it off closed files. */
  begun(look: Look, held: { readonly git: boolean; readonly isWalled: boolean }): void;
}

export type Perform = (command: string, options: CommandOptions, so: SoFar) => Promise<Performed>;

interface PerformParts {
  readonly root: Root;
  readonly policy: PathRules;
  readonly env: Env;
  readonly commandEnv: readonly string[];
  readonly sandbox: Sandbox;
  /** Called when a command begins; the filter drops changes that other runs made since. */
  readonly meanwhile: () => OwnOf;
}

export function openPerform({ root, policy, sandbox, meanwhile, ...parts }: PerformParts): Perform {
  let last: Look | null = null;
  const added = new Set<RelPath>();
  const env = commandEnv(parts.env, parts.commandEnv);
  const { git } = sandbox;

  const madeBy = ({ changes }: SoFar): Set<RelPath> => {
    const made = new Set(added);
    for (const { path, before } of changes) if (before === null) made.add(path);
    return made;
  };

  /** With the user's rights, and so in the workspace itself. */
  const isFree = (options: CommandOptions) => options.sandbox === "none" || options.weakest === "off";

  const run = async (command: string, options: CommandOptions, layers: Layers | null) => {
    protectProcess();
    const { timeoutMs, signal, by, onOutput } = options;
    const limits = { env, timeoutMs, signal, onOutput };
    const confined = isFree(options)
      ? null
      : await runConfined(command, limits, (argv, marked) =>
          sandbox.start({ argv, env: marked, by, stdin: "ignore", stderr: "merge", layers, weakest: options.weakest }),
        );
    if (confined !== null) return confined;
    // The child enters the pinned folder by descriptor, before `use` returns.
    const result = await root.withFolder("" as RelPath, (cwd) => runShell(command, { ...limits, cwd }));
    if (result === null) throw new PaiError("io_failed", `${showName(root.path)} cannot be entered`);
    return { ...result, level: null };
  };

  const holdOf = (
    command: string,
    { by }: CommandOptions,
    level: SandboxLevel | null,
    { exit, output, timedOut }: ShellResult,
  ) => {
    const hidden = level === null ? [] : sandbox.hiddenIn(`${command}\n${output}`);
    const isUnseen = (path: string) => [path, dirname(path)].some((each) => sandbox.isUnseen(realPathOf(each) ?? each));
    const mayWrite = (path: string) => mayUse(nearestThere(path), constants.W_OK);
    const asRoot = { isRoot: process.getuid?.() === 0, mayWrite, isUnseen };
    const words = level === null || exit === 0 ? [] : command.split(/[\s'"`=:;,()|&<>]+/);
    const socket = words.find((word) => word.startsWith("/") && isSocket(word) && sandbox.isUnseen(word));
    return {
      level,
      network: level === null || sandbox.hasNetwork(by),
      withheld: withheldNames(parts.env, env, output),
      hidden,
      wall: explainWall(level, timedOut ? null : exit, { output, root: root.path, hidden, socket, ...asRoot }),
    };
  };

  const runOnCopy = async (command: string, options: CommandOptions, so: SoFar): Promise<Performed> => {
    const { staged = [], signal } = options;
    const layers = await sandbox.makeLayers();
    const { upper } = layers;
    const discard = () => removeLayers(layers);
    try {
      stageLayer(root, upper, staged);
      const begunNs = BigInt(Date.now()) * 1_000_000n;
      const { level, ...ended } = await run(command, options, layers);
      const held = { ...holdOf(command, options, level, ended), isCopy: true };
      const layer = readLayer({ root, rules: policy, upper, staged, earlier: so.changes, begunNs, git });
      const isDropped = options.sandbox === "throwaway" || signal.aborted;
      const found = isDropped ? null : await pace(layer, signal).catch(toPaiError);
      if (found === null || found instanceof PaiError) {
        discard();
        const failure = found === null ? {} : { failure: found };
        return { result: { ...ended, held, effects: noEffects, ...failure }, copy: null, undo: noUndo };
      }
      const effects = diff(found, madeBy(so));
      const take: Copy["takeOver"] = async (paths, until) => {
        const taken = await takeOver({ root, upper, made: added }, paths, until);
        const ignored = effects.changes.flatMap(({ path, isIgnored }) => (isIgnored ? [path] : []));
        takeTimes(root, upper, ignored);
        return taken;
      };
      return { result: { ...ended, held, effects }, copy: { takeOver: take, discard }, undo: noUndo };
    } catch (thrown) {
      discard();
      throw thrown;
    }
  };

  const runInPlace = async (command: string, options: CommandOptions, so: SoFar): Promise<Performed> => {
    const ownOf = meanwhile();
    const { signal, by } = options;
    // What users do without a sandbox is their own change.
    const isOwn = options.sandbox === "none";
    const best = (await sandbox.state()).level;
    const isWalled = !isFree(options) && best === "full";
    const own = new Set(so.changes.map(({ path }) => path));
    const look = { root, rules: policy, isWalled, git, keepsIgnored: by === "plan", own, known: last };
    const before = await pace(takeLook(look), signal);
    if (!isOwn) so.begun(before, { git, isWalled });
    const { level, ...ended } = await run(command, options, null);
    // The signal that ended the command must not end this look: unknown changes could not be undone.
    const second = { earlier: before, reopens: !isOwn, hurry: signal };
    const after = await pace(takeLook(look, second), undefined);
    last = after;
    const all = await pace(compareLooks(root, before, after, isWalled), undefined);
    const found = isOwn ? { ...all, candidates: all.candidates.filter(({ kind }) => kind === "open") } : all;
    const compared = diff(found, madeBy(so));
    const mine = new Set<Change>(ownOf(compared.changes));
    const changes = compared.changes.filter((change) => mine.has(change));
    const theirs = compared.changes.filter((change) => !mine.has(change) && !change.isIgnored);
    const others = theirs.filter(({ before, after }) => (after ?? before)?.kind !== "folder").map(({ path }) => path);
    const effects: Effects = { ...compared, changes, ...(others.length > 0 && { others }) };
    const held = { ...holdOf(command, options, level, ended), isCopy: false };
    return { result: { ...ended, held, effects }, copy: null, undo: undoOf(found, compared) };
  };

  return async (command, options, so) => {
    if (options.unasked === true) await requireProtection(sandbox);
    const isCopied = options.sandbox === "throwaway" || options.sandbox === "proposal";
    if (isCopied && !isFree(options) && (await sandbox.state()).proposes) return runOnCopy(command, options, so);
    return runInPlace(command, options, so);
  };
}

const isSocket = (path: string): boolean => orNull(() => entryAt(path))?.isSocket() === true;

/** What nobody approved runs only where a sandbox protects files. */
async function requireProtection(sandbox: Sandbox): Promise<void> {
  const { level, choice, why } = await sandbox.state();
  if (holdsUnasked(level, choice)) return;
  const text = "commands of a model need a sandbox that protects files, and none works here";
  const hint = "--sandbox off runs them without one";
  throw new PaiError("sandbox_missing", why === null ? text : `${text} (${why})`, { hint });
}

const operations = { dumpable: 4, childSubreaper: 36 } as const;
const shapes = { prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" } } as const;

let done = false;

/** Closes `/proc/PID/environ` of pai, which exposes its keys, and makes it the parent of orphans, to end them. */
export function protectProcess(): void {
  if (done) return;
  done = true;
  const functions = openLibc(shapes)?.functions;
  functions?.prctl(operations.dumpable, 0, 0, 0, 0);
  functions?.prctl(operations.childSubreaper, 1, 0, 0, 0);
}
