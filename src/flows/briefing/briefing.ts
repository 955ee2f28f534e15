/** Composes the first planning request: knowledge files, tree, files that the request is about; all within a budget. */

import { isShowable, isTable, kindAmong } from "../../core/context/kind.ts";
import type { Asked, RankedProject } from "../../core/context/project.ts";
import type { Ranked } from "../../core/context/rank.ts";
import { maxPiped } from "../../core/context/shown.ts";
import { findStacks } from "../../core/context/stack.ts";
import { isWritten, surveyLimits } from "../../core/context/survey-limits.ts";
import { renderTree } from "../../core/context/tree.ts";
import { fence, fenceFile } from "../../core/data-fence.ts";
import { partOf } from "../../core/model.ts";
import { lineOf, nameOf, type RelPath } from "../../core/path.ts";
import type { Entry } from "../../core/ports.ts";
import { isQuestion } from "../../core/script/prose.ts";
import { blankSecrets } from "../../core/secrets/veil.ts";
import { renderPastTurns } from "../../core/session/past.ts";
import { renderBaseline } from "../checks/checks.ts";
import { renderAnswerForm } from "../ending/ending.ts";
import type { Run } from "../run.ts";
import { pickExcerpts } from "./pick-excerpts.ts";
import { maxOfPast, maxOfPiped, renderPiped, roomFor } from "./piped.ts";
import type { FilesRead } from "./reading.ts";
import {
  hideSource,
  type Knowledge,
  type ListedProject,
  listProject,
  maxGuides,
  noteHidden,
  noteSent,
  openTexts,
  type ReadText,
  readKnowledge,
  readMentioned,
  renderGuide,
  type Source,
} from "./sources.ts";

/** How many files of a ranking the receipt keeps, and how many paths are listed as the likeliest. */
const limits = { kept: 40, ranked: 20 };

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
  /** The file that it shows; null: none. */
  readonly file: Source | null;
}

/** The likeliest files, and what their ranking lacks. */
export interface Likely {
  /** Best first. */
  readonly files: readonly Ranked[];
  /** Clauses for people. */
  readonly lacks: readonly string[];
}

export interface Briefing {
  /** The user message of the planning call: the parts, one after another. */
  readonly text: string;
  readonly parts: readonly Part[];
  /** The files that the text shows. */
  readonly shown: readonly RelPath[];
  /** It shows the whole project: every file that has text, but for generated ones. */
  readonly isWhole: boolean;
  /** The ranking; a project that is shown whole is ranked at the first call. */
  readonly likely: () => Promise<Likely>;
}

/** The turns before, as fit. Files that were read since may tell a secret in them. */
export function renderPastOf({ veil }: Run, turns: Run["task"]["history"], maxLength: number): string {
  return renderPastTurns(veil.cover(turns), maxLength);
}

function renderHistory(run: Run, maxLength: number): string {
  const { history } = run.task;
  return history.length === 0 ? "" : fence("conversation", {}, renderPastOf(run, history, maxLength));
}

/** What the project is built with, by the files at its root. */
function stackOf(names: readonly string[]): Readonly<Record<string, string>> {
  const stack = findStacks(new Set(names)).map(({ name }) => name);
  return stack.length === 0 ? {} : { stack: stack.join(", ") };
}

/** The text besides the request that may name files: standard input, and outputs of failed checks. */
const outputOf = ({ task, checking }: Run) =>
  [
    task.context ?? "",
    ...(checking.baseline?.results ?? []).filter(({ passed }) => passed !== true).map(({ output }) => output),
  ].join("\n");

/** Request and output without secrets and their names: a replay, which only has names, must choose the same files. */
const askedOf = ({ checking }: Run, request: string, output: string): Asked => ({
  request: blankSecrets(request),
  output: blankSecrets(output),
  checks: blankSecrets(checking.checks.join("\n")),
});

/** The ranking of a project, in the form for receipt and preview. */
interface ReportedRanking extends Likely {
  /** To be called when the request made from it is on its way. */
  readonly finish: () => void;
}

function reportRanking(project: RankedProject): ReportedRanking {
  const { ranking, survey, terms, commits, lacks } = project;
  const files = ranking.files.slice(0, limits.kept);
  const kept = { files, values: ranking.values, commits };
  return { files, lacks, finish: () => survey.finish(kept, terms) };
}

async function rank(run: Run, asked: Asked, shown: ReadonlySet<string>): Promise<Likely> {
  const reported = reportRanking(await (await listProject(run, asked, openTexts(run), shown)).rank());
  reported.finish();
  return reported;
}

