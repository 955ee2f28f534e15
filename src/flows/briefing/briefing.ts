/** Composes the first planning request: knowledge files, tree, files that the request is about; all within a budget. */

import { clipText, shareOut } from "../../core/command/clip.ts";
import { isShowable, isTable, kindAmong } from "../../core/context/kind.ts";
import type { Asked, RankedProject } from "../../core/context/project.ts";
import type { Ranked } from "../../core/context/rank.ts";
import { maxPiped } from "../../core/context/shown.ts";
import { findStacks } from "../../core/context/stack.ts";
import { isWritten, surveyLimits } from "../../core/context/survey-limits.ts";
import { renderTree } from "../../core/context/tree.ts";
import { fence, fenceFile } from "../../core/data-fence.ts";
import { type Model, partOf } from "../../core/model.ts";
import { lineOf, nameOf, type RelPath } from "../../core/path.ts";
import type { Entry } from "../../core/ports.ts";
import { isQuestion } from "../../core/script/prose.ts";
import { blankSecrets } from "../../core/secrets/veil.ts";
import { renderPastTurns } from "../../core/session/past.ts";
import { renderBaseline } from "../checks/checks.ts";
import { renderAnswerForm } from "../ending/ending.ts";
import type { Run } from "../run.ts";
import { pickExcerpts } from "./pick-excerpts.ts";
import type { FilesRead } from "./reading.ts";
import {
  hideSource,
  type Knowledge,
  type ListedProject,
  listProject,
  maxGuides,
  noteShown,
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
  readonly text: string;
  readonly file: Source | null;
}

export interface Likely {
  readonly files: readonly Ranked[];
  readonly lacks: readonly string[];
}

export interface Briefing {
  readonly text: string;
  readonly parts: readonly Part[];
  readonly shown: readonly RelPath[];
  /** It shows the whole project: every file that has text, but for generated ones. */
  readonly isWhole: boolean;
  /** The ranking; a project that is shown whole is ranked at the first call. */
  readonly likely: () => Promise<Likely>;
}

/** The turns before, as fit. Files that were read since may tell a secret in them. */
export const renderPastOf = ({ veil }: Run, turns: Run["task"]["history"], maxLength: number): string =>
  renderPastTurns(veil.cover(turns), maxLength);

function renderHistory(run: Run, maxLength: number): string {
  const { history } = run.task;
  return history.length === 0 ? "" : fence("conversation", {}, renderPastOf(run, history, maxLength));
}

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

function keepRanking({ ranking, survey, terms, commits, lacks }: RankedProject): Likely {
  const files = ranking.files.slice(0, limits.kept);
  survey.finish({ files, values: ranking.values, commits }, terms);
  return { files, lacks };
}

const rank = async (run: Run, asked: Asked, shown: ReadonlySet<string>): Promise<Likely> =>
  keepRanking(await (await listProject(run, asked, openTexts(run), shown)).rank());

export const rankTask = (run: Run): Promise<Likely> =>
  rank(run, askedOf(run, run.task.text, outputOf(run)), new Set(run.task.files ?? []));

export async function renderLikely(run: Run, request: string): Promise<string> {
  const { files } = await rank(run, askedOf(run, request, ""), new Set());
  const [part] = renderRanked(fitPaths(files, widestBudget.ranked));
  return part?.text ?? "";
}

interface Choice {
  readonly excerpts: readonly Source[];
  /** null: the whole project is shown, or no file of it, and nothing was ranked. */
  readonly ranking: Likely | null;
  readonly isWhole: boolean;
}

async function choose(run: Run, asked: Asked, project: ListedProject, read: ReadText, maxLength: number) {
  const nothing = { excerpts: [], ranking: null, isWhole: true };
  const all = run.reading.namesOnly ? nothing : await readSmallProject(run, asked, project, read, maxLength);
  if (all !== null) {
    project.close();
    return all;
  }
  const ranked = await project.rank();
  const excerpts = await pickExcerpts(run, ranked, read, maxLength);
  return { excerpts, ranking: keepRanking(ranked), isWhole: false };
}

