/** What call 1 is shown of the project: knowledge files, tree, the files the request is about; all within a budget. */

import { rankContents, rankPaths } from "../core/context/rank.ts";
import { findStacks } from "../core/context/stack.ts";
import { renderTree } from "../core/context/tree.ts";
import { fence } from "../core/data-fence.ts";
import type { RelPath } from "../core/path.ts";
import type { Entry } from "../core/ports.ts";
import { renderBaseline } from "./checks/describe.ts";
import type { Run } from "./run.ts";
import { knowledgeFiles, noteHidden, noteSent, readMentioned, readSource, type Source } from "./sources.ts";

/** Characters of each part at the most, for a model that holds much; `excerpt` and `more` are of one file. */
const widest = {
  knowledge: 8_000,
  tree: 10_000,
  excerpt: 6_000,
  more: 2_000,
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
const whole = 2 * widest.knowledge + widest.tree + widest.excerpts + widest.history;

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
  entries: 20_000,
  /** Files that are read to rank them by their content, when the request names a file. */
  readNamed: 200,
  /** The same, when it names none. */
  readFiles: 2000,
  /** All of them together, and each. */
  readBytes: 4_000_000,
  fileBytes: 100_000,
  /** Files of which much is shown, and files of which anything is. */
  best: 3,
  excerpts: 12,
  /** Share of the best file's score that a file must have to be shown. */
  relevance: 1 / 4,
  /** Characters at the end of the context that may name files. */
  context: 10_000,
};

/** A piece of the briefing. */
export interface Part {
  readonly kind: "knowledge" | "tree" | "file" | "conversation" | "context" | "checks" | "request";
  /** As it stands in the message. */
  readonly text: string;
  /** The file it is from; null: none. */
  readonly file: Source | null;
}

export interface Briefing {
  /** The user message of the plan call: the parts, one after another. */
  readonly text: string;
  readonly parts: readonly Part[];
  /** Everything the text was made from, for the plan cache. */
  readonly shown: readonly RelPath[];
}

const cut = (text: string, most: number) =>
  text.length <= most ? text : `${text.slice(0, most)}\n[… ${text.length - most} more characters not shown]`;

async function collectKnowledge(run: Run, files: ReadonlyMap<string, Entry>, budgets: Budgets): Promise<Source[]> {
  const found: Source[] = [];
  for (const names of knowledgeFiles) {
    const entry = names.flatMap((name) => files.get(name) ?? []).at(0);
    const source = entry === undefined ? null : await readSource(run, entry.path);
    if (source !== null) found.push({ ...source, shown: cut(source.text, budgets.knowledge) });
  }
  return found;
}

/** Reads small text files, the likeliest first, until the byte limit. */
async function readContents(
  run: Run,
  paths: readonly string[],
  most: number,
  files: ReadonlyMap<string, Entry>,
): Promise<Map<string, Source>> {
  const contents = new Map<string, Source>();
  let bytes = 0;
  for (const path of paths) {
    if (contents.size >= most || bytes > limits.readBytes) break;
    const entry = files.get(path);
    const source = entry === undefined ? null : await readSource(run, entry.path, limits.fileBytes);
    if (source === null) continue;
    bytes += source.text.length;
    contents.set(path, source);
  }
  return contents;
}

/** The files the request is most likely about, or all of a small project: much of the best three, the beginning of others. */
async function pickExcerpts(run: Run, files: ReadonlyMap<string, Entry>, budgets: Budgets): Promise<Source[]> {
  const request = run.task.text;
  const byName = rankPaths(request, [...files.keys()], run.task.context?.slice(-limits.context) ?? "");
  const order = [...new Set([...byName.map(({ path }) => path), ...files.keys()])];
  const contents = await readContents(
    run,
    order,
    byName.some(({ named }) => named) ? limits.readNamed : limits.readFiles,
    files,
  );
  const texts = new Map([...contents].map(([path, { text }]) => [path, text] as const));
  const ranked = rankContents(request, byName, texts);
  const least = (ranked[0]?.score ?? 0) * limits.relevance;
  const wanted = ranked.filter(({ score }) => score >= least).map(({ path }) => path);
  const small = files.size <= limits.excerpts ? [...files.keys()] : [];
  const picked: Source[] = [];
  let used = 0;
  for (const path of [...new Set([...wanted, ...small])].slice(0, limits.excerpts)) {
    const source = contents.get(path);
    if (source === undefined) continue;
    const shown = cut(source.text, picked.length < limits.best ? budgets.excerpt : budgets.more);
    used += shown.length;
    if (used > budgets.excerpts) break;
    picked.push({ ...source, shown });
  }
  return picked;
}