/** Ranks the files for the run's task, without a briefing. */
export const rankTask = (run: Run): Promise<Likely> =>
  rank(run, askedOf(run, run.task.text, outputOf(run)), new Set(run.task.files ?? []));

/** The likeliest files for one request, as a part of a prompt; "": there are none. */
export async function renderLikely(run: Run, request: string): Promise<string> {
  const { files } = await rank(run, askedOf(run, request, ""), new Set());
  const [part] = renderRanked(fitPaths(files, widestBudget.ranked));
  return part?.text ?? "";
}

/** The files that the briefing shows. */
interface Choice {
  readonly excerpts: readonly Source[];
  /** null: the whole project is shown, and nothing was ranked. */
  readonly ranking: ReportedRanking | null;
}

/** Chooses all files of a small project, else those that the request is most likely about. */
async function choose(
  run: Run,
  asked: Asked,
  project: ListedProject,
  read: ReadText,
  maxLength: number,
): Promise<Choice> {
  if (run.reading.namesOnly) {
    project.close();
    return { excerpts: [], ranking: null };
  }
  const all = await readSmallProject(run, asked, project, read, maxLength);
  if (all !== null) {
    project.close();
    return { excerpts: all, ranking: null };
  }
  const ranked = await project.rank();
  return { excerpts: await pickExcerpts(run, ranked, read, maxLength), ranking: reportRanking(ranked) };
}

function tellLacks(run: Run, lacks: readonly string[]): void {
  if (lacks.length === 0) return;
  run.emit({ type: "notice", level: "info", code: "context", text: lacks.join("; ") });
}

/** Where the links among the entries lead. */
const targetsOf = ({ veil }: Run, entries: readonly Entry[]): ReadonlyMap<string, string> =>
  new Map(entries.flatMap(({ path, target }) => (target === null ? [] : [[path, veil.hideRaw(target)] as const])));

/** Says that a part of what was piped in is not shown; what comes for the work is cut in the same way. */
function tellCut(run: Run, { context: most }: Budgets): void {
  const size = Buffer.byteLength(run.task.context ?? "");
  if (size <= most) return;
  const text = `standard input: the model is shown ${Math.round(most / 1024)} of ${Math.round(size / 1024)} KB: its end, its beginning, and lines of errors`;
  run.emit({ type: "notice", level: "info", code: "piped", text });
}

/**
 * Reads the workspace and writes the planning call's user message; the stable parts come first. `scale`: the share of
 * the budgets to use.
 */
export async function makeBriefing(run: Run, scale = 1): Promise<Briefing> {
  const repository = run.workspace.repository?.(run.signal) ?? "";
  const mentioned = await readMentioned(run);
  const budgets = fitBudgets(run, mentioned, scale);
  const asked = askedOf(run, run.task.text, outputOf(run));
  const read = openTexts(run);
  const project = await listProject(run, asked, read, new Set(mentioned.map(({ path }) => path)));
  const { entries, files, more } = project;
  const before = await readKnowledge(run, budgets.knowledge);
  const { version } = run.veil;
  const { excerpts, ranking } = await choose(run, asked, project, read, budgets.excerpts);
  // A file that was read after them may tell a secret of theirs: half of it could stand before the cut.
  const isStill = run.veil.version === version;
  const knowledge = isStill ? before : await readKnowledge(run, budgets.knowledge);
  const sources = [...knowledge.files, ...excerpts, ...mentioned];
  for (const { path, shown } of sources) noteHidden(run, path, shown);
  noteSent(run, sources);
  tellLacks(run, ranking?.lacks ?? []);
  tellCut(run, budgets);
  const likely = async () => ranking ?? (run.reading.namesOnly ? { files: [], lacks: [] } : rankTask(run));
  run.overlay.prefer(async () => (await likely()).files.map(({ path }) => path));
  const likeliest = fitPaths(ranking?.files ?? [], budgets.ranked);
  const shown = new Set<string>([...excerpts, ...mentioned].map(({ path }) => path));
  const isUnseen = (path: string) => !shown.has(path) && files.get(path)?.size !== 0;
  const isWhole = excerpts.every(({ part }) => part === undefined) && !likeliest.some(isUnseen);
  const told = new Set(isWhole ? [] : [...likeliest, ...shown]);
  const names = entries.map(({ path, kind }) => (kind === "folder" ? `${path}/` : path));
  const tree = names.length === 0 ? "(empty folder)" : renderTree(names, budgets.tree, told, targetsOf(run, entries));
  const treeText = more ? `${tree}\n(only the first ${entries.length} entries were looked at)` : tree;
  const about = told.size === 0 ? stackOf(names) : { ...stackOf(names), lacks: "files that are named elsewhere" };
  const parts: readonly Part[] = [
    ...renderOuter(knowledge),
    ...knowledge.files.map((source) => filePart("knowledge", source)),
    ...renderEnvironment(run.reading, await repository),
    { kind: "tree", text: fence("tree", about, treeText), file: null },
    ...(isWhole ? [] : renderRanked(likeliest)),
    ...[...excerpts, ...mentioned].map((source) => filePart("file", source)),
    ...renderGiven(run, budgets, await renderMemory(run)),
  ];
  ranking?.finish();
  const text = parts.map((part) => part.text).join("\n\n");
  const isAll = isWhole && (await showsAll(asked, project, read, shown));
  return { text, parts, shown: sources.map(({ path }) => path), isWhole: isAll, likely };
}

