/** `pai run`, `pai ask`, `pai plan` and `pai apply`: one task from the command line, or a saved plan, to its outcome. */

import { resolve } from "node:path";
import { compileSchema } from "../../core/answer-schema.ts";
import { quoteForShell } from "../../core/command/quote.ts";
import { grantsRun } from "../../core/command/run-patterns.ts";
import { PaiError } from "../../core/error.ts";
import type { Model } from "../../core/model.ts";
import type { Outcome } from "../../core/outcome.ts";
import { nameOf } from "../../core/path.ts";
import type { Workspace } from "../../core/ports.ts";
import { keepPlans } from "../../flows/plans/plan-state.ts";
import type { Flow, Run, RunOptions, Task } from "../../flows/run.ts";
import { followPlan, singleShot } from "../../flows/single-shot.ts";
import { createReplayModel } from "../../models/open.ts";
import { openPlaces } from "../../store/places.ts";
import { renderDocument } from "../../ui/json.ts";
import { absoluteMentions, findMentions } from "../at-paths.ts";
import type { Context } from "../command.ts";
import { type Base, composeBase, findRoot, projectOf, rootFlag, settleRoot, whyNoProject } from "../compose/base.ts";
import { composeTask } from "../compose/compose-task.ts";
import { expandCustom, looksCustom, unknownCustom } from "../compose/custom.ts";
import { notifyEnd } from "../compose/notify-end.ts";
import { composeOptions, flowFor, limitTime } from "../compose/options.ts";
import { openView, type TerminalView } from "../compose/view.ts";
import { alsoFlag, onlyFlag, shownFlag } from "../flags.ts";
import { chooseModel, offerToKeep, readLineOf } from "../onboard/choose-model.ts";
import { findOutput, requireInput, requireStdin } from "../output-file.ts";
import {
  changesOfPlan,
  readPlanFile,
  renderChangeFile,
  renderPlanFile,
  requireBase,
  type SavedPlan,
} from "../plan-file.ts";
import { readText, taskLimit } from "../read-text.ts";
import { continuedId, continueSession, takeId } from "../session/continue-session.ts";

function readTaskFile(context: Context, file: string, signal: AbortSignal): Promise<string> {
  requireInput(file, projectOf(context));
  return readText(file, "task file", signal, taskLimit);
}

type Notify = TerminalView["notify"];

const firstByteMs = 10_000;

/** Reads what is piped in beside the task; with --stdin it is waited for, with --no-stdin it is not read. */
async function readContext(context: Context, signal: AbortSignal, notify: Notify): Promise<string> {
  const { flags, tty } = context;
  if (flags.stdin === true && flags.noStdin === true)
    throw new PaiError("usage", "--stdin and --no-stdin exclude each other");
  if (flags.noStdin === true || (tty.stdin && flags.stdin !== true)) return "";
  const say = (text: string) => notify({ level: "info", code: "piped", text });
  const firstMs = flags.stdin === true ? null : firstByteMs;
  const text = await context.readPiped(signal, { firstMs, say });
  if (text !== "") requireStdin(projectOf(context));
  return text;
}

/** The task from the arguments: one text, or a custom command `/NAME ARGS`. Throws usage for another line. */
function readArgument(context: Context): string {
  const { words } = context;
  const text = words.join(" ").trim();
  if (looksCustom(text)) {
    const project = { places: openPlaces(context.env), root: findRoot(context) };
    const task = expandCustom(text, project);
    if (task !== null) return task;
    if (words.length > 1 || !/\s/.test(text)) throw unknownCustom(text, project);
  }
  if (words.length <= 1) return text;
  throw new PaiError("usage", "a task of several words must be quoted", { hint: `"${text}"` });
}

/** The task from an argument, a file or standard input. Throws usage when there is none, or more than one. */
export async function readTask(context: Context, signal: AbortSignal, notify: Notify, command: string): Promise<Task> {
  const { flags, words } = context;
  const file = flags.file ?? null;
  if (words.length > 0 && file !== null)
    throw new PaiError("usage", "the task is given twice: as an argument and by --file");
  const fromStdin = words.length === 1 && words[0] === "-";
  if (fromStdin || flags.stdin === true) requireStdin(projectOf(context));
  const read = fromStdin
    ? await context.readStdin(signal)
    : file !== null
      ? await readTaskFile(context, resolve(context.cwd, file), signal)
      : readArgument(context);
  if (flags.stdin === true && fromStdin)
    throw new PaiError("usage", "standard input cannot be both the task and its context");
  const task = read.trim();
  if (task === "")
    throw new PaiError("usage", "no task given", {
      hint: `pai ${command} "what to do", pai ${command} --file task.txt, or pai ${command} - < task.txt`,
    });
  const piped = fromStdin ? "" : (await readContext(context, signal, notify)).trim();
  return { text: task, history: [], context: piped === "" ? null : piped };
}

