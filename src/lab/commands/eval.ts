/** `pai eval`: measures models and modes on tasks with hidden tests. */

import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { showResult } from "../../cli/answer-document.ts";
import { chooseWord } from "../../cli/choose-word.ts";
import { columnsOf } from "../../cli/columns.ts";
import type { Context } from "../../cli/command.ts";
import { version } from "../../cli/commands/version.ts";
import { type Base, composeBase, projectOf } from "../../cli/compose/base.ts";
import { composeSandbox, makeRunId } from "../../cli/compose/options.ts";
import { runFlag, spellRunFlag } from "../../cli/flag-values.ts";
import { findOutput } from "../../cli/output-file.ts";
import { PaiError } from "../../core/error.ts";
import type { CommandResult } from "../../core/ports.ts";
import { counted, priced } from "../../ui/amount.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import { openWorkspace } from "../../workspace/open.ts";
import { type Bench, controls, type EvalCandidate } from "../eval/candidate.ts";
import { importExercises, importThesis } from "../eval/import-tasks.ts";
import { loadTasks } from "../eval/load-tasks.ts";
import { fill, readQueued, work as workQueue } from "../eval/queue.ts";
import { makeReport, renderHtml, renderReportLines, renderReportMarkdown } from "../eval/report.ts";
import { type EvalResult, readResults } from "../eval/result.ts";
import { runEval } from "../eval/run-eval.ts";

const usualFile = "eval-results.jsonl";
const candidateSeconds = 900;

function readCount(text: string | undefined, name: string, usual: number, max: number): number {
  if (text === undefined) return usual;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= max) return count;
  throw new PaiError("usage", `--${name} must be a whole number from 1 to ${max}`);
}

function readShard(text: string | undefined): { readonly index: number; readonly of: number } {
  const [, index, of] = /^(\d{1,4})\/(\d{1,4})$/.exec(text ?? "1/1") ?? [];
  const shard = { index: Number(index), of: Number(of) };
  if (shard.index >= 1 && shard.index <= shard.of) return shard;
  throw new PaiError("usage", `--shard ${text}: not a share`, { hint: "--shard 2/4 does the second of four shares" });
}

/** Every model in every mode; the controls have no mode. */
function readCandidates({ flags }: Context, base: Base): readonly EvalCandidate[] {
  const listOf = (text: string) =>
    [...new Set(text.split(",").map((part) => part.trim()))].filter((part) => part !== "");
  const modes = listOf(flags.mode ?? base.settings.mode);
  const models = listOf(flags.model ?? base.settings.model);
  return models.flatMap((model) =>
    controls.includes(model) ? [{ model, mode: "none" }] : modes.map((mode) => ({ model, mode })),
  );
}

/** The command that starts this pai: the binary, or the source with bun. */
const self = (): readonly string[] =>
  Bun.main.startsWith("/$bunfs/") ? [process.execPath] : [process.execPath, Bun.main];

/** Runs a check like a command of a model: in the sandbox, without network. */
function checkIn(base: Base) {
  const { settings, places } = base;
  return async (
    folder: string,
    command: string,
    more: Readonly<Record<string, string>>,
    timeoutMs: number,
  ): Promise<CommandResult> => {
    const { workspace } = await openWorkspace({
      root: folder,
      stateDir: null,
      own: [places.configDir, places.stateDir].filter((own) => own !== null),
      home: places.home,
      force: true,
      policy: { allow: [], deny: [] },
      env: { ...base.context.env, ...more },
      commandEnv: [...settings.commands.env, ...Object.keys(more)],
      umask: process.umask(),
      sandbox: { ...composeSandbox(base.context, settings), network: false },
    });
    const transaction = await workspace.begin({ id: makeRunId(base.context.now()), task: command });
    try {
      return await transaction.run(command, {
        by: "plan",
        timeoutMs,
        signal: base.context.signal,
        unasked: true,
      });
    } finally {
      await transaction.close();
    }
  };
}

function passedOn({ flags }: Context): readonly string[] {
  return [
    ...spellRunFlag(runFlag(flags)),
    ...(flags.maxCalls === undefined ? [] : ["--max-calls", flags.maxCalls]),
    ...(flags.sandbox === undefined ? [] : ["--sandbox", flags.sandbox]),
    ...(flags.maxTokens === undefined ? [] : ["--max-tokens", flags.maxTokens]),
  ];
}

function readMaxCost(text: string | undefined): number | null {
  if (text === undefined) return null;
  const cost = Number(text);
  if (text.trim() !== "" && Number.isFinite(cost) && cost > 0) return cost;
  throw new PaiError("usage", "--max-cost must be an amount in USD");
}

function renderResult({ passed, task, model, mode, error, tampered, ms, cost }: EvalResult, left: number): string {
  const how = tampered.length > 0 ? "tampered" : passed ? "passed" : error === null ? "failed" : "error";
  const facts = [`${(ms / 1000).toFixed(1)} s`, ...(cost === null ? [] : [priced(cost)]), `${left} left`];
  const who = mode === "none" ? model : `${model} ${mode}`;
  const why = error === null ? "" : `\n  ${visibleLine(error)}`;
  return `${how.padEnd(8)}  ${visibleLine(task)}  ${visibleLine(who)}  ${facts.join(", ")}${why}\n`;
}