/** Whether every text of a small project is among `shown`. */
async function showsAll(
  asked: Asked,
  { paths, more }: Pick<ListedProject, "paths" | "more">,
  read: ReadText,
  shown: ReadonlySet<string>,
): Promise<boolean> {
  if (more || paths.length > surveyLimits.wholeFiles) return false;
  const left = orderFiles(paths, asked).filter(({ path }) => !shown.has(path));
  const texts = await Promise.all(left.map(({ path }) => read(path as RelPath)));
  return texts.every((source) => (source?.text ?? "") === "");
}

/** The instructions from outside of the project, as parts. */
export const renderOuter = ({ outer }: Knowledge): readonly Part[] =>
  outer.map(({ path, text }) => ({ kind: "knowledge", text: renderGuide(path, text), file: null }));

/** Characters of the line about the environment. */
const maxEnvironment = 300;

/** The line about the environment in which the plan will be carried out. */
function renderEnvironment({ environment }: Readonly<FilesRead>, repository: string): readonly Part[] {
  const room = maxEnvironment - "Here: ".length - repository.length - (repository === "" ? 0 : 2);
  const here = [environment.slice(0, Math.max(0, room)), repository].filter(Boolean).join("; ");
  return here === "" ? [] : [{ kind: "environment", text: `Here: ${here}`, file: null }];
}

/** The list of the likeliest files, best first; the model can look at those that are not shown. */
function renderRanked(paths: readonly string[]): readonly Part[] {
  const text = fence("likely", { order: "best first" }, paths.map(lineOf).join("\n"));
  return paths.length === 0 ? [] : [{ kind: "ranked", text, file: null }];
}

/** The paths of the likeliest files that are listed in so many characters. */
function fitPaths(files: readonly Ranked[], room: number): readonly string[] {
  let left = room;
  return files.slice(0, limits.ranked).flatMap(({ path }) => {
    left -= lineOf(path).length + 1;
    return left < 0 ? [] : [path];
  });
}

function filePart(kind: Part["kind"], file: Source): Part {
  const { path, shown, part } = file;
  if (part === undefined) return { kind, text: fenceFile({ path }, shown), file };
  return { kind, text: fence("file", { path, shown: `parts of ${part.totalLines} lines` }, shown), file };
}

/** Facts that earlier runs proposed and a person accepted. Fenced as data, like files. */
async function renderMemory({ task, ending }: Run): Promise<string> {
  const facts = (await ending.memory?.recall(task.text)) ?? "";
  return facts === "" ? "" : fence("memory", { about: "this project" }, facts);
}

/** A request with what its user said to plans and changes that were made for it. */
export const withCorrections = (request: string, words: readonly string[]): string =>
  [request, ...words.map((text) => `${isQuestion(text) ? "Asked" : "Corrected"} by the user: ${text}`)].join("\n");

/** What the user wants: the request with their corrections, what may be read, too, and whether it only asks. */
export function renderRequest({ task, planning, changing }: Run): string {
  const wanted = withCorrections(task.text, [...planning.corrections, ...changing.corrections]);
  const only = planning.asksOnly
    ? "\nThis is a question: only look and answer. Nothing is changed, no command is run."
    : "";
  const shown = (task.shown ?? []).length === 0 ? "" : `\nMay be read, too: ${task.shown?.join(", ")}`;
  return `Request: ${wanted}${shown}${only}`;
}

