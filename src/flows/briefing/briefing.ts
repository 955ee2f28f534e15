/** What call 1 is shown of the project: knowledge files, tree, the files the request is about; all within a budget. */

import { type RankedProject, rankProject } from "../../core/context/project.ts";
import type { Ranked } from "../../core/context/rank.ts";
import { findStacks } from "../../core/context/stack.ts";
import { surveyLimits, surveyView } from "../../core/context/survey-view.ts";
import { renderTree } from "../../core/context/tree.ts";
import type { Term } from "../../core/context/words.ts";
import { fence } from "../../core/data-fence.ts";
import type { RelPath } from "../../core/path.ts";
import { blankSecrets } from "../../core/secrets/veil.ts";
import { recentTurns } from "../../core/session/recent.ts";
import { renderBaseline } from "../checks/describe.ts";
import { renderAnswerForm } from "../ending/answer-form.ts";
import type { Run } from "../run.ts";
import { type Budgets, fitBudgets, widest } from "./budgets.ts";
import { pickExcerpts } from "./pick-excerpts.ts";
import {
  collectKnowledge,
  cutText,
  knowledgeFiles,
  noteHidden,
  noteSent,
  readMentioned,
  readSource,
  type Source,
} from "./sources.ts";

const limits = {
  /** Files of a ranking that are kept with the receipt. */
  kept: 40,
  /** Paths that are listed as the likeliest. */
  ranked: 20,
};

/** A piece of the briefing. */
export interface Part {
  readonly kind:
    | "knowledge"
    | "environment"
    | "tree"
    | "ranked"
    | "file"
    | "conversation"
    | "memory"
    | "context"
    | "checks"
    | "request";
  /** As the message shows it. */
  readonly text: string;
  /** The file it is from; null: none. */
  readonly file: Source | null;
}

/** The files by how likely they matter, and what that had to be told without. */
export interface Likely {
  /** Best first. */
  readonly files: readonly Ranked[];
  /** Clauses for people. */
  readonly lacks: readonly string[];
}

export interface Briefing extends Likely {
  /** The user message of the plan call: the parts, one after another. */
  readonly text: string;
  readonly parts: readonly Part[];
  /** Everything the text was made from, for the plan cache. */
  readonly shown: readonly RelPath[];
}

function renderHistory(run: Run, budgets: Budgets): string {
  const lines = run.task.history
    .slice(-recentTurns)
    .map(({ request, answer }) => `user: ${cutText(request, 400)}\npai: ${cutText(answer, 400)}`);
  return cutText(lines.join("\n"), budgets.history);
}

/** What the project is built with, by the files at its root. */
function stackOf(names: readonly string[]): Readonly<Record<string, string>> {
  const stack = findStacks(new Set(names.filter((name) => !name.includes("/")))).map(({ name }) => name);
  return stack.length === 0 ? {} : { stack: stack.join(", ") };
}

/** All that goes along with a request and may name files. */
const outputOf = ({ task, record }: Run) =>
  [
    task.context ?? "",
    ...(record.baseline?.results ?? []).filter(({ passed }) => passed !== true).map(({ output }) => output),
  ].join("\n");

/** Ranks the files of the project. A replay knows secrets by their names only, and must rank as the run did. */
function rank(run: Run, request: string, output: string, shown: ReadonlySet<string>): Promise<RankedProject> {
  const openSurvey = (terms: readonly Term[]) => run.ports.workspace.survey?.(terms) ?? surveyView(run.overlay, terms);
  const asked = { request: blankSecrets(request), output: blankSecrets(output) };
  const read = async (path: string) => (await readSource(run, path as RelPath, surveyLimits.fileBytes))?.text ?? null;
  return rankProject({ openSurvey, read }, asked, run.signal, new Set([...knowledgeFiles.flat(), ...shown]));
}

/** The ranking alone, for those who only want to know. */
export async function rankTask(run: Run): Promise<Likely> {
  const { ranking, survey, lacks, commits } = await rank(
    run,
    run.task.text,
    outputOf(run),
    new Set(run.task.files ?? []),
  );
  const files = ranking.files.slice(0, limits.kept);
  survey.finish({ files, values: ranking.values, whole: false, commits });
  return { files, lacks };
}

/** The likeliest files for one request, as a part of a prompt; "" where there are none. */
export async function renderLikely(run: Run, request: string): Promise<string> {
  const { ranking, survey, commits } = await rank(run, request, "", new Set());
  survey.finish({ files: ranking.files.slice(0, limits.kept), values: ranking.values, whole: false, commits });
  const paths = ranking.files.slice(0, limits.ranked).map(({ path }) => path);
  return renderRanked(paths, widest)
    .map(({ text }) => text)
    .join("");
}

function tellLacks(run: Run, lacks: readonly string[]): void {
  if (lacks.length === 0) return;
  run.emit({ type: "notice", level: "info", code: "context", text: `context: ${lacks.join("; ")}` });
}

