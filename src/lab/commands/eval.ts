/** `pai eval`: measures models and modes on tasks with hidden tests. */

import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { columnsOf, showResult } from "../../cli/answer-document.ts";
import { chooseWord } from "../../cli/choose-word.ts";
import type { Context } from "../../cli/command.ts";
import { type Base, composeBase } from "../../cli/compose/base.ts";
import { composeSandbox, makeRunId } from "../../cli/compose/options.ts";
import { runFlag, spellRunFlag } from "../../cli/flags.ts";
import { findOutput } from "../../cli/output-file.ts";
import { PaiError } from "../../core/error.ts";
import { counted } from "../../ui/amount.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import { openWorkspace } from "../../workspace/open.ts";
import { type Bench, controls, type EvalCandidate, type EvalResult, readResults } from "../eval/candidate.ts";
import { importExercises, importThesis } from "../eval/import-tasks.ts";
import { loadTasks } from "../eval/load-tasks.ts";
import { fill, readQueued, work as workQueue } from "../eval/queue.ts";
import { makeReport, type Report, renderHtml, renderReportLines, renderReportMarkdown } from "../eval/report.ts";
import { type EvalPlan, runEval } from "../eval/run-eval.ts";

const usualFile = "eval-results.jsonl";

function readCount(text: string | undefined, name: string, usual: number, max: number): number {
  const count = Number(text ?? usual);
  if (Number.isInteger(count) && count >= 1 && count <= max) return count;
  throw new PaiError("usage", `--${name} must be a whole number from 1 to ${max}`);
}

function readShard(text = "1/1"): EvalPlan["shard"] {
  const [, index, of] = /^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? [];
  const shard = { index: Number(index), of: Number(of) };
  if (shard.index >= 1 && shard.index <= shard.of) return shard;
  throw new PaiError("usage", `--shard ${text}: not a share`, { hint: "--shard 2/4 does the second of four shares" });
}

function readCandidates({ context: { flags }, settings }: Base): readonly EvalCandidate[] {
  const listOf = (text: string) =>
    [...new Set(text.split(",").map((part) => part.trim()))].filter((part) => part !== "");
  const modes = listOf(flags.mode ?? settings.mode);
  const models = listOf(flags.model ?? settings.model);
  return models.flatMap((model) =>
    controls.includes(model) ? [{ model, mode: "none" }] : modes.map((mode) => ({ model, mode })),
  );
}

/** The command that starts this pai: the binary, or the source with bun. */
const self = (): readonly string[] =>
  Bun.main.startsWith("/$bunfs/") ? [process.execPath] : [process.execPath, Bun.main];

/** Runs a check like a command of a model: in the sandbox, without network. */
function checkIn({ context, settings, places }: Base): Bench["check"] {
  return async (folder, command, more, timeoutMs) => {
    const { workspace } = await openWorkspace({
      root: folder,
      stateDir: null,
      own: [places.configDir, places.stateDir].filter((own) => own !== null),
      home: places.home,
      force: true,
      policy: { allow: [], deny: [] },
      env: { ...context.env, ...more },
      commandEnv: [...settings.commands.env, ...Object.keys(more)],
      umask: process.umask(),
      sandbox: { ...composeSandbox(context, settings), network: false },
    });
    const transaction = await workspace.begin({ id: makeRunId(context.now()), task: command });
    try {
      return await transaction.run(command, { by: "plan", timeoutMs, signal: context.signal, unasked: true });
    } finally {
      await transaction.close();
    }
  };
}

function passedOn({ flags }: Context): readonly string[] {
  const pass = (name: string, value: string | undefined) => (value === undefined ? [] : [name, value]);
  return [
    ...spellRunFlag(runFlag(flags)),
    ...pass("--max-calls", flags.maxCalls),
    ...pass("--sandbox", flags.sandbox),
    ...pass("--max-tokens", flags.maxTokens),
  ];
}

function readMaxCost(text: string | undefined): number | null {
  if (text === undefined) return null;
  const cost = Number(text);
  if (text.trim() !== "" && Number.isFinite(cost) && cost > 0) return cost;
  throw new PaiError("usage", "--max-cost must be an amount in USD");
}

const outputOf = ({ context, root, settings }: Base, name: string) =>
  findOutput(resolve(context.cwd, name), { root, rules: settings.policy });

