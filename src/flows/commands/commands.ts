/** The commands of a run: whose approval is tied to the content of the files that they run, how they run, and what the model is told. */

import { resolve } from "node:path";
import { approvalWording, sandboxWording } from "../../core/approval-wording.ts";
import { type Blob, sameBlob } from "../../core/change.ts";
import { filesOfCommand, namesInCommand } from "../../core/command/command-files.ts";
import { grantsRun, whyNotRun } from "../../core/command/run-patterns.ts";
import { tellOwn } from "../../core/command/sandbox.ts";
import { noteWork } from "../../core/dialogue.ts";
import { orNull, PaiError } from "../../core/error.ts";
import type { RefusedAction } from "../../core/outcome.ts";
import { nameOf, type RelPath } from "../../core/path.ts";
import { workOf } from "../../core/plan/plan.ts";
import type { PlanClaim, Rights } from "../../core/plan/scope.ts";
import type { CommandOptions, CommandResult, View } from "../../core/ports.ts";
import { mannerOfFile } from "../../core/secrets/named-values.ts";
import { breathe } from "../../core/steps.ts";
import { nameSome } from "../../core/suggest.ts";
import { isToolCall } from "../../core/tool-calls.ts";
import { rowOf } from "../../core/vocabulary.ts";
import type { Refusal } from "../changes/changing.ts";
import { ownChanges } from "../checks/checking.ts";
import { describeEnd, hasEffects, settleEffects } from "../effects.ts";
import type { Run } from "../run.ts";

export const mayRunCommand = ({ changing, interactive, shell }: Run, command: string): boolean =>
  !changing.dryRun && (interactive || grantsRun(shell.allowRun, command));

/** Notes the current content of the files that a plan's commands would run, before anybody is asked about the plan. */
export async function bindCommands(run: Run, commands: readonly string[]): Promise<void> {
  for (const command of commands) {
    for (const [path, file] of await readFiles(run, run.overlay, filesOfCommand(command))) {
      run.reading.bases.add(path);
      run.shell.bound.set(path, file);
    }
  }
}

/** The first file that a command uses and that somebody else has changed since it was approved; null: there is none. */
export async function changedFileOf(run: Run, command: string): Promise<RelPath | null> {
  const found = await readFiles(run, run.overlay, filesOfCommand(command));
  const isBound = (path: RelPath, bound = run.shell.bound.get(path)) =>
    bound !== undefined && sameBlob(bound, found.get(path) ?? null);
  for (const path of [...parsePaths(run, filesOfCommand(command)), ...found.keys()])
    if (!isBound(path) && (await run.overlay.isChanged(path))) return path;
  return null;
}

/** Throws conflict when somebody else has changed a file that a command of the plan uses since it was approved. */
export async function requireBound(run: Run, command: string): Promise<void> {
  const path = await changedFileOf(run, command);
  if (path === null) return;
  const text = `${path} was changed by someone else since a command that uses it was planned, so this was not run`;
  throw new PaiError("conflict", text, { target: command, hint: "run the task again on the new content" });
}

/** Asks a person anew about a command whose files somebody else has changed since it was approved. Throws declined after a no. */
async function askAnew(run: Run, rights: Rights, { command, promised }: Wanted): Promise<void> {
  const claim = { kind: "command", command: promised } as const;
  const refused = rights.refusalOf(claim);
  if (refused !== null) throw refused;
  const path = await changedFileOf(run, command);
  if (path === null) return;
  const text = approvalWording.command(command, await describeSandbox(run));
  const first = approvalWording.changedMeanwhile([path]);
  const ask = async (note: string) => (await run.decide({ kind: "command", text: (note || first) + text })).accept;
  if (!(await askBound(run, command, ask))) {
    const declined = new PaiError("declined", `the user declined to run ${promised}`);
    rights.refuse(claim, declined);
    throw declined;
  }
  await bindCommands(run, [command]);
}

/** Asks, again whenever a file that the command runs changed meanwhile, with a note that says so ("" at first). */
export async function askBound(run: Run, command: string, ask: (note: string) => Promise<boolean>): Promise<boolean> {
  const { workspace } = run;
  let changed: readonly RelPath[] = [];
  for (;;) {
    const before = await readFiles(run, workspace, filesOfCommand(command));
    if (!(await ask(approvalWording.changedMeanwhile(changed)))) return false;
    const after = await readFiles(run, workspace, filesOfCommand(command));
    const paths = new Set([...before.keys(), ...after.keys()]);
    changed = [...paths].filter((path) => !sameBlob(before.get(path) ?? null, after.get(path) ?? null));
    if (changed.length === 0) return true;
  }
}