async function show(context: Context, results: readonly EvalResult[], more: object, note: string): Promise<number> {
  const report = makeReport(results);
  const passed = results.filter((result) => result.passed).length;
  const data = { passed, total: results.length, results, ...report, ...more };
  const { output } = context.flags;
  if (output !== undefined) {
    const format = /\.(json|html?)$/i.exec(output)?.[1]?.toLowerCase();
    const text =
      format === "json"
        ? `${JSON.stringify(data, null, 2)}\n`
        : format
          ? renderHtml(report)
          : renderReportMarkdown(report);
    findOutput(resolve(context.cwd, output), projectOf(composeEval(context).context)).write(text);
  }
  const shown = context.tty.stdout ? renderReportLines(report, columnsOf(context.env)) : renderReportMarkdown(report);
  return showResult(context, "eval", data, `${shown}\n${note}`);
}

function benchOf(context: Context, base: Base): Bench {
  const env = Object.entries(context.env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return {
    self: self(),
    env: Object.fromEntries(env),
    flags: passedOn(context),
    seconds: candidateSeconds,
    check: checkIn(base),
    signal: context.signal,
  };
}

/** Settings of an evaluation; its --mode and --model are lists, so they do not set a mode and model. */
const composeEval = (context: Context): Base =>
  composeBase({ ...context, flags: { ...context.flags, mode: undefined, model: undefined } });

async function runWord(context: Context, folders: readonly string[]): Promise<number> {
  if (folders.length === 0) throw new PaiError("usage", "pai eval run needs a folder with tasks");
  const base = composeEval(context);
  const tasks = loadTasks(context.cwd, folders);
  const file = resolve(context.cwd, context.flags.results ?? usualFile);
  if (context.flags.output !== undefined)
    findOutput(resolve(context.cwd, context.flags.output), projectOf(base.context));
  const work = {
    tasks,
    candidates: readCandidates(context, base),
    repeats: readCount(context.flags.repeat, "repeat", 1, 1000),
    shard: readShard(context.flags.shard),
    pai: version,
  };
  const maxCost = readMaxCost(context.flags.maxCost);
  const { queue } = context.flags;
  if (queue !== undefined) {
    return fill(context, base, { ...work, queue: readQueue(queue), maxCost });
  }
  const jobs = readCount(context.flags.jobs, "jobs", 2, 64);
  const plan = { ...work, jobs, maxCost, file: findOutput(file, projectOf(base.context)).file };
  const showProgress = context.flags.quiet === true ? () => {} : context.err;
  const { results, undone } = await runEval(plan, benchOf(context, base), {
    onStart: (todo, done) => showProgress(`${counted(tasks.length, "task")}, ${todo} to do, ${done} done before\n`),
    onResult: (result, left) => showProgress(renderResult(result, left)),
  });
  const stopped = undone === 0 ? "" : `${undone} not begun: the cost cap is reached\n`;
  return show(context, results, { results_file: file, undone }, `${stopped}results: ${file}\n`);
}

function readQueue(name: string): string {
  if (/^[\w.-]{1,100}$/.test(name)) return name;
  throw new PaiError("usage", "--queue must be letters, digits and . _ - (at most 100)");
}

async function workerWord(context: Context, folders: readonly string[]): Promise<number> {
  if (folders.length === 0 || context.flags.queue === undefined)
    throw new PaiError("usage", "pai eval worker needs the folder of the tasks and --queue NAME");
  const base = composeEval(context);
  const file = resolve(context.cwd, context.flags.results ?? usualFile);
  const results = await workQueue(context, base, {
    queue: readQueue(context.flags.queue),
    tasks: loadTasks(context.cwd, folders),
    jobs: readCount(context.flags.jobs, "jobs", 2, 64),
    maxCost: readMaxCost(context.flags.maxCost),
    file: findOutput(file, projectOf(base.context)).file,
    bench: benchOf(context, base),
    render: renderResult,
  });
  return show(context, results, { results_file: file }, `results: ${file}\n`);
}

async function reportWord(context: Context, files: readonly string[]): Promise<number> {
  if (context.flags.queue !== undefined) {
    if (files.length > 0) throw new PaiError("usage", "pai eval report reads files or a queue, not both");
    return show(context, await readQueued(composeEval(context), readQueue(context.flags.queue)), {}, "");
  }
  const found = files.length === 0 ? [usualFile] : files;
  const text = found.map((file) => {
    const path = resolve(context.cwd, file);
    if (!existsSync(path))
      throw new PaiError("usage", `${file} does not exist`, { hint: "pai eval report RESULTS.jsonl" });
    return readFileSync(path, "utf8");
  });
  const results = readResults(text.join("\n"));
  if (results.length === 0) throw new PaiError("usage", `${found.join(", ")}: no results of pai eval`);
  return show(context, results, {}, "");
}

async function importWord(context: Context, words: readonly string[]): Promise<number> {
  const [kind = "", from, ...more] = words;
  const isThesis = kind === "thesis";
  if (!["thesis", "polyglot", "exercism"].includes(kind) || from === undefined || more.length > 0)
    throw new PaiError("usage", "pai eval import needs a kind and a folder", {
      hint: "pai eval import thesis TO, or pai eval import polyglot|exercism FROM --to FOLDER",
    });
  const to = resolve(context.cwd, isThesis ? from : (context.flags.to ?? "eval-tasks"));
  const { made, left } = isThesis
    ? importThesis(to)
    : importExercises(resolve(context.cwd, from), to, kind, context.flags.language ?? null);
  const notes = left.map((why) => `left out: ${visibleLine(why)}\n`).join("");
  return showResult(context, "eval", { folder: to, made, left }, `${notes}${counted(made.length, "task")} in ${to}\n`);
}

const verbs = { run: runWord, worker: workerWord, report: reportWord, import: importWord } as const;

export async function evalCommand(context: Context): Promise<number> {
  const [verb = "", ...words] = context.words;
  return verbs[chooseWord("eval", [verb], Object.keys(verbs) as (keyof typeof verbs)[])](context, words);
}
