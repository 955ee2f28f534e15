/** Actions that look at the project as a whole or at the machine: MAP_ROOT, SNIFF_LOGS, DIAGNOSE, PROFILE. */

import * as z from "zod/mini";
import { quoteForShell } from "../core/command/quote.ts";
import { isLogName } from "../core/compressed.ts";
import { findStacks, usualFolders } from "../core/context/stack.ts";
import { spanOf, timeOfLine } from "../core/log-time.ts";
import { nameOf, parentOf, type RelPath } from "../core/path.ts";
import type { Entry, Stage } from "../core/ports.ts";
import { answer, complain, defineAction } from "./read-input.ts";

const mark = ({ path, kind }: Entry) => (kind === "folder" ? `${nameOf(path)}/` : nameOf(path));

async function renderFolder(stage: Stage, folder: Entry): Promise<string> {
  const children = await stage.list(folder.path);
  const shown = children.slice(0, 5).map(mark).join(" ");
  return `${folder.path}/: ${shown}${children.length > 5 ? ` +${children.length - 5}` : ""}`;
}

export const mapRoot = defineAction("MAP_ROOT", {
  input: () => z.object({ path: z.optional(z.string()) }),
  async propose({ path }, stage) {
    const folder = stage.path(path || ".", "list");
    const entries = await stage.list(folder);
    const files = entries.flatMap(({ kind, path: file }) => (kind === "file" ? [nameOf(file)] : []));
    const found = findStacks(new Set(files));
    const folders = entries.filter((entry) => entry.kind === "folder" && usualFolders.includes(nameOf(entry.path)));
    const lines = [
      `stack: ${found.length === 0 ? "unknown" : found.map(({ name, by }) => `${name} (${by})`).join(", ")}`,
      ...(await Promise.all(folders.map((each) => renderFolder(stage, each)))),
      `files here: ${files.slice(0, 10).join(" ") || "none"}${files.length > 10 ? ` +${files.length - 10}` : ""}`,
    ];
    return answer(lines.join("\n"));
  },
});

/** Folders of a project where logs lie, even if version control ignores them. */
const logFolders: readonly string[] = ["logs", "log", "storage/logs", "var/log"];
/** Files that are searched, hits of one file that are looked at for their time, hits that are shown, files that are named. */
const most = { files: 200, walked: 20_000, perFile: 1000, hits: 50, named: 12 } as const;

/** The logs in and below a folder, also ignored ones of the folder itself. */
async function* findLogs(stage: Stage, folder: RelPath, signal: AbortSignal): AsyncGenerator<Entry> {
  if (folder !== "" && (await stage.read(folder).catch(() => null))?.kind !== "folder") return;
  yield* (await stage.list(folder)).filter(isLog);
  let left: number = most.walked;
  for await (const entry of stage.walk(folder, signal)) {
    if (isLog(entry)) yield entry;
    left -= 1;
    if (left === 0) return;
  }
}

const isLog = ({ kind, path }: Entry) => kind === "file" && isLogName(path);

/** The logs of these places, newest first. A place that is a file counts as a log. */
async function logsOf(stage: Stage, places: readonly RelPath[], signal: AbortSignal): Promise<readonly RelPath[]> {
  const found = new Map<RelPath, number>();
  for (const place of places) {
    const parent = place === "" ? null : parentOf(place);
    const named = parent === null ? [] : await stage.list(parent).catch(() => []);
    const file = named.find(({ path, kind }) => path === place && kind === "file");
    if (file !== undefined) found.set(place, file.changed ?? 0);
    else for await (const { path, changed } of findLogs(stage, place, signal)) found.set(path, changed ?? 0);
  }
  return [...found].sort((a, b) => b[1] - a[1]).map(([path]) => path);
}

/** Lines that match, of the newest logs first and in each the last ones; of those with a time only the ones in the span. */
async function searchLogs(stage: Stage, pattern: string, logs: readonly RelPath[], signal: AbortSignal) {
  const { text = "", at = new Date() } = stage.asked ?? {};
  const span = spanOf(text, at);
  const isMeant = (line: string) => {
    const time = span === null ? null : timeOfLine(line, at);
    return span === null || time === null || (time >= span.from && time <= span.to);
  };
  const lines: string[] = [];
  let hidden = 0;
  for (const under of logs) {
    const query = { pattern, ignoreCase: true, under, include: null, newest: true, staged: new Map() };
    const { hits } = await stage.search({ ...query, maxHits: span === null ? most.hits : most.perFile }, signal);
    const meant = hits.filter((hit) => isMeant(hit.text));
    hidden += hits.length - meant.length;
    lines.push(...meant.slice(-most.hits).map((hit) => `${hit.path}:${hit.line}:${hit.text}`));
    if (lines.length >= most.hits) break;
  }
  const notes = [
    ...(lines.length >= most.hits ? [`(older ones are left out; a narrower word or path shows them)`] : []),
    ...(hidden > 0 ? [`(${hidden} more outside the time that the request names)`] : []),
  ];
  return { lines: lines.slice(0, most.hits), notes };
}

export const sniffLogs = defineAction("SNIFF_LOGS", {
  input: () => z.object({ pattern: z.optional(z.string()), path: z.optional(z.string()) }),
  async propose({ pattern = "", path = "" }, stage, signal) {
    const folders = path === "" ? [".", ...logFolders, ...(stage.alsoShown ?? [])] : [path];
    const all = await logsOf(stage, [...new Set(folders.map((each) => stage.path(each, "list")))], signal);
    if (all.length === 0) return answer(`no logs in ${folders.join(", ")}`);
    // A log that is named where the words belong is the place.
    const named = path === "" ? all.filter((each) => each === pattern || each.endsWith(`/${pattern}`)) : [];
    const wanted = pattern === "" || pattern === "." || named.length > 0 ? "error" : pattern;
    const logs = (named.length > 0 ? named : all).slice(0, most.files);
    const { lines, notes } = await searchLogs(stage, wanted, logs, signal);
    const rest = logs.length > most.named ? ` and ${logs.length - most.named} older ones` : "";
    const left =
      named.length === 0 && all.length > logs.length
        ? `; ${all.length - logs.length} still older ones were not searched`
        : "";
    const searched = `${logs.slice(0, most.named).join(", ")}${rest}${left}`;
    const found = lines.length === 0 ? [`no ${wanted} in ${searched}`] : lines;
    return answer([...found, ...notes].join("\n"));
  },
});

export const diagnose = defineAction("DIAGNOSE", {
  input: () => z.object({ pattern: z.optional(z.string()), path: z.optional(z.string()) }),
  async propose({ pattern = "", path = "" }, stage, signal) {
    if (stage.host === undefined) return complain("nothing_done", "this machine cannot be looked at here");
    return { kind: "answer", text: await stage.host(`${pattern} ${path}`.trim(), signal), foreign: true };
  },
});

export const profile = defineAction("PROFILE", {
  input: () => z.object({ path: z.string().check(z.minLength(1)) }),
  async propose({ path: text }, stage) {
    const path = stage.path(text, "read");
    return { kind: "command", command: `python3 -m cProfile -s cumulative ${quoteForShell(`./${path}`)} | head -50` };
  },
});