export const describeSandbox = async ({ workspace }: Run): Promise<string> =>
  sandboxWording(workspace.root, await workspace.sandbox());

async function tellSandbox(run: Run, { held: { level } }: CommandResult): Promise<void> {
  run.shell.sandbox = level ?? "off";
  if (run.shell.sandboxTold) return;
  run.shell.sandboxTold = true;
  const { text, details, why, choice } = await run.workspace.sandbox();
  const isLess = why !== null && choice !== "off";
  run.emit({
    type: "notice",
    level: isLess ? "warning" : "info",
    code: "sandbox",
    text: `sandbox ${text}${isLess ? ` (${[details, why].filter(Boolean).join("; ")})` : ""}`,
    details: isLess ? undefined : details,
  });
}

/** Runs a command and notes its changes. Throws its failure, and the reason of a signal that ended it. */
export async function runInWorkspace(
  run: Run,
  command: string,
  {
    signal = run.signal,
    name = command,
    onEnd = () => {},
    ...options
  }: Omit<CommandOptions, "signal"> & {
    readonly signal?: AbortSignal | undefined;
    readonly name?: string;
    /** Is told how it ended, also where that throws. */
    readonly onEnd?: (result: CommandResult) => void;
  },
): Promise<CommandResult> {
  // Before it runs: the receipt keeps its output as it is hidden then.
  await learnNamed(run, command);
  const transaction = await run.transaction();
  const onOutput = (lines: string) => run.emit({ type: "command.output", lines: run.veil.hideOutput(lines) });
  const result = await transaction.run(command, { ...options, signal, onOutput });
  onEnd(result);
  const { effects, held } = result;
  if (!held.isCopy) {
    run.overlay.learn(effects.changes);
    noteWork(run.dialogue, effects.changes, run.veiled.hide);
    run.overlay.release(effects.carried.map(({ path }) => path));
  }
  if (options.by === "user") {
    for (const change of effects.changes) run.checking.byUser.add(change);
    run.checking.byOthers.push(...(effects.others ?? []));
  }
  if (signal.aborted && held.isCopy) await transaction.drop(effects, null);
  signal.throwIfAborted();
  if (result.failure !== undefined) throw result.failure;
  if (options.weakest === "off") run.shell.sandbox ??= "off";
  else await tellSandbox(run, result);
  for (const note of effects.notes) {
    run.emit({ type: "notice", level: "info", code: "command_left", text: `${name}: ${note}` });
  }
  // The result of a planned command says it itself.
  if (held.wall !== null && options.sandbox !== "proposal")
    run.emit({ type: "notice", level: "info", code: "sandbox_wall", text: `${name}: ${held.wall.text}` });
  return { ...result, output: run.veil.hideOutput(result.output) };
}

export const renderNotRun = ({ changing, shell }: Run) =>
  changing.dryRun ? "not run: this is a dry run" : `not run: ${whyNotRun(shell.allowRun)}`;

/** Whether the run itself, and not only a check of the user, has changed something, on disk or in a dry run. */
export const hasOwnWork = (run: Run): boolean => run.changing.staged.length > 0 || ownChanges(run).length > 0;

interface Ran extends CommandResult {
  /** Why its changes were undone; null: they were kept. */
  readonly refused: Refusal | null;
  readonly limitMs: number;
}

/** In a dry run commands run only on a copy. */
async function mayRunNow(run: Run, promised: string): Promise<boolean> {
  const { changing, interactive, shell, workspace } = run;
  if (!changing.dryRun) return mayRunCommand(run, promised);
  return (interactive || grantsRun(shell.allowRun, promised)) && (await workspace.sandbox()).proposes;
}

/** A command of the model, the name of its action, and the command as the plan spells it. */
interface Wanted {
  readonly action: string;
  readonly command: string;
  readonly promised: string;
  readonly timeoutMs?: number;
}

/** Runs a command of the model; null: it may not run here. */
export async function runPlanned(run: Run, rights: Rights | null, wanted: Wanted): Promise<Ran | null> {
  const { command, promised } = wanted;
  // A tool of a server acts outside of the workspace, where there is no copy.
  const isReal = run.changing.dryRun && isToolCall(command);
  if (isReal || !(await mayRunNow(run, promised))) {
    if (!run.changing.dryRun) run.acting.tally.withhold(command, whyNotRun(run.shell.allowRun));
    return null;
  }
  if (rights !== null) await (run.interactive ? askAnew(run, rights, wanted) : requireBound(run, command));
  const held = { unasked: !run.interactive, sandbox: "proposal", staged: run.overlay.kept() } as const;
  const ran = await runNow(run, rights, wanted, held);
  return (await mayRunOutside(run, ran, command)) ? runNow(run, rights, wanted, { weakest: "off" }) : ran;
}

