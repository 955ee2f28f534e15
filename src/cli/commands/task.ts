/** `pai run` and `pai plan`: one task from the command line to its outcome. */

import { resolve } from "node:path";
import { compileSchema } from "../../core/answer-schema.ts";
import { PaiError } from "../../core/error.ts";
import type { Model } from "../../core/model.ts";
import type { Outcome } from "../../core/outcome.ts";
import { nameOf } from "../../core/path.ts";
import type { Workspace } from "../../core/ports.ts";
import { keepPlans } from "../../flows/plans/plan-state.ts";
import type { Flow, Run, RunOptions, Task } from "../../flows/run.ts";
import { runTask } from "../../flows/run-task.ts";
import { singleShot } from "../../flows/single-shot.ts";
import { openPlaces } from "../../store/places.ts";
import { renderDocument } from "../../ui/json.ts";
import { absoluteMentions, findMentions } from "../at-paths.ts";
import type { Context } from "../command.ts";
import { type Base, composeBase, findRoot, projectOf } from "../compose/base.ts";
import { composeTask } from "../compose/compose-task.ts";
import { expandCustom, looksCustom, unknownCustom } from "../compose/custom.ts";
import { flowFor } from "../compose/flow.ts";
import { notifyEnd } from "../compose/notify-end.ts";
import { composeOptions, limitTime } from "../compose/options.ts";
import { rootFlag, settleRoot, whyNoProject } from "../compose/refused-root.ts";
import { openView, type TerminalView } from "../compose/view.ts";
import { alsoFlag, shownFlag } from "../flag-values.ts";
import { chooseModel, offerToKeep, readLineOf } from "../onboard/choose-model.ts";
import { findOutput, requireInput, requireStdin } from "../output-file.ts";
import { renderChangeFile, renderPlanFile } from "../plan-file.ts";
import { readText, taskLimit } from "../read-text.ts";
import { continuedId, continueSession, takeId } from "../session/continue-session.ts";

/** Reads a task file. Below the project, no link to it is followed. */
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
  const { text, note } = await context.readPiped(signal, { firstMs, say });
  if (text !== "") requireStdin(projectOf(context));
  if (note !== null) say(note);
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
export async function readTask(context: Context, signal: AbortSignal, notify: Notify, command = "run"): Promise<Task> {
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
  /** null: the flow of the mode. Commands for plans pass their own, which works like single-shot. */
  readonly flow: Flow | null;
  /** Reads the task; aborted by the signal, which includes the time limit. */
  readonly task: (signal: AbortSignal, notify: Notify) => Promise<Task>;
  readonly options: Partial<RunOptions>;
  readonly command: string;
  /** null: the model of the settings. */
  readonly model: Model | null;
  /** Only looks and answers, in any folder. */
  readonly asksOnly?: true;
}

/** Throws usage for a --mode without a plan, in a command about plans. */
function requirePlanning({ flags }: Context, command: string): void {
  const mode = flags.mode ?? "auto";
  if (mode === "auto" || mode === "single-shot") return;
  throw new PaiError("usage", `pai ${command} works in single-shot, never in ${mode}`, {
    hint: `pai run --mode ${mode} "what to do"`,
  });
}

/** The options of a run that only looks and answers: nothing is granted and nobody is asked to grant it. */
const asking = { asksOnly: true, strict: true, interactive: false, allowRun: false, checks: [] } as const;

/** The base with the absolute paths that the text mentions among those that are shown. */
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

interface OpenRun {
  readonly called: Base;
  readonly view: TerminalView;
  readonly read: Task;
}

async function openRun({ command, flow, model, options }: TaskRun, { called, view, read }: OpenRun) {
  // Only typed text may mention files; a saved plan comes with an old task text.
  const typed = command === "apply" ? null : read.text;
  const readLine = view.interactive ? readLineOf(view) : null;
  const settled = await settleRoot(withMentions(called, typed ?? ""), { task: typed, readLine });
  const base = model === null ? await chooseModel(called.context, settled, view) : settled;
  const composed = await composeTask(base, view, model);
  const task = composed.tellTools({ ...read, ...(await findNamed(base, composed.opened.workspace, typed)) });
  const isAsk = base.asksOnly === true;
  const mode = flow === null && !isAsk ? base.settings.mode : "single-shot";
  const all: RunOptions = {
    ...composeOptions(called.context, base, isAsk ? "ask" : command, view.interactive),
    mode,
    ...options,
    ...(isAsk && { ...asking, namesOnly: whyNoProject(called) !== null }),
  };
  return { base, composed, task, all, how: flow ?? (await flowFor(mode)) };
}

