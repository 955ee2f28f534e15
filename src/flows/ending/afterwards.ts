/** What follows a proved run: the user's commands (--then), while everything can still be taken back, then its commit. */
import { type Change, squash } from "../../core/change.ts";
import { startedBy } from "../../core/command/command-files.ts";
import { grantsSome } from "../../core/command/run-patterns.ts";
import { PaiError, toPaiError } from "../../core/error.ts";
import { renderUnsettled } from "../../core/outcome.ts";
import { nameOf } from "../../core/path.ts";
import type { PreparedCommit } from "../../core/ports.ts";
import { noteChanged } from "../changes/meanwhile.ts";
import { isVerified } from "../checks/checks.ts";
import { leavesNothing } from "../checks/rights.ts";
import { hasOwnWork, runInWorkspace } from "../commands/commands.ts";
import type { Ports, Run, RunOptions } from "../run.ts";

/** For each command of --then. */
const limitMs = 120_000;

/** Throws, before the work, usage where nothing could prove it, command_refused for a program that the run may change. */
export function requireThen({ checking, ending, interactive, shell, workspace }: Run): void {
  const { commands, unverified } = ending.after;
  if (commands.length === 0) return;
  for (const command of commands) {
    const own = workspace.ownProgram?.(command) ?? null;
    if (own === null) continue;
    const isStarted = startedBy(command).programs.some((each) => nameOf(each) === nameOf(own));
    const what = `it ${isStarted ? "starts" : "names"} ${own}, which this run may change`;
    throw new PaiError("command_refused", `--then ${command}: ${what}`, {
      hint: "name a program outside of the project",
    });
  }
  if (unverified || checking.checks.length > 0 || interactive || shell.allowRun !== false) return;
  throw new PaiError("usage", "--then runs only after a check has proved the change, and none is given", {
    hint: "add --check, or --then-unverified to run it all the same",
  });
}

/** Runs the commands in their order, while the changes can still be taken back. Throws then_failed for the first failure. */
export async function runThen(run: Run): Promise<void> {
  const { ending, emit } = run;
  const { commands, unverified } = ending.after;
  if (commands.length === 0 || leavesNothing(run)) return;
  const why = !hasOwnWork(run)
    ? "nothing was changed"
    : unverified || isVerified(run.checking)
      ? null
      : "no check has proved the change (--then-unverified runs it all the same)";
  if (why !== null) {
    const text = `not run, as ${why}: ${commands.join("; ")}`;
    return emit({ type: "notice", level: "warning", code: "then_not_run", text });
  }
  for (const command of commands) await runOne(run, command);
}

async function runOne(run: Run, command: string): Promise<void> {
  const limits = { timeoutMs: limitMs, signal: run.signal };
  const { exit, ms, timedOut, output } = await run.workspace.runAfter(command, limits);
  run.ending.ranThen = [...run.ending.ranThen, { command, exit, ms }];
  run.signal.throwIfAborted();
  if (exit === 0) {
    run.emit({ type: "notice", level: "info", code: "then", text: `${command}: exit 0, ${(ms / 1000).toFixed(1)} s` });
    return;
  }
  const how = timedOut ? `ended by the time limit of ${limitMs / 1000} s` : `exit ${exit ?? "none"}`;
  const said = run.veil.show(output).trim().split("\n").slice(-3).join("\n");
  throw new PaiError("then_failed", `${command}: ${how}${said === "" ? "" : `: ${said}`}`);
}

/** After the changes were taken back: runs the commands once more where the user asked for that, and reports how they end. */
export async function runThenAgain(run: Run, failure: PaiError | null): Promise<void> {
  const { commands, again } = run.ending.after;
  if (failure?.code !== "then_failed" || !again) return;
  for (const command of commands) {
    try {
      await runOne(run, command);
    } catch (thrown) {
      const text = `again, after the change was taken back: ${thrown instanceof Error ? thrown.message : command}`;
      run.emit({ type: "notice", level: "warning", code: "then_failed", text });
    }
  }
}

/** Throws usage, before any call, when the run could not end in a commit. */
export async function requireCommit(options: RunOptions, { workspace }: Ports): Promise<void> {
  const { commit, checks, interactive, allowRun, dryRun, planOnly } = options;
  if (commit == null || dryRun || planOnly) return;
  if (workspace.commits === undefined) throw new PaiError("usage", "--commit: nothing can be committed here");
  await workspace.commits.require();
  if (checks.length > 0 || interactive || grantsSome(allowRun)) return;
  throw new PaiError("usage", "--commit needs a check that verifies the run", { hint: "add --check CMD" });
}

const filesOf = (changes: readonly Change[]) =>
  squash(changes).filter(({ before, after }) => (after ?? before)?.kind !== "folder");