function tellLacks(run: Run, lacks: readonly string[]): void {
  if (lacks.length === 0) return;
  run.emit({ type: "notice", level: "info", code: "context", text: lacks.join("; ") });
}

const targetsOf = ({ veil }: Run, entries: readonly Entry[]): ReadonlyMap<string, string> =>
  new Map(entries.flatMap(({ path, target }) => (target === null ? [] : [[path, veil.hideRaw(target)] as const])));

/** Says that a part of what was piped in is not shown; what comes for the work is cut in the same way. */
function tellCut(run: Run, { context: most }: Budgets): void {
  const size = Buffer.byteLength(run.task.context ?? "");
  if (size <= most) return;
  const text = `standard input: the model is shown ${Math.round(most / 1024)} of ${Math.round(size / 1024)} KB: its end, its beginning, and lines of errors`;
  run.emit({ type: "notice", level: "info", code: "piped", text });
}

/** Writes the planning call's user message, its stable parts first. `scale`: the share of the budgets to use. */
export async function makeBriefing(run: Run, scale = 1): Promise<Briefing> {
  const repository = run.workspace.repository?.(run.signal) ?? "";
  const mentioned = await readMentioned(run);
  const budgets = fitBudgets(run, mentioned, scale);
  const asked = askedOf(run, run.task.text, outputOf(run));
  const read = openTexts(run);
  const project = await listProject(run, asked, read, new Set(mentioned.map(({ path }) => path)));
  const { entries, more } = project;
  const before = await readKnowledge(run, budgets.knowledge);
  const { version } = run.veil;
  const { excerpts, ranking, isWhole } = await choose(run, asked, project, read, budgets.excerpts);
  // A file that was read after them may tell a secret of theirs: half of it could stand before the cut.
  const isStill = run.veil.version === version;
  const knowledge = isStill ? before : await readKnowledge(run, budgets.knowledge);
  const sources = [...knowledge.files, ...excerpts, ...mentioned];
  noteShown(run, sources);
  tellLacks(run, ranking?.lacks ?? []);
  tellCut(run, budgets);
  const likely = async () => ranking ?? (run.reading.namesOnly ? { files: [], lacks: [] } : rankTask(run));
  run.overlay.prefer(async () => (await likely()).files.map(({ path }) => path));
  const likeliest = fitPaths(ranking?.files ?? [], budgets.ranked);
  const told = new Set<string>(
    ranking === null ? [] : [...likeliest, ...[...excerpts, ...mentioned].map(({ path }) => path)],
  );
  const names = entries.map(({ path, kind }) => (kind === "folder" ? `${path}/` : path));
  const tree = names.length === 0 ? "(empty folder)" : renderTree(names, budgets.tree, told, targetsOf(run, entries));
  const treeText = more ? `${tree}\n(only the first ${entries.length} entries were looked at)` : tree;
  const about = told.size === 0 ? stackOf(names) : { ...stackOf(names), lacks: "files that are named elsewhere" };
  const parts: readonly Part[] = [
    ...renderOuter(knowledge),
    ...knowledge.files.map((source) => filePart("knowledge", source)),
    ...renderEnvironment(run.reading, await repository),
    { kind: "tree", text: fence("tree", about, treeText), file: null },
    ...renderRanked(likeliest),
    ...[...excerpts, ...mentioned].map((source) => filePart("file", source)),
    ...renderGiven(run, budgets, await renderMemory(run)),
  ];
  const text = parts.map((part) => part.text).join("\n\n");
  return { text, parts, shown: sources.map(({ path }) => path), isWhole, likely };
}

export const renderOuter = ({ outer }: Knowledge): readonly Part[] =>
  outer.map(({ path, text }) => ({ kind: "knowledge", text: renderGuide(path, text), file: null }));

const maxEnvironment = 300;

function renderEnvironment({ environment }: Readonly<FilesRead>, repository: string): readonly Part[] {
  const room = maxEnvironment - "Here: ".length - repository.length - (repository === "" ? 0 : 2);
  const here = [environment.slice(0, Math.max(0, room)), repository].filter(Boolean).join("; ");
  return here === "" ? [] : [{ kind: "environment", text: `Here: ${here}`, file: null }];
}