/**
 * Looks at the workspace and writes the plan call's user message; the stable parts come first. `scale`: how much of what
 * it may hold.
 */
export async function makeBriefing(run: Run, scale = 1): Promise<Briefing> {
  const repository = run.ports.workspace.repository?.(run.signal) ?? "";
  const mentioned = await readMentioned(run);
  const budgets = fitBudgets(run, mentioned, scale);
  const project = await rank(run, run.task.text, outputOf(run), new Set(mentioned.map(({ path }) => path)));
  const { entries, more, ranking } = project;
  const files = new Map(entries.filter(({ kind }) => kind === "file").map((entry) => [entry.path as string, entry]));
  const knowledge = await collectKnowledge(run, files, budgets.knowledge);
  const isSmall = project.smallLength !== null && project.smallLength <= budgets.excerpts;
  const excerpts = await pickExcerpts(run, project, budgets.excerpts, isSmall);
  const sources = [...knowledge, ...excerpts, ...mentioned];
  for (const { path, shown } of sources) noteHidden(run, path, shown);
  noteSent(run, sources);
  tellLacks(run, project.lacks);
  const kept = ranking.files.slice(0, limits.kept);
  run.overlay.prefer(kept.map(({ path }) => path));
  const likeliest = kept.slice(0, limits.ranked).map(({ path }) => path);
  const keep = new Set<string>([...likeliest, ...[...excerpts, ...mentioned].map(({ path }) => path)]);
  const names = entries.map(({ path, kind }) => (kind === "folder" ? `${path}/` : path));
  const tree = names.length === 0 ? "(empty folder)" : renderTree(names, budgets.tree, keep);
  const treeText = more ? `${tree}\n(only the first ${entries.length} entries were looked at)` : tree;
  const shown = new Set<string>([...excerpts, ...mentioned].map(({ path }) => path));
  const isUnseen = (path: string) => !shown.has(path) && files.get(path)?.size !== 0;
  const isWhole = excerpts.every(({ part }) => part === undefined) && !likeliest.some(isUnseen);
  const parts: readonly Part[] = [
    ...knowledge.map((source) => partOf("knowledge", source)),
    ...renderEnvironment(run, await repository),
    { kind: "tree", text: fence("tree", stackOf(names), treeText), file: null },
    ...(isWhole ? [] : renderRanked(likeliest, budgets)),
    ...[...excerpts, ...mentioned].map((source) => partOf("file", source)),
    ...renderGiven(run, budgets, await renderMemory(run)),
  ];
  project.survey.finish({ files: kept, values: ranking.values, whole: isSmall, commits: project.commits });
  const text = parts.map((part) => part.text).join("\n\n");
  return { text, parts, shown: sources.map(({ path }) => path), files: kept, lacks: project.lacks };
}

/** Characters of what is said to be here. */
const maxEnvironment = 300;

/** What plans may count on here. */
function renderEnvironment({ options: { environment = "" } }: Run, repository: string): readonly Part[] {
  const room = maxEnvironment - "Here: ".length - repository.length - (repository === "" ? 0 : 2);
  const here = [environment.slice(0, Math.max(0, room)), repository].filter((part) => part !== "").join("; ");
  return here === "" ? [] : [{ kind: "environment", text: `Here: ${here}`, file: null }];
}

/** The likeliest files, best first; what is not shown below can be looked at. */
function renderRanked(paths: readonly string[], budgets: Budgets): readonly Part[] {
  let left = budgets.ranked;
  const listed = paths.filter((path) => {
    left -= path.length + 1;
    return left >= 0;
  });
  if (listed.length === 0) return [];
  return [{ kind: "ranked", text: fence("likely", { order: "best first" }, listed.join("\n")), file: null }];
}

function partOf(kind: Part["kind"], file: Source): Part {
  const { path, shown, part } = file;
  const about = part === undefined ? {} : { shown: `parts of ${part.totalLines} lines` };
  return { kind, text: fence("file", { path, ...about }, shown), file };
}

/** Facts that earlier runs proposed and a person accepted: data, as files are. */
async function renderMemory({ ports, task }: Run): Promise<string> {
  const facts = (await ports.memory?.recall(task.text)) ?? "";
  return facts === "" ? "" : fence("memory", { about: "this project" }, facts);
}

/** What the user gave: the conversation so far, context, checks, the request, which comes last. */
function renderGiven(run: Run, budgets: Budgets, memory: string): readonly Part[] {
  const { history, context, text } = run.task;
  const given: readonly (readonly [Part["kind"], string])[] = [
    ["conversation", history.length === 0 ? "" : fence("conversation", {}, renderHistory(run, budgets))],
    ["memory", memory],
    ["context", context === null ? "" : fence("context", {}, cutText(context, budgets.context))],
    ["checks", renderBaseline(run)],
    ["request", [`Request: ${text}`, renderAnswerForm(run)].filter((part) => part !== "").join("\n\n")],
  ];
  return given.flatMap(([kind, shown]) => (shown === "" ? [] : [{ kind, text: shown, file: null }]));
}
