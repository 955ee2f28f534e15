/** What call 1 is shown of the project: knowledge files, tree, the files the request is about; all within a budget. */

import type { Asked, RankedProject } from "../../core/context/project.ts";
import type { Ranked } from "../../core/context/rank.ts";
import { findStacks } from "../../core/context/stack.ts";
import { renderTree } from "../../core/context/tree.ts";
import { fence } from "../../core/data-fence.ts";
import type { RelPath } from "../../core/path.ts";
import { blankSecrets } from "../../core/secrets/veil.ts";
import { recentTurns } from "../../core/session/recent.ts";
import { renderBaseline } from "../checks/describe.ts";
import { renderAnswerForm } from "../ending/answer-form.ts";
import type { Run } from "../run.ts";
import { type Budgets, fitBudgets, widest } from "./budgets.ts";
import { type ListedProject, listProject } from "./list-project.ts";
import { readSmall } from "./small-project.ts";
import {
  collectKnowledge,
  cutText,
  noteHidden,
  noteSent,
  openTexts,
  type ReadText,
  readMentioned,
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

export interface Briefing {
  /** The user message of the plan call: the parts, one after another. */
  readonly text: string;
  readonly parts: readonly Part[];
  /** Everything the text was made from, for the plan cache. */
  readonly shown: readonly RelPath[];
  /** Of a project that is shown whole they are only found out when somebody asks. */
  readonly likely: () => Promise<Likely>;
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

/** What is asked; a replay knows secrets by their names only, and must choose as the run did. */
const askedOf = (request: string, output: string): Asked => ({
  request: blankSecrets(request),
  output: blankSecrets(output),
});

/** The ranking of a project, as it is kept and told. */
interface Told extends Likely {
  /** The request that was made from it is on its way. */
  readonly finish: () => void;
}

function tell({ ranking, survey, terms, commits, lacks }: RankedProject, whole = false): Told {
  const files = ranking.files.slice(0, limits.kept);
  return { files, lacks, finish: () => survey.finish({ files, values: ranking.values, whole, commits }, terms) };
}

async function rank(run: Run, asked: Asked, shown: ReadonlySet<string>): Promise<Likely> {
  const told = tell(await (await listProject(run, asked, openTexts(run), shown)).rank());
  told.finish();
  return told;
}

/** The ranking alone, for those who only want to know. */
export const rankTask = (run: Run): Promise<Likely> =>
  rank(run, askedOf(run.task.text, outputOf(run)), new Set(run.task.files ?? []));

/** The likeliest files for one request, as a part of a prompt; "" where there are none. */
export async function renderLikely(run: Run, request: string): Promise<string> {
  const { files } = await rank(run, askedOf(request, ""), new Set());
  const paths = files.slice(0, limits.ranked).map(({ path }) => path);
  return renderRanked(paths, widest)
    .map(({ text }) => text)
    .join("");
}

/** What is shown of a project. */
interface Choice {
  readonly excerpts: readonly Source[];
  /** null: all of it is shown, and nothing was ranked. */
  readonly told: Told | null;
}

/** All of a small project; else what the request is most likely about. */
async function choose(run: Run, asked: Asked, project: ListedProject, read: ReadText, most: number): Promise<Choice> {
  // What goes along with a request may be about any part of any file: then they are weighed, however few they are.
  const all = asked.output === "" ? await readSmall(run, project, read, most) : null;
  if (all !== null) {
    project.close();
    return { excerpts: all, told: null };
  }
  const [{ pickExcerpts }, ranked] = await Promise.all([import("./pick-excerpts.ts"), project.rank()]);
  const isSmall = ranked.smallLength !== null && ranked.smallLength <= most;
  return { excerpts: await pickExcerpts(run, ranked, read, most, isSmall), told: tell(ranked, isSmall) };
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
  const asked = askedOf(run.task.text, outputOf(run));
  const read = openTexts(run);
  const project = await listProject(run, asked, read, new Set(mentioned.map(({ path }) => path)));
  const { entries, more } = project;
  const files = new Map(entries.filter(({ kind }) => kind === "file").map((entry) => [entry.path as string, entry]));
  const knowledge = await collectKnowledge(run, files, budgets.knowledge);
  const { excerpts, told } = await choose(run, asked, project, read, budgets.excerpts);
  const sources = [...knowledge, ...excerpts, ...mentioned];
  for (const { path, shown } of sources) noteHidden(run, path, shown);
  noteSent(run, sources);
  tellLacks(run, told?.lacks ?? []);
  const likely = async () => told ?? rankTask(run);
  run.overlay.prefer(async () => (await likely()).files.map(({ path }) => path));
  const likeliest = (told?.files ?? []).slice(0, limits.ranked).map(({ path }) => path);
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
  told?.finish();
  const text = parts.map((part) => part.text).join("\n\n");
  return { text, parts, shown: sources.map(({ path }) => path), likely };
}

/** Characters of the line about the environment. */
const maxEnvironment = 300;

/** The environment that plans may count on. */
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
