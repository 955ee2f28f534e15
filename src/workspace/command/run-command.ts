/** Runs commands in their sandbox and finds what they changed, by looking at the workspace before and after. */

import { relative } from "node:path";
import type { Change } from "../../core/change.ts";
import { holdsUnasked } from "../../core/command/sandbox.ts";
import { PaiError } from "../../core/error.ts";
import type { PathRules } from "../../core/names.ts";
import type { RelPath } from "../../core/path.ts";
import type { CommandOptions, CommandResult } from "../../core/ports.ts";
import type { Root } from "../confine.ts";
import type { Copies } from "../journal/closed-copies.ts";
import { showName } from "../parse-path.ts";
import { type Layers, removeLayers } from "../sandbox/layers.ts";
import type { Sandbox } from "../sandbox/open-sandbox.ts";
import { protectProcess } from "../system/protect-process.ts";
import type { Traits } from "../traits.ts";
import { bringOver, bringTimes } from "./bring-over.ts";
import { type ClosedFiles, keepClosed } from "./closed-files.ts";
import { commandEnv, type Env, withheldNames } from "./command-env.ts";
import { compareSnapshots, findNewHidden, type Snapshot, takeSnapshot } from "./compare.ts";
import { type ClosedComparison, compareClosed, describeStays, findUnread } from "./compare-closed.ts";
import { foldersAbove, reopenAll, sayReopened } from "./folder-modes.ts";
import type { OwnOf } from "./others.ts";
import { isLoss } from "./read-ignored.ts";
import { readLayer } from "./read-layer.ts";
import { runConfined, runShell } from "./shell.ts";
import { stageLayer } from "./stage-layer.ts";
import type { Files } from "./watch.ts";

export interface PerformParts {
  readonly root: Root;
  readonly policy: PathRules;
  readonly env: Env;
  /** Variables that commands get besides the allow-list. */
  readonly commandEnv: readonly string[];
  readonly sandbox: Sandbox;
  /** Called when a command begins; the returned filter drops changes that other runs made since. */
  readonly meanwhile: () => OwnOf;
}

export type Performed = Omit<CommandResult, "closed"> & {
  readonly traits: ReadonlyMap<RelPath, Traits>;
  /** Earlier modes of folders whose mode it changed in place; absent: none. */
  readonly modes?: ReadonlyMap<RelPath, number>;
  /** Changes in files closed to actions; absent if the command could not reach them. */
  readonly closed?: ClosedComparison;
};

/** What a run has done before one of its commands. */
export interface SoFar {
  readonly changes: readonly Change[];
  /**
   * Called before a command that works directly in the workspace, with its files; `closed`: files closed to actions, if
   * no sandbox keeps the command off them.
   */
  begun(files: Files, closed?: Copies | null): void;
}

export type Perform = (command: string, options: CommandOptions, so: SoFar) => Promise<Performed>;

/** Compares the workspace after each command with its state after the one before. */
export function openPerform({ root, policy, sandbox, meanwhile, ...parts }: PerformParts): Perform {
  let last: Snapshot | null = null;
  const brought = new Set<RelPath>();
  const env = commandEnv(parts.env, parts.commandEnv);

  /** Runs in the sandbox, or without one if there is none or the user turned it off. */
  const run = async (command: string, options: CommandOptions, layers: Layers | null) => {
    protectProcess();
    const { timeoutMs, signal, by } = options;
    const limits = { env, timeoutMs, signal };
    const confined =
      options.sandbox === "none"
        ? null
        : await runConfined(command, limits, (argv, marked) =>
            sandbox.start({ argv, env: marked, by, stdin: "ignore", stderr: "merge", layers }),
          );
    if (confined !== null) return confined;
    // The child enters the pinned folder by descriptor, even if it was moved; `runShell` starts it before `use`
    // returns.
    const result = await root.withFolder("" as RelPath, (cwd) => runShell(command, { ...limits, cwd }));
    if (result === null) throw new PaiError("io_failed", `${showName(root.path)} cannot be entered`);
    return { ...result, level: null, replaced: [] };
  };

  /** Runs on an overlay: the workspace stays unchanged. */
  const runOnCopy = async (command: string, options: CommandOptions, earlier: SoFar["changes"]): Promise<Performed> => {
    const { staged = [], signal } = options;
    const layers = await sandbox.makeLayers();
    const discard = () => removeLayers(layers);
    try {
      stageLayer(root, layers.upper, staged);
      const begunNs = BigInt(Date.now()) * 1_000_000n;
      const { replaced: _, ...result } = await run(command, options, layers);
      const withheld = withheldNames(parts.env, env, result.output);
      const hidden = sandbox.hiddenIn(result.output);
      const done = { command, ...result, withheld, hidden, traits: new Map(), changes: [], notes: [], proposal: null };
      if (options.sandbox === "throwaway" || signal.aborted) {
        discard();
        return done;
      }
      const { upper } = layers;
      const { git } = sandbox;
      const content = await readLayer({ root, rules: policy, upper, staged, earlier, begunNs, brought, git, signal });
      const { changes, notes, denied, ignored } = content;
      const accept = async (paths: readonly RelPath[]) => {
        const done = await bringOver({ root, upper, brought }, paths, signal);
        bringTimes(root, upper, ignored.timed);
        return done;
      };
      return { ...done, changes, notes, proposal: { accept, discard, denied, ignored } };
    } catch (thrown) {
      discard();
      throw thrown;
    }
  };

  const runInPlace = async (command: string, options: CommandOptions, so: SoFar): Promise<Performed> => {
    const ownOf = meanwhile();
    const { signal } = options;
    const { level } = await sandbox.state();
    const isWalled = level === "full";
    const keep = ({ watched, seen }: Snapshot, earlier: ClosedFiles | null, came?: ReadonlySet<RelPath>) =>
      keepClosed({
        root,
        rules: policy,
        hidden: watched,
        isOpen: (path) => seen.has(path),
        isWalled,
        came,
        git: sandbox.git,
        keepsSmall: options.by === "plan",
        own: [...new Set(so.changes.map(({ path }) => path))].filter((path) => !seen.has(path)),
        earlier,
        signal: earlier === null ? signal : undefined,
      });
    const before = await takeSnapshot(root, policy, last, { signal });
    // What users do without a sandbox is their own change.
    const closed = options.sandbox === "none" ? null : await keep(before, null);
    const files = closed === null || closed.small.size === 0 ? before.seen : new Map([...before.seen, ...closed.small]);
    const made = new Set(so.changes.filter(({ before: was }) => was === null).map(({ path }) => path));
    so.begun(files, closed === null || isWalled ? null : copiesOf(closed, sandbox.git));
    const above = closed && foldersAbove(root, [...closed.kept.keys(), ...closed.small.keys()]);
    const { replaced, ...result } = await run(command, options, null);
    const { modes, reopened } = reopenAll(root, above ?? new Map());
    // The signal that ended the command must not end this look: unknown changes could not be undone.
    last = await takeSnapshot(root, policy, before, { hurry: signal, reopens: options.sandbox !== "none" });
    const looks = closed && ([closed, await keep(last, closed, findNewHidden(before, last))] as const);
    const compared = compareAll([before, last], looks, policy, made);
    for (const [folder, mode] of compared.modes ?? []) modes.set(folder, mode);
    const withheld = withheldNames(parts.env, env, result.output);
    const notes = [
      ...reopened.map(sayReopened),
      ...compared.notes,
      ...replaced.map((path) => seenMeanwhile(path, root.path)),
    ];
    const changes = ownOf(compared.changes);
    return { command, ...result, ...compared, modes, notes, withheld, changes, proposal: null };
  };

  return async (command, options, so) => {
    if (options.unasked === true) await requireProtection(sandbox);
    const isCopied = options.sandbox === "throwaway" || options.sandbox === "proposal";
    if (isCopied && (await sandbox.state()).proposes) return runOnCopy(command, options, so.changes);
    return runInPlace(command, options, so);
  };
}