/** Writes a report to the file of -o, by its ending; checks at once that it can be written. null: there is no -o. */
function openReport(base: Base) {
  const { output } = base.context.flags;
  if (output === undefined) return null;
  const { write } = outputOf(base, output);
  return (data: Report): void => {
    if (/\.json$/i.test(output)) write(`${JSON.stringify(data, null, 2)}\n`);
    else write(/\.html?$/i.test(output) ? renderHtml(data) : renderReportMarkdown(data));
  };
}

function show(base: Base, results: readonly EvalResult[], more: object, note: string): Promise<number> {
  const { context } = base;
  const report = makeReport(results);
  const passed = results.filter((result) => result.passed).length;
  const data = { passed, total: results.length, results, ...report, ...more };
  openReport(base)?.(data);
  const shown = context.tty.stdout ? renderReportLines(report, columnsOf(context.env)) : renderReportMarkdown(report);
  return showResult(context, "eval", data, `${shown}\n${note}`);
}

function benchOf(base: Base): Bench {
  const { context } = base;
  return {
    self: self(),
    env: context.env,
    flags: passedOn(context),
    jobs: readCount(context.flags.jobs, "jobs", 2, 64),
    check: checkIn(base),
    signal: context.signal,
    say: context.flags.quiet === true ? () => {} : context.err,
  };
}

const resultsFile = (base: Base): string => outputOf(base, base.context.flags.results ?? usualFile).file;

async function runWord(base: Base, folders: readonly string[]): Promise<number> {
  if (folders.length === 0) throw new PaiError("usage", "pai eval run needs a folder with tasks");
  const { context } = base;
  const { queue, repeat, shard, maxCost } = context.flags;
  openReport(base);
  const plan = {
    tasks: loadTasks(context.cwd, folders),
    candidates: readCandidates(base),
    repeats: readCount(repeat, "repeat", 1, 1000),
    shard: readShard(shard),
    maxCost: readMaxCost(maxCost),
  };
  if (queue !== undefined) return fill(base, readQueue(queue), plan);
  const file = resultsFile(base);
  const { results, undone } = await runEval(plan, file, benchOf(base));
  const stopped = undone === 0 ? "" : `${undone} not begun: the cost cap is reached\n`;
  return show(base, results, { results_file: file, undone }, `${stopped}results: ${file}\n`);
}

function readQueue(name: string): string {
  if (/^[\w.-]{1,100}$/.test(name)) return name;
  throw new PaiError("usage", "--queue must be letters, digits and . _ - (at most 100)");
}

async function workerWord(base: Base, folders: readonly string[]): Promise<number> {
  const { queue, maxCost } = base.context.flags;
  if (folders.length === 0 || queue === undefined)
    throw new PaiError("usage", "pai eval worker needs the folder of the tasks and --queue NAME");
  const file = resultsFile(base);
  const results = await workQueue(base, {
    queue: readQueue(queue),
    tasks: loadTasks(base.context.cwd, folders),
    maxCost: readMaxCost(maxCost),
    file,
    bench: benchOf(base),
  });
  return show(base, results, { results_file: file }, `results: ${file}\n`);
}

async function reportWord(base: Base, files: readonly string[]): Promise<number> {
  const { cwd, flags } = base.context;
  if (flags.queue !== undefined) {
    if (files.length > 0) throw new PaiError("usage", "pai eval report reads files or a queue, not both");
    return show(base, await readQueued(base, readQueue(flags.queue)), {}, "");
  }
  const found = files.length === 0 ? [usualFile] : files;
  const text = found.map((file) => {
    const path = resolve(cwd, file);
    if (!existsSync(path))
      throw new PaiError("usage", `${file} does not exist`, { hint: "pai eval report RESULTS.jsonl" });
    return readFileSync(path, "utf8");
  });
  const results = readResults(text.join("\n"));
  if (results.length === 0) throw new PaiError("usage", `${found.join(", ")}: no results of pai eval`);
  return show(base, results, {}, "");
}

async function importWord({ context }: Base, words: readonly string[]): Promise<number> {
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
  const chosen = chooseWord("eval", [verb], Object.keys(verbs) as (keyof typeof verbs)[]);
  // --mode and --model are lists here, so they set neither.
  const base = composeBase({ ...context, flags: { ...context.flags, mode: undefined, model: undefined } });
  return verbs[chosen]({ ...base, context: { ...base.context, flags: context.flags } }, words);
}