async function runNow(
  run: Run,
  rights: Rights | null,
  { action, command, promised, timeoutMs: limitMs = run.shell.commandTimeoutMs }: Wanted,
  held: Pick<CommandOptions, "unasked" | "sandbox" | "staged" | "weakest">,
): Promise<Ran> {
  const isEarly = !hasOwnWork(run);
  const earlier = run.begun?.changes.length ?? 0;
  let isDropped = false;
  const show = (output: string) => run.emit({ type: "look.shown", action, target: command, text: output });
  const onEnd = ({ effects, exit, failure, held: { isCopy }, ms, timedOut, output }: CommandResult) => {
    // What a copy held is not looked at once the run is stopped.
    isDropped = isCopy && (run.signal.aborted || failure !== undefined || hasEffects(effects));
    const ended = timedOut ? "timeout" : exit === null ? "signal" : "exit";
    run.shell.commands = [...run.shell.commands, { command: promised, exit, ms, ended, isEarly }];
    // One that ends the run, or that the person stopped, has no result, and they saw what it printed.
    if (run.signal.aborted || failure !== undefined) show(run.veil.hideOutput(output));
  };
  const noteUnkept = () => {
    const [last] = run.shell.commands.slice(-1);
    if (last !== undefined) run.shell.commands = run.shell.commands.with(-1, { ...last, kept: false });
  };
  try {
    const result = await runInWorkspace(run, command, { by: "plan", timeoutMs: limitMs, onEnd, ...held });
    // Before a question about what it changed.
    show(result.output);
    const refused = await settleEffects(run, rights, { ...result, command });
    if (refused !== null) noteUnkept();
    return { ...result, limitMs, refused };
  } catch (thrown) {
    if (isDropped && (run.begun?.changes.length ?? 0) === earlier) noteUnkept();
    throw thrown;
  }
}

/** Whether a person lets a command that met a wall run once without the sandbox; never one that names a changed file. */
async function mayRunOutside(run: Run, { exit, held, refused }: Ran, command: string): Promise<boolean> {
  const isOpen = run.interactive && !run.changing.dryRun && !isToolCall(command) && refused === null;
  if (!isOpen || exit === 0 || held.wall?.needsRights !== true) return false;
  const changed = new Set([...(run.begun?.changes ?? []), ...run.overlay.kept()].map(({ path }) => path));
  const named = new Set(parsePaths(run, [...filesOfCommand(command), ...namesInCommand(command)]));
  const touches = (path: RelPath) => [...named].some((each) => path === each || path.startsWith(`${each}/`));
  if ([...changed].some(touches)) return false;
  const text = approvalWording.commandOutside(command, held.wall.text, run.workspace.root);
  return askBound(run, command, async (note) => (await run.decide({ kind: "command", text: note + text })).accept);
}

/** Commands of the plan whose last run failed, but for early ones, which only look, and those left out or passed as a check. */
export function redCommands(run: Run): readonly RefusedAction[] {
  const { checking, ending, planning, shell } = run;
  if (planning.plan === null) return [];
  const changes = hasOwnWork(run) || workOf(planning.plan).some(({ action }) => rowOf(action)?.kind === "change");
  const passed = checking.results.flatMap(({ command, passed: is }) => (is === true ? [command] : []));
  const settled = new Set([...passed, ...ending.skipped.map(({ target }) => target)]);
  const last = new Map(shell.commands.map((each) => [each.command, each]));
  return [...last.values()].flatMap(({ command, exit, ended, isEarly }) => {
    if (exit === 0 || (isEarly && changes) || settled.has(command)) return [];
    return [{ action: "RUN", target: command, why: describeEnd({ exit, timedOut: ended === "timeout" }) }];
  });
}