const copiesOf = ({ kept, isPart }: ClosedFiles, git: boolean): Copies => ({
  files: new Map(
    [...kept].map(
      ([
        path,
        {
          blob,
          stat: { uid, gid },
        },
      ]) => [path, { blob, uid, gid }],
    ),
  ),
  isPart,
  git,
});

/** Computes a command's changes from two looks at the workspace and at its closed and ignored files. */
function compareAll(
  [before, after]: readonly [Snapshot, Snapshot],
  closed: readonly [ClosedFiles, ClosedFiles] | null,
  rules: PathRules,
  made: ReadonlySet<RelPath>,
): Pick<Performed, "changes" | "ignored" | "traits" | "modes" | "notes" | "stays" | "unkept" | "closed"> {
  const seen = [before.seen, after.seen] as const;
  const found = closed && compareClosed(closed, seen, rules);
  if (closed === null || found === null) return compareSnapshots(before, after);
  const { ignored } = found;
  const closedTo = found.changes.map(({ path }) => path);
  const known = new Set([...ignored.changes.map(({ path }) => path), ...closedTo, ...findUnread(...seen, rules)]);
  const open = compareSnapshots(before, after, (path) => known.has(path));
  const isNamed = (path: RelPath) => open.stays.some((each) => path === each || path.startsWith(`${each}/`));
  const others = found.stays.filter((path) => !isNamed(path));
  const line = describeStays(
    others,
    closed.some(({ isPart }) => isPart),
  );
  const isOurs = (path: RelPath) => closed.some(({ kept }) => kept.has(path)) || known.has(path);
  const gone = [...open.went, ...found.gone].filter((path) => !isOurs(path) && isLoss(path, made));
  return {
    changes: [...open.changes, ...ignored.changes],
    ignored: new Set(ignored.changes.map(({ path }) => path)),
    unkept: [
      ...open.unkept,
      ...[...ignored.unkept, ...gone.map((path) => ({ path, isGone: true }))].map((each) => ({
        ...each,
        isIgnored: true,
      })),
    ],
    traits: new Map([...open.traits, ...ignored.traits]),
    modes: open.modes,
    notes: [...open.notes, ...found.notes, ...ignored.notes, ...(line === null ? [] : [line])],
    stays: [...open.stays, ...others],
    closed: found,
  };
}

const seenMeanwhile = (path: string, workspace: string): string =>
  `${showName(relative(workspace, path))} was replaced by somebody else while the command ran; it could read the new one`;

/** A model's command that nobody approved runs only in a sandbox that protects files. */
async function requireProtection(sandbox: Sandbox): Promise<void> {
  const { level, choice, why } = await sandbox.state();
  if (holdsUnasked(level, choice)) return;
  const reason = why === null ? "" : ` (${why})`;
  throw new PaiError(
    "sandbox_missing",
    `commands of a model need a sandbox that protects files, and none works here${reason}`,
    {
      hint: "--sandbox off runs them without one",
    },
  );
}