const lastLines = (output: string): string => output.trimEnd().split("\n").slice(-6).join("\n");

async function runHooks(run: Run, { hooks }: PreparedCommit): Promise<void> {
  for (const { name, command } of hooks) {
    const { exit, output } = await runInWorkspace(run, command, {
      name: `the ${name} hook`,
      // The hook is the repository's, and not a check that the user typed, so it has no network without --allow-net.
      by: "plan",
      timeoutMs: run.checking.checkTimeoutMs,
      sandbox: "throwaway",
    });
    if (exit === 0) continue;
    throw new PaiError("commit_failed", `the ${name} hook refused it\n${lastLines(output)}`.trimEnd());
  }
}

/** The failure of a commit as the run's failure, which never takes the work back. */
const asCommitFailure = (cause: PaiError): PaiError =>
  new PaiError("commit_failed", `not committed: ${cause.message}; the changes stay`, { hint: cause.hint, cause });

/** Prepares the commit and runs its hooks; null: none is wanted, or git has nothing to commit. Throws commit_failed. */
export async function readyCommit(run: Run): Promise<PreparedCommit | null> {
  try {
    return await prepare(run);
  } catch (thrown) {
    run.signal.throwIfAborted();
    throw asCommitFailure(toPaiError(thrown));
  }
}

async function prepare(run: Run): Promise<PreparedCommit | null> {
  const { begun, task, veil, checking, ending, id, workspace } = run;
  const commit = ending.commit;
  if (commit == null || leavesNothing(run)) return null;
  // What somebody deleted or moved is their change.
  const removed = new Set((await noteChanged(run)).flatMap(({ path, how }) => (how === "removed" ? [path] : [])));
  const paths = filesOf(begun?.changes ?? []).flatMap(({ path }) => (removed.has(path) ? [] : [path]));
  if (paths.length === 0) return begun?.changes.length ? nothing(run) : null;
  if (!isVerified(checking)) {
    const ran = checking.results.filter(({ passed }) => passed !== null).length;
    const why = checking.unsettled.length === 0 ? "" : `: ${renderUnsettled(checking.unsettled, ran)}`;
    throw new PaiError("commit_failed", `nothing has verified the run${why}`, {
      hint: "git commit -- FILES commits it all the same",
    });
  }
  const words = { text: veil.cover(ending.text), task: veil.cover(task.text), own: commit.message };
  const message = commitMessage(id, words);
  const prepared = (await workspace.commits?.prepare(paths, message, run.signal)) ?? null;
  if (prepared === null) return nothing(run);
  try {
    await runHooks(run, prepared);
    return prepared;
  } catch (thrown) {
    prepared.close();
    throw thrown;
  }
}

function nothing({ emit }: Run): null {
  const text = "git finds no changes of this run to commit";
  emit({ type: "notice", level: "info", code: "nothing_committed", text });
  return null;
}

export async function makeCommit({ emit }: Run, prepared: PreparedCommit): Promise<string | PaiError> {
  try {
    const hash = await prepared.make();
    const files = prepared.files === 1 ? "1 file" : `${prepared.files} files`;
    const left =
      prepared.others === 0 ? "" : `; nothing to commit of ${prepared.others} more (ignored by git, or as before)`;
    const text = `committed ${files} as ${hash.slice(0, 10)}${left}`;
    emit({ type: "notice", level: "info", code: "committed", text });
    return hash;
  } catch (thrown) {
    return asCommitFailure(toPaiError(thrown));
  }
}

const maxSubject = 72;

/** Removes control characters, which could act on a terminal that shows the log. */
const clean = (text: string): string =>
  text
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{C}\n\t]/gu, "")
    .replace(/[ \t]+$/gm, "")
    .trim();

function splitSubject(line: string): readonly [subject: string, body: string] {
  if (line.length <= maxSubject) return [line, ""];
  const space = line.lastIndexOf(" ", maxSubject - 1);
  const at = space > maxSubject / 2 ? space : maxSubject - 1;
  return [`${line.slice(0, at)}…`, line];
}

/** The message, made of the run's closing `text` or its task. `own`: the user's, used as it is; null: none. */
export function commitMessage(
  run: string,
  { text, task, own }: { readonly text: string; readonly task: string; readonly own: string | null },
): string {
  const trailer = `\n\nPai-Run: ${run}\n`;
  if (own !== null) return own.trim() + trailer;
  const [first = "", ...rest] = (clean(text) || clean(task) || "work of pai").split("\n");
  const [subject, cut] = splitSubject(first.replace(/^#+ +/, ""));
  const body = [cut, rest.join("\n").trim()].filter((part) => part !== "").join("\n\n");
  return `${subject}${body === "" ? "" : `\n\n${body}`}${trailer}`;
}