/** A command's result for the model: first how it ended, which people see as well, then its output. */
export function renderCommand({ exit, timedOut, output, ms, limitMs, refused, held, effects }: Ran): string {
  const end = timedOut
    ? `ended by the time limit of ${limitMs / 1000} s (--command-timeout allows more)`
    : describeEnd({ exit, timedOut });
  const back = refused === null ? "" : `; ${refused.text}`;
  const own = tellOwn(held.level, held.network);
  const isSeen = refused !== null || held.hidden.length === 0;
  const unseen = isSeen ? "" : `it names ${nameSome(held.hidden)}, which commands do not see`;
  const why = held.wall?.text ?? unseen;
  const first = `${end} after ${Math.round(ms)} ms${back}${why === "" ? "" : `; ${why}`}`;
  const told = own === null ? first : `${first}${refused === null ? " " : "\n"}${own}`;
  const paths = effects.changes.map(({ path }) => path);
  const changed = refused !== null || paths.length === 0 ? "" : `(it changed ${nameSome(paths)})\n`;
  return `${told}\n${changed}${output}`.trimEnd();
}

/** A name in a command, resolved as a shell in the root would: relative to the root, absolute outside of it. */
function relativeTo(root: string, name: string): string {
  const path = resolve(root, name);
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

const parsePaths = ({ workspace }: Run, names: readonly string[]): readonly RelPath[] =>
  names.flatMap((name) => orNull(() => workspace.path(relativeTo(workspace.root, name), "read")) ?? []);

const targetOf = (path: RelPath, blob: Blob): readonly string[] => {
  if (blob.kind !== "link") return [];
  return [blob.target.startsWith("/") ? blob.target : `${path}/../${blob.target}`];
};

/** The files of these names, and the links that lead to them. `limit`: the bytes of the next file at most. */
async function* eachFile(run: Run, view: View, names: readonly string[], limit?: () => number) {
  const paths = new Set(parsePaths(run, names));
  for (const path of paths) {
    await breathe(run.signal);
    const blob = await view.read(path, limit?.()).catch(() => null);
    if (blob === null || blob.kind === "folder") continue;
    yield { path, blob };
    for (const next of parsePaths(run, targetOf(path, blob))) paths.add(next);
  }
}

async function readFiles(run: Run, view: View, names: readonly string[]): Promise<ReadonlyMap<RelPath, Blob>> {
  const files = new Map<RelPath, Blob>();
  for await (const { path, blob } of eachFile(run, view, names)) files.set(path, blob);
  return files;
}

/** For one command: the names that are tried, the patterns among them, the files that are read and their bytes. */
const learned = { names: 500, patterns: 8, files: 20, bytes: 2 ** 20 } as const;
const isPattern = (name: string) => /[*?[{]/.test(name);

async function namesLike({ workspace }: Run, folder: string, pattern: string): Promise<readonly string[]> {
  const glob = new Bun.Glob(pattern);
  const entries = await workspace.list(workspace.path(folder === "" ? "." : folder, "list")).catch(() => []);
  return entries.flatMap(({ path }) => (glob.match(nameOf(path)) ? [path] : []));
}

/** The paths that a shell would put in the place of a pattern, as many as are read. */
async function expand(run: Run, pattern: string): Promise<readonly string[]> {
  let found: readonly string[] = [""];
  for (const part of relativeTo(run.workspace.root, pattern).split("/")) {
    const below: string[] = [];
    for (const folder of found) {
      if (isPattern(part)) below.push(...(await namesLike(run, folder, part)));
      else below.push(folder === "" ? part : `${folder}/${part}`);
    }
    found = below.slice(0, learned.files);
  }
  return found;
}

/** Learns the secrets of files that a command names: it may print a value without the word that tells of it. */
export async function learnNamed(run: Run, command: string): Promise<void> {
  const names: string[] = [];
  let patterns = 0;
  for (const name of namesInCommand(command).slice(0, learned.names)) {
    if (!isPattern(name)) names.push(name);
    else if (++patterns <= learned.patterns) names.push(...(await expand(run, name).catch(() => [])));
  }
  let [files, left] = [0, learned.bytes as number];
  for await (const { blob, path } of eachFile(run, run.workspace, names, () => left)) {
    if (blob.kind !== "file") continue;
    left -= blob.bytes.length;
    run.veil.hideBytes(blob.bytes, mannerOfFile(path));
    if (++files >= learned.files) break;
  }
}

/** Says that a yes to these claims does nothing but run commands, if so. */
export async function onlyCommands(run: Run, claims: readonly PlanClaim[], checks: readonly string[] = []) {
  const commands = [...claims.flatMap((claim) => (claim.kind === "command" ? claim.command : [])), ...checks];
  if (commands.length === 0 || claims.some(({ kind }) => kind !== "command")) return {};
  return { commands: [...new Set(commands)], isConfined: (await run.workspace.sandbox()).level !== null };
}