export interface TaskRun {
  readonly command: "run" | "ask" | "plan" | "apply";
  /** Absent: the flow of the mode. Commands for plans pass their own, which works like single-shot. */
  readonly flow?: Flow;
  /** Absent: what the command line says. */
  readonly task?: Task;
  readonly options?: Partial<RunOptions>;
  /** Absent: the model of the settings. */
  readonly model?: Model | null;
}

/** Throws usage for a --mode without a plan, in a command about plans. */
function requirePlanning({ flags }: Context, { command, flow }: TaskRun): void {
  const mode = flags.mode ?? "auto";
  if (flow === undefined || mode === "auto" || mode === "single-shot") return;
  throw new PaiError("usage", `pai ${command} works in single-shot, never in ${mode}`, {
    hint: `pai run --mode ${mode} "what to do"`,
  });
}

/** The options of a run that only looks and answers: nothing is granted and nobody is asked to grant it. */
const asking = { asksOnly: true, strict: true, interactive: false, allowRun: false, checks: [] } as const;

function withMentions(base: Base, text: string): Base {
  const { context } = base;
  const show = [...(context.flags.show ?? []), ...absoluteMentions(text)];
  return show.length === 0 ? base : { ...base, context: { ...context, flags: { ...context.flags, show } } };
}

/** What the user names: files in the text with @ and by --show, and shown folders. Throws usage for a closed one. */
async function findNamed({ context }: Base, workspace: Workspace, text: string | null) {
  const files = new Set(text?.includes("@") === true ? await findMentions(workspace, text) : []);
  const shown: string[] = [];
  for (const path of shownFlag(context).paths) {
    const at = workspace.path(path, "list");
    const closed = workspace.whyClosed(at);
    if (closed !== null) throw new PaiError("usage", `--show ${path}: ${closed}`);
    const blob = await workspace.read(at, 0).catch(() => null);
    if (blob?.kind === "folder") shown.push(at);
    else files.add(at);
  }
  for (const path of alsoFlag(context)) {
    const at = workspace.path(path, "list");
    const names = (await workspace.list(at)).slice(0, 40).map((entry) => nameOf(entry.path));
    shown.push(`${at} (may be changed as well, by absolute paths; it holds ${names.join(", ") || "nothing"})`);
  }
  return { files: [...files], shown };
}

async function openRun(
  { command, flow, model = null, options }: TaskRun,
  called: Base,
  view: TerminalView,
  read: Task,
) {
  // Only typed text may mention files; a saved plan comes with an old task text.
  const typed = command === "apply" ? null : read.text;
  const readLine = view.interactive ? readLineOf(view) : null;
  const settled = await settleRoot(withMentions(called, typed ?? ""), { task: typed, readLine });
  const base = model === null ? await chooseModel(called.context, settled, view) : settled;
  const composed = await composeTask(base, view, model);
  const task = composed.tellTools({ ...read, ...(await findNamed(base, composed.opened.workspace, typed)) });
  const isAsk = command === "ask";
  const mode = flow === undefined && !isAsk ? base.settings.mode : "single-shot";
  const all: RunOptions = {
    ...composeOptions(called.context, base, command, view.interactive),
    mode,
    ...options,
    ...(isAsk && { ...asking, namesOnly: whyNoProject(called) !== null }),
  };
  return { base, composed, task, all, how: flow ?? (await flowFor(mode)) };
}

/** Checks before anything is paid for where the change is to be saved; null: nowhere. Throws usage for -o without -n. */
function openChange(context: Context) {
  const { flags, cwd, env, now } = context;
  const name = flags.saveChange ?? flags.output;
  if (name === undefined) return null;
  if (flags.output !== undefined && flags.dryRun !== true)
    throw new PaiError("usage", "-o saves the change of a dry run (-n)", {
      hint: `after a verified run: --save-change ${name}`,
    });
  const { write } = findOutput(resolve(cwd, name), projectOf(context), true);
  return (run: Run, { ok, status }: Outcome, notify: Notify): void => {
    if (!ok) return;
    if (!run.changing.dryRun && status !== "verified") {
      const text = `${name} was not saved: no check has proved the run`;
      notify({ level: "warning", code: "change_not_saved", text });
      return;
    }
    const user = env["USER"] ?? env["LOGNAME"] ?? `uid ${process.getuid?.() ?? "unknown"}`;
    write(renderChangeFile(run, user, now()));
    notify({ level: "info", code: "change_saved", text: `change saved; elsewhere: pai apply -y ${name}` });
  };
}