/** Tells a model whose questions nobody answers not to ask any; "": somebody does, or nothing is to be done. */
const renderAlone = ({ interactive, planning }: Run): string =>
  interactive || planning.asksOnly ? "" : "Nobody answers questions: choose, and say what you chose.";

/** What the user gave: the conversation so far, context, checks, and last the request. */
function renderGiven(run: Run, budgets: Fitted, memory: string): readonly Part[] {
  const given: readonly (readonly [Part["kind"], string])[] = [
    ["conversation", renderHistory(run, budgets.history)],
    ["memory", memory],
    ["context", renderPiped(run, budgets.context)],
    ["checks", renderBaseline(run.checking)],
    ["request", [renderAlone(run), renderRequest(run), renderAnswerForm(run.ending)].filter(Boolean).join("\n\n")],
  ];
  return given.flatMap(([kind, shown]) => (shown === "" ? [] : [{ kind, text: shown, file: null }]));
}

/** The most characters of each part, for a model with a large window. */
const widestBudget = {
  knowledge: maxGuides,
  tree: 950,
  ranked: 1_400,
  excerpts: 21_000,
  context: maxPiped,
};
type Budgets = typeof widestBudget;
/** `history`: of the conversation so far. */
type Fitted = Budgets & { readonly history: number };
/** Characters of a briefing with every part at its maximum, without context. */
const widestChars = 2 * widestBudget.knowledge + widestBudget.tree + widestBudget.ranked + widestBudget.excerpts;

/**
 * The budgets for the current model. What the person gave (context, named files) comes first, the context with at most
 * half of the window; the other parts share the rest in the proportions of `widest`. `scale`: the share to use.
 */
function fitBudgets({ task, calling }: Run, mentioned: readonly Source[], scale: number): Fitted {
  const room = roomFor(partOf(calling.model, "plan"));
  const named = mentioned.reduce((sum, { shown }) => sum + shown.length, 0);
  const history = maxOfPast(room);
  const past = Math.min(history, renderPastTurns(task.history, history).length);
  const given = named + past + Math.min(maxOfPiped(room), task.context?.length ?? 0);
  const share = Math.max(0, Math.min(1, (room - given) / widestChars)) * scale;
  const scaled = Object.entries(widestBudget).map(([name, widestOf]) => [name, Math.floor(widestOf * share)] as const);
  return {
    ...widestBudget,
    ...Object.fromEntries(scaled),
    history: history * scale,
    context: maxOfPiped(room) * scale,
  };
}

/** Whether a text in lower case has the name of the file as a word, or as the end of a path. */
function isNamedIn(text: string, path: string): boolean {
  const name = nameOf(path).toLowerCase();
  const at = text.indexOf(name);
  return at >= 0 && !/[\w.-]/.test(text.charAt(at - 1));
}

/** Orders the files that may be shown: those that request or output name, then other code, then the rest. */
function orderFiles(paths: readonly string[], { request, output }: Asked) {
  const exists = new Set(paths);
  const lower = `${request}\n${output}`.toLowerCase();
  const files: { path: string; isNamed: boolean; place: number }[] = [];
  for (const path of paths) {
    const kind = kindAmong(path, exists);
    const isNamed = isNamedIn(lower, path);
    const place = isNamed ? 0 : kind === "code" ? 1 : 2;
    if (isNamed || isShowable(path, kind, request)) files.push({ path, isNamed, place });
  }
  return files.sort((a, b) => a.place - b.place);
}

/**
 * All files of a project that people wrote, whole; null: they are too many, together longer than `maxLength`, or request
 * or output name one that cannot be shown whole.
 */
async function readSmallProject(
  run: Run,
  asked: Asked,
  { paths, more }: Pick<ListedProject, "paths" | "more">,
  read: ReadText,
  maxLength: number,
): Promise<readonly Source[] | null> {
  if (more || paths.length > surveyLimits.wholeFiles) return null;
  let left = maxLength;
  const found: Source[] = [];
  for (const { path, isNamed } of orderFiles(paths, asked)) {
    const source = await read(path as RelPath);
    if (source === null && isNamed) return null;
    if (source === null || source.text === "") continue;
    if (!isNamed && (isTable(path, source.text) || !isWritten(source.text))) continue;
    left -= source.text.length + surveyLimits.fileCost;
    if (left < 0) return null;
    found.push(source);
  }
  return found.map((source) => hideSource(run, source));
}
