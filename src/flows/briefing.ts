/** What call 1 is shown of the project: knowledge files, tree, the files the request is about; all within a budget. */
import { fence } from "../core/fence.ts";
import type { RelPath } from "../core/path.ts";
import type { Entry } from "../core/ports.ts";
import { rankContents, rankPaths } from "../core/rank.ts";
import { findStacks } from "../core/stack.ts";
import { renderTree } from "../core/tree.ts";
import { noteHidden } from "./hidden.ts";
import type { Run } from "./run.ts";

/** Characters. */
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
/** A token is about four characters of prose, and fewer of code. */
const perToken = 3;
/** What stands around the briefing: protocol, schema, the request itself. */
const around = 6_000;
/** All of the widest budgets but the context's. */
const whole = 2 * widest.knowledge + widest.tree + widest.excerpts + widest.history;

/** The same shares of less for a model that holds less; half of it for what the person gave along. */
function fitBudgets({ ports: { model }, task }: Run): Budgets {
  const room = Math.max(0, (model.window - model.maxOutputTokens) * perToken - around);
  const given = Math.min(widest.context, task.context?.length ?? 0, Math.floor(room / 2));
  const share = Math.min(1, (room - given) / whole);
  const scaled = Object.entries(widest).map(([name, most]) => [name, Math.floor(most * share)] as const);
  return { ...widest, ...Object.fromEntries(scaled), context: Math.min(widest.context, Math.floor(room / 2)) };
}

const limits = {
  entries: 20_000,
  /** Files that are read to rank them: few when the request names one. */
  readNamed: 200,
  readFiles: 2000,
  readBytes: 4_000_000,
  fileBytes: 100_000,
  best: 3,
  excerpts: 12,
  relevance: 1 / 4,
  context: 10_000,
};

/** Read in this order; the first of each row that is there. */
const knowledgeFiles: readonly (readonly string[])[] = [["AGENTS.md", "CLAUDE.md", "GEMINI.md"], ["MEMORY.md"]];

export interface Briefing {
  /** The user message of the plan call. */
  readonly text: string;
  /** Everything the text was made from, for the plan cache. */
  readonly shown: readonly RelPath[];
}

const cut = (text: string, most: number) =>
  text.length <= most ? text : `${text.slice(0, most)}\n[… ${text.length - most} more characters not shown]`;

async function readText(run: Run, path: RelPath, limit?: number): Promise<string | null> {
  const blob = await run.overlay.read(path, limit).catch(() => null);
  if (blob?.kind !== "file" || blob.bytes.subarray(0, 8000).includes(0)) return null;
  return new TextDecoder().decode(blob.bytes);
}

async function collectKnowledge(
  run: Run,
  files: ReadonlyMap<string, Entry>,
  budgets: Budgets,
): Promise<[RelPath, string][]> {
  const found: [RelPath, string][] = [];
  for (const names of knowledgeFiles) {
    const entry = names.flatMap((name) => files.get(name) ?? []).at(0);
    const text = entry === undefined ? null : await readText(run, entry.path);
    if (entry !== undefined && text !== null) found.push([entry.path, cut(text, budgets.knowledge)]);
  }
  return found;
}

/** Reads small text files, the likeliest first, until the byte limit. */
async function readContents(
  run: Run,
  paths: readonly string[],
  most: number,
  files: ReadonlyMap<string, Entry>,
): Promise<Map<string, string>> {
  const contents = new Map<string, string>();
  let bytes = 0;
  for (const path of paths) {
    if (contents.size >= most || bytes > limits.readBytes) break;
    const entry = files.get(path);
    const text = entry === undefined ? null : await readText(run, entry.path, limits.fileBytes);
    if (text === null) continue;
    bytes += text.length;
    contents.set(path, text);
  }
  return contents;
}

/** The files the request is most likely about, or all of a small project: much of the best, the beginning of some more. */
async function pickExcerpts(
  run: Run,
  files: ReadonlyMap<string, Entry>,
  budgets: Budgets,
): Promise<[RelPath, string][]> {
  const request = run.task.text;
  const byName = rankPaths(request, [...files.keys()], run.task.context?.slice(-limits.context) ?? "");
  const order = [...new Set([...byName.map(({ path }) => path), ...files.keys()])];
  const contents = await readContents(
    run,
    order,
    byName.some(({ named }) => named) ? limits.readNamed : limits.readFiles,
    files,
  );
  const ranked = rankContents(request, byName, contents);
  const least = (ranked[0]?.score ?? 0) * limits.relevance;
  const wanted = ranked.filter(({ score }) => score >= least).map(({ path }) => path);
  const small = files.size <= limits.excerpts ? [...files.keys()] : [];
  const picked: [RelPath, string][] = [];
  let used = 0;
  for (const path of [...new Set([...wanted, ...small])].slice(0, limits.excerpts)) {
    const text = contents.get(path);
    const entry = files.get(path);
    if (text === undefined || entry === undefined) continue;
    const shown = cut(text, picked.length < limits.best ? budgets.excerpt : budgets.more);
    used += shown.length;
    if (used > budgets.excerpts) break;
    picked.push([entry.path, shown]);
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

/** Looks at the workspace and writes the plan call's user message; the stable parts stand first. */
export async function makeBriefing(run: Run): Promise<Briefing> {
  const budgets = fitBudgets(run);
  const entries: Entry[] = [];
  let more = false;
  for await (const entry of run.overlay.walk("" as RelPath, run.signal)) {
    more = entries.length >= limits.entries;
    if (more) break;
    entries.push(entry);
  }
  const files = new Map(entries.filter(({ kind }) => kind === "file").map((entry) => [entry.path as string, entry]));
  const knowledge = await collectKnowledge(run, files, budgets);
  const excerpts = await pickExcerpts(
    run,
    new Map([...files].filter(([path]) => !knowledge.some(([known]) => known === path))),
    budgets,
  );
  for (const [path, text] of [...knowledge, ...excerpts]) noteHidden(run, path, text);
  const keep = new Set<string>(excerpts.map(([path]) => path));
  const names = entries.map(({ path, kind }) => (kind === "folder" ? `${path}/` : path));
  const tree = names.length === 0 ? "(empty folder)" : renderTree(names, budgets.tree, keep);
  const parts = [
    ...knowledge.map(([path, text]) => fence("file", { path }, text)),
    fence("tree", stackOf(names), more ? `${tree}\n(only the first ${limits.entries} entries were looked at)` : tree),
    ...excerpts.map(([path, text]) => fence("file", { path }, text)),
  ];
  if (run.task.history.length > 0) parts.push(fence("conversation", {}, renderHistory(run, budgets)));
  if (run.task.context !== null) parts.push(fence("context", {}, cut(run.task.context, budgets.context)));
  if (run.options.checks.length > 0)
    parts.push(`Checks of the user:\n${run.options.checks.map((check) => `- ${check}`).join("\n")}`);
  parts.push(`Request: ${run.task.text}`);
  return { text: parts.join("\n\n"), shown: [...knowledge, ...excerpts].map(([path]) => path) };
}