export async function doTask(given: Context, doing: TaskRun): Promise<number> {
  const { command } = doing;
  requirePlanning(given, doing);
  const outputSchema = await readSchema(given);
  const options = { ...doing.options, outputSchema };
  const called = { ...composeBase(given), ...(command === "ask" && { asksOnly: true as const }) };
  const { context } = called;
  const limited = limitTime(context.signal, called.settings.limits.timeout);
  try {
    const keepChange = command === "run" ? openChange(context) : null;
    const view = await openView(context, limited.signal, options.planOnly === true ? "plan" : "run");
    for (const warning of called.warnings) view.notify({ level: "warning", code: "settings", text: warning });
    const read = doing.task ?? (await readTask(context, limited.signal, view.notify, command));
    const { base, composed, task, all, how } = await openRun({ ...doing, options }, called, view, read);
    const id = continuedId(context);
    const warn = (text: string) => view.notify({ level: "warning", code: "session", text });
    const continued = id === undefined ? null : await continueSession(context, composed, { id, task, warn });
    const said = continued?.task ?? task;
    const sink: TerminalView["sink"] = (event) => {
      continued?.sink(event);
      view.sink(event);
    };
    let ran: Run | null = null;
    const keeping: Flow = (run) => {
      ran = run;
      return how(run);
    };
    const { decide } = view;
    const outcome = await composed.run(keeping, { task: said, options: all, sink, signal: limited.signal, decide });
    if (ran !== null) keepChange?.(ran, outcome, view.notify);
    await continued?.close();
    const closing = composed.close();
    if (context.flags.json === true) {
      context.out(renderDocument(outcome, context.notices.take()));
    } else if (context.flags.outputSchema !== undefined && context.flags.jsonl !== true && outcome.ok) {
      context.out(`${outcome.text}\n`);
    }
    view.finish(outcome, composed.opened.workspace.undoable ? rootFlag(base) : null);
    notifyEnd(context, base, outcome, { task: composed.cover(read.text), notify: view.notify });
    if (view.interactive) await offerToKeep(context, base, outcome, readLineOf(view));
    await closing;
    return outcome.code;
  } finally {
    limited.end();
  }
}

const maxSchema = 256 * 1024;

/** Reads the schema of --output-schema; null: none. Throws usage for anything but a JSON Schema. */
async function readSchema(context: Context): Promise<string | null> {
  const { cwd, flags, signal } = context;
  if (flags.outputSchema === undefined) return null;
  const file = resolve(cwd, flags.outputSchema);
  requireInput(file, projectOf(context));
  const text = await readText(file, "output schema", signal, maxSchema);
  compileSchema(text);
  return text.trim();
}

export const runCommand = async (context: Context): Promise<number> => doTask(takeId(context), { command: "run" });

export const askCommand = (context: Context): Promise<number> => doTask(context, { command: "ask" });

export async function planCommand(context: Context): Promise<number> {
  const full = context.flags.full === true;
  const output = context.flags.output ?? null;
  if (full && output === null) throw new PaiError("usage", "--full needs -o FILE to hold the edits");
  const saves = output !== null && context.flags.dryRun !== true;
  const file = saves ? findOutput(resolve(context.cwd, output), projectOf(context), full) : null;
  const flow: Flow = async (run) => {
    await singleShot(run);
    if (file === null) return;
    file.write(await renderPlanFile(run, full, context.now()));
    keepPlans(run.planning);
    const text = `plan saved; carry it out with: pai apply ${output}`;
    run.emit({ type: "notice", level: "info", code: "plan_saved", text });
  };
  return doTask(context, { flow, options: full ? { dryRun: true } : { planOnly: true }, command: "plan" });
}

/**
 * Names the commands of the file that do not run: anybody can write such a file. Checks of a plan may run with
 * --allow-run or after a question; those of a change from elsewhere, and its --then, only where they are typed.
 */
function tellNotRun({ emit, checking, ending, interactive, shell }: Run, { file: { checks, made } }: SavedPlan): void {
  const mayRun = (check: string) => made === null && (interactive || grantsRun(shell.allowRun, check));
  const foreign = checks.filter((check) => !checking.checks.includes(check) && !mayRun(check));
  const after = made?.after.filter((each) => !ending.after.commands.includes(each)) ?? [];
  const flags = [
    ...foreign.map((check) => `--check ${quoteForShell(check)}`),
    ...after.map((each) => `--then ${quoteForShell(each)}`),
  ];
  if (flags.length === 0) return;
  const what = made === null ? "checks of the plan file" : `commands of ${made.by}`;
  const text = `${what} are not run; to run them as your own: ${flags.join(" ")}`;
  emit({ type: "notice", level: "warning", code: "checks_not_run", text });
}

export async function applyCommand(context: Context): Promise<number> {
  const [name, ...more] = context.words;
  if (name === undefined || more.length > 0)
    throw new PaiError("usage", "pai apply takes one plan file", { hint: "pai apply -y plan.json" });
  const saved = readPlanFile(await readText(resolve(context.cwd, name), "plan file", context.signal), name);
  const { file } = saved;
  return doTask(context, {
    command: "apply",
    model: file.changes === null ? null : createReplayModel([], "saved edits"),
    task: { text: file.task, history: [], context: null },
    options: { only: [file.only, onlyFlag(context.flags)].filter((globs) => globs.length > 0) },
    flow: async (run) => {
      const { workspace } = run;
      run.ledger.promise({ expected: 0, at_most: 0 });
      tellNotRun(run, saved);
      const merge = context.flags.merge === true;
      await requireBase(workspace, saved, merge);
      await followPlan(saved.plan, await changesOfPlan(workspace, saved, merge))(run);
    },
  });
}