/**
 * Checks where the change is to be saved before anything is paid for; null: nowhere. Throws usage for -o without -n: what
 * a real run saves has another name, as it is saved only if it is verified.
 */
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
      notify({
        level: "warning",
        code: "change_not_saved",
        text: `${name} was not saved: no check has proved the run`,
      });
      return;
    }
    const user = env["USER"] ?? env["LOGNAME"] ?? `uid ${process.getuid?.() ?? "unknown"}`;
    write(renderChangeFile(run, user, now()));
    notify({ level: "info", code: "change_saved", text: `change saved; elsewhere: pai apply -y ${name}` });
  };
}

export async function doTask(given: Context, doing: TaskRun): Promise<number> {
  const { flow, task: readIt, options, command, asksOnly } = doing;
  if (flow !== null) requirePlanning(given, command);
  const called = { ...composeBase(given), ...(asksOnly && { asksOnly }) };
  const { context } = called;
  const limited = limitTime(context.signal, called.settings.limits.timeout);
  try {
    const keepChange = command === "run" ? openChange(context) : null;
    const view = await openView(context, limited.signal, options.planOnly === true ? "plan" : "run");
    for (const warning of called.warnings) view.notify({ level: "warning", code: "settings", text: warning });
    const read = await readIt(limited.signal, view.notify);
    const { base, composed, task, all, how } = await openRun(doing, { called, view, read });
    const id = continuedId(context);
    const warn = (text: string) => view.notify({ level: "warning", code: "session", text });
    const continued = id === undefined ? null : await continueSession(context, composed, { id, task, warn });
    const said = continued?.task ?? task;
    const sink: TerminalView["sink"] = (event) => {
      continued?.sink(event);
      view.sink(event);
    };
    const ports = composed.portsFor({ task: said, options: all, sink, signal: limited.signal, decide: view.decide });
    let ran: Run | null = null;
    const keeping: Flow = (run) => {
      ran = run;
      return how(run);
    };
    const outcome = await runTask(keeping, said, all, ports);
    if (ran !== null) keepChange?.(ran, outcome, view.notify);
    await continued?.close();
    const closing = composed.close();
    if (context.flags.json === true) {
      context.out(renderDocument(outcome, context.notices.take()));
    } else if (context.flags.outputSchema !== undefined && context.flags.jsonl !== true && outcome.ok) {
      context.out(`${outcome.text}\n`);
    }
    view.finish(outcome, composed.opened.workspace.undoable ? rootFlag(base) : null);
    if (base.settings.notify !== null) {
      notifyEnd(context, base, outcome, { task: composed.cover(read.text), notify: view.notify });
    }
    if (view.interactive) {
      await offerToKeep(context, base, outcome, readLineOf(view));
    }
    await closing;
    return outcome.code;
  } finally {
    limited.end();
  }
}

/** Largest schema in bytes, since every request contains it. */
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

export async function runCommand(given: Context): Promise<number> {
  const context = takeId(given);
  const outputSchema = await readSchema(context);
  const task: TaskRun["task"] = (signal, notify) => readTask(context, signal, notify);
  return doTask(context, { flow: null, task, options: { outputSchema }, command: "run", model: null });
}

export async function askCommand(context: Context): Promise<number> {
  const outputSchema = await readSchema(context);
  const task: TaskRun["task"] = (signal, notify) => readTask(context, signal, notify, "ask");
  return doTask(context, {
    flow: singleShot,
    task,
    options: { outputSchema },
    command: "ask",
    model: null,
    asksOnly: true,
  });
}

export async function planCommand(context: Context): Promise<number> {
  const task: TaskRun["task"] = (signal, notify) => readTask(context, signal, notify, "plan");
  const full = context.flags.full === true;
  const output = context.flags.output ?? null;
  if (full && output === null) throw new PaiError("usage", "--full needs -o FILE to hold the edits");
  const saves = output !== null && context.flags.dryRun !== true;
  const file = saves ? findOutput(resolve(context.cwd, output), projectOf(context), full) : null;
  const options: Partial<RunOptions> = full ? { dryRun: true } : { planOnly: true };
  const flow: Flow = async (run) => {
    await singleShot(run);
    if (file === null) return;
    file.write(await renderPlanFile(run, full, context.now()));
    keepPlans(run.planning);
    run.emit({
      type: "notice",
      level: "info",
      code: "plan_saved",
      text: `plan saved; carry it out with: pai apply ${output}`,
    });
  };
  return doTask(context, { flow, task, options, command: "plan", model: null });
}