function renderHistory(run: Run, budgets: Budgets): string {
  const lines = run.task.history
    .slice(-5)
    .map(({ request, answer }) => `user: ${cut(request, 400)}\npai: ${cut(answer, 400)}`);
  return cut(lines.join("\n"), budgets.history);
}

/** What the project is built with, by the files at its root. */
function stackOf(names: readonly string[]): Readonly<Record<string, string>> {
  const stack = findStacks(new Set(names.filter((name) => !name.includes("/")))).map(({ name }) => name);
  return stack.length === 0 ? {} : { stack: stack.join(", ") };
}

/**
 * Looks at the workspace and writes the plan call's user message; the stable parts stand first. `scale`: how much of what
 * it may hold.
 */
export async function makeBriefing(run: Run, scale = 1): Promise<Briefing> {
  const mentioned = await readMentioned(run);
  const budgets = fitBudgets(run, mentioned, scale);
  const entries: Entry[] = [];
  let more = false;
  for await (const entry of run.overlay.walk("" as RelPath, run.signal)) {
    more = entries.length >= limits.entries;
    if (more) break;
    entries.push(entry);
  }
  const files = new Map(entries.filter(({ kind }) => kind === "file").map((entry) => [entry.path as string, entry]));
  const knowledge = await collectKnowledge(run, files, budgets);
  const shownAlready = new Set<string>([...knowledge, ...mentioned].map(({ path }) => path));
  const excerpts = await pickExcerpts(run, new Map([...files].filter(([path]) => !shownAlready.has(path))), budgets);
  const sources = [...knowledge, ...excerpts, ...mentioned];
  for (const { path, shown } of sources) noteHidden(run, path, shown);
  noteSent(run, sources);
  const keep = new Set<string>([...excerpts, ...mentioned].map(({ path }) => path));
  const names = entries.map(({ path, kind }) => (kind === "folder" ? `${path}/` : path));
  const tree = names.length === 0 ? "(empty folder)" : renderTree(names, budgets.tree, keep);
  const treeText = more ? `${tree}\n(only the first ${limits.entries} entries were looked at)` : tree;
  const parts: readonly Part[] = [
    ...knowledge.map((source) => partOf("knowledge", source)),
    { kind: "tree", text: fence("tree", stackOf(names), treeText), file: null },
    ...[...excerpts, ...mentioned].map((source) => partOf("file", source)),
    ...renderGiven(run, budgets),
  ];
  return { text: parts.map(({ text }) => text).join("\n\n"), parts, shown: sources.map(({ path }) => path) };
}

const partOf = (kind: Part["kind"], file: Source): Part => ({
  kind,
  text: fence("file", { path: file.path }, file.shown),
  file,
});

/** What the user gave: the conversation so far, context, checks, the request; the last stands last. */
function renderGiven(run: Run, budgets: Budgets): readonly Part[] {
  const { history, context, text } = run.task;
  const given: readonly (readonly [Part["kind"], string])[] = [
    ["conversation", history.length === 0 ? "" : fence("conversation", {}, renderHistory(run, budgets))],
    ["context", context === null ? "" : fence("context", {}, cut(context, budgets.context))],
    ["checks", renderBaseline(run)],
    ["request", `Request: ${text}`],
  ];
  return given.flatMap(([kind, shown]) => (shown === "" ? [] : [{ kind, text: shown, file: null }]));
}