function renderRanked(paths: readonly string[]): readonly Part[] {
  const text = fence("likely", { order: "best first" }, paths.map(lineOf).join("\n"));
  return paths.length === 0 ? [] : [{ kind: "ranked", text, file: null }];
}

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

/** Characters of a token, a careful estimate: in prose about four, in code fewer. */
const perToken = 3;
/** Characters of a request besides its evidence: instructions, schema, the task itself. */
const otherChars = 6_000;

export const roomFor = ({ window, maxOutputTokens }: Pick<Model, "window" | "maxOutputTokens">): number =>
  Math.max(0, (window - maxOutputTokens) * perToken - otherChars);

/** Characters of what was piped in: at most half of the room, since the files need some, too. */
const maxOfPiped = (room: number): number => Math.min(maxPiped, Math.floor(room / 2));

export const maxOfPast = (room: number): number => Math.floor(room / 4);

/** "": nothing was piped in. `most`: bytes of it; by default for a call of the work. */
export function renderPiped(run: Run, most = maxOfPiped(roomFor(partOf(run.calling.model, "work")))): string {
  const { context } = run.task;
  // Files that were read since may tell a secret in it.
  return context === null ? "" : fence("context", {}, clipText(run.veil.cover(context), shareOut(Math.floor(most))));
}

const widestBudget = { knowledge: maxGuides, tree: 950, ranked: 1_400, excerpts: 21_000, context: maxPiped };
type Budgets = typeof widestBudget;
type Fitted = Budgets & { readonly history: number };
const widestChars = 2 * widestBudget.knowledge + widestBudget.tree + widestBudget.ranked + widestBudget.excerpts;

/** What the person gave comes first; the other parts share the rest in the proportions of `widestBudget`. */
function fitBudgets({ task, calling }: Run, mentioned: readonly Source[], scale: number): Fitted {
  const room = roomFor(partOf(calling.model, "plan"));
  const named = mentioned.reduce((sum, { shown }) => sum + shown.length, 0);
  const history = maxOfPast(room);
  const past = Math.min(history, renderPastTurns(task.history, history).length);
  const given = named + past + Math.min(maxOfPiped(room), task.context?.length ?? 0);
  const share = Math.max(0, Math.min(1, (room - given) / widestChars)) * scale;
  const scaled = Object.entries(widestBudget).map(([name, widestOf]) => [name, Math.floor(widestOf * share)] as const);
  const own = { history: history * scale, context: maxOfPiped(room) * scale };
  return { ...widestBudget, ...Object.fromEntries(scaled), ...own };
}

/** Whether a text in lower case has the name of the file as a word, or as the end of a path. */
function isNamedIn(text: string, path: string): boolean {
  const name = nameOf(path).toLowerCase();
  const at = text.indexOf(name);
  return at >= 0 && !/[\w.-]/.test(text.charAt(at - 1));
}

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

/** All files that people wrote, whole, without data; null: they do not fit, or a named one cannot be shown whole. */
async function readSmallProject(
  run: Run,
  asked: Asked,
  { paths, more }: Pick<ListedProject, "paths" | "more">,
  read: ReadText,
  maxLength: number,
): Promise<Choice | null> {
  if (more || paths.length > surveyLimits.wholeFiles) return null;
  let left = maxLength;
  const found: Source[] = [];
  let isWhole = true;
  for (const { path, isNamed } of orderFiles(paths, asked)) {
    const source = await read(path as RelPath);
    if (source === null && isNamed) return null;
    if (source === null || source.text === "") continue;
    if (!isNamed && (isTable(path, source.text) || !isWritten(source.text))) {
      isWhole = false;
      continue;
    }
    left -= source.text.length + surveyLimits.fileCost;
    if (left < 0) return null;
    found.push(source);
  }
  return { excerpts: found.map((source) => hideSource(run, source)), ranking: null, isWhole };
}
