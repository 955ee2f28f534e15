/** What call 1 is shown of the project: knowledge files, tree, the files the request is about; all within a budget. */

import { type Candidate, chooseExcerpts } from "../core/context/excerpts.ts";
import { isShowable, type Kind } from "../core/context/kind.ts";
import { type RankedProject, rankProject } from "../core/context/project.ts";
import { kindAmong, type Ranked } from "../core/context/rank.ts";
import { findStacks } from "../core/context/stack.ts";
import { surveyLimits, surveyView } from "../core/context/survey.ts";
import { renderTree } from "../core/context/tree.ts";
import type { Term } from "../core/context/words.ts";
import { fence } from "../core/data-fence.ts";
import type { RelPath } from "../core/path.ts";
import { blankSecrets } from "../core/secrets/veil.ts";
import { renderBaseline } from "./checks/describe.ts";
import { renderAnswerForm } from "./ending/answer-form.ts";
import type { Run } from "./run.ts";
import {
  collectKnowledge,
  cutText,
  hideSource,
  knowledgeFiles,
  noteHidden,
  noteSent,
  readMentioned,
  readSource,
  type Source,
} from "./sources.ts";

/** Characters of each part at the most, for a model that holds much. */
const widest = {
  knowledge: 8_000,
  tree: 4_000,
  ranked: 1_400,
  excerpts: 20_000,
  history: 3_000,
  context: 200_000,
};
type Budgets = typeof widest;
/** Characters of a token, to be safe: of prose it has about four, of code fewer. */
const perToken = 3;
/** Characters of the request beside the briefing: protocol, schema, the task itself. */
const around = 6_000;
/** Characters of a briefing with every part at its widest, without context. */
const whole = 2 * widest.knowledge + widest.tree + widest.ranked + widest.excerpts + widest.history;

/**
 * The budgets for the model in use: what the person gave (context, named files) comes first, the context at most half of
 * all; the other parts share what is left in the same proportions as ever. `scale`: how much of that is wanted.
 */
function fitBudgets({ ports: { model }, task }: Run, mentioned: readonly Source[], scale: number): Budgets {
  const room = Math.max(0, (model.window - model.maxOutputTokens) * perToken - around);
  const named = mentioned.reduce((sum, { shown }) => sum + shown.length, 0);
  const given = named + Math.min(widest.context, task.context?.length ?? 0, Math.floor(room / 2));
  const share = Math.max(0, Math.min(1, (room - given) / whole)) * scale;
  const scaled = Object.entries(widest).map(([name, most]) => [name, Math.floor(most * share)] as const);
  return { ...widest, ...Object.fromEntries(scaled), context: Math.min(widest.context, Math.floor(room / 2)) * scale };
}

const limits = {
  /** Files of which something is shown, where there is not room for all. */
  excerpts: 12,
  /** Files of a ranking that are kept with the receipt. */
  kept: 40,
  /** Characters of a file that nothing points at, shown where there are few files. */
  besides: 3_000,
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

/** Files to choose from, the likeliest first: of a small project all, code before documents. */
async function readCandidates(run: Run, { ranking, paths }: RankedProject, isSmall: boolean): Promise<Chosen[]> {
  const { text: request } = run.task;
  const likely = ranking.files.filter(({ path, kind, signal }) => signal !== null || isShowable(path, kind, request));
  const best = likely.slice(0, limits.excerpts);
  const named = likely
    .slice(limits.excerpts)
    .filter(({ signal }) => signal?.by === "request")
    .slice(0, limits.excerpts);
  const wanted: readonly Pick<Ranked, "path" | "score" | "signal">[] =
    isSmall || paths.length <= limits.excerpts ? allOf(paths, likely, request) : [...best, ...named];
  const read = await Promise.all(
    wanted.map(async (ranked): Promise<Chosen[]> => {
      const source = await readSource(run, ranked.path as RelPath, surveyLimits.fileBytes);
      if (source === null || ((isSmall || ranked.signal === besides) && source.text === "")) return [];
      if (ranked.signal === besides && !isSmall && source.text.length > limits.besides) return [];
      return [{ ranked, source, text: source.text }];
    }),
  );
  // In the order of the files: the numbers of secrets must not hang on which was read first.
  return read.flat().map((chosen) => {
    const source = hideSource(run, chosen.source);
    return { ...chosen, source, text: source.text };
  });
}

interface Chosen extends Candidate {
  readonly source: Source;
}

/** Where there are few files, each may fill what room is left. */
const besides = { weight: 0, lines: [], by: "output" } as const;

/** Every file that may be shown: those that are ranked, then other code, then the rest. */
function allOf(paths: readonly string[], likely: readonly Ranked[], request: string) {
  const ranked = new Set(likely.map(({ path }) => path));
  const exists = new Set(paths);
  const rest = paths
    .map((path) => ({ path, kind: kindAmong(path, exists), score: 0.1, signal: besides }))
    .filter(({ path, kind }) => !ranked.has(path) && isShowable(path, kind, request));
  const isCode = ({ kind }: { readonly kind: Kind }) => kind === "code";
  return [...likely, ...rest.filter(isCode), ...rest.filter((file) => !isCode(file))];
}

/** The parts of the project that the request is most likely about, or all of a small one. */
async function pickExcerpts(run: Run, project: RankedProject, budgets: Budgets, isSmall: boolean): Promise<Source[]> {
  const { terms, ranking } = project;
  const candidates = await readCandidates(run, project, isSmall);
  // Files that the survey passed over, as those of very long lines, have a length all the same.
  const fits = candidates.reduce((sum, { text }) => sum + text.length, 0) <= 2 * budgets.excerpts;
  const budget = isSmall && fits ? Number.POSITIVE_INFINITY : budgets.excerpts;
  const chosen = chooseExcerpts(candidates, { terms, values: ranking.values }, budget, isSmall && fits);
  const sources = new Map<string, Source>(candidates.map(({ source }) => [source.path, source]));
  return chosen.flatMap(({ path, text, whole, ranges, totalLines }) => {
    const source = sources.get(path);
    return source === undefined ? [] : [{ ...source, shown: text, ...(whole ? {} : { part: { ranges, totalLines } }) }];
  });
}

function renderHistory(run: Run, budgets: Budgets): string {
  const lines = run.task.history
    .slice(-5)
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
  return rankProject(openSurvey, asked, run.signal, new Set([...knowledgeFiles.flat(), ...shown]));
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
  const excerpts = await pickExcerpts(run, project, budgets, isSmall);
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
