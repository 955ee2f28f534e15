/** The actions that look: READ, TREE, LIST_PATH, LS, SEARCH, GLOB. They answer and change nothing. */
import * as z from "zod/mini";
import { compressionOf } from "../core/compressed.ts";
import { headOfChangelog } from "../core/context/blocks.ts";
import { isLongChangelog } from "../core/context/kind.ts";
import { maxReadLines, maxShown } from "../core/context/shown.ts";
import { linkRefused, orNull, PaiError } from "../core/error.ts";
import { quoteName } from "../core/invisible.ts";
import { nameOf, parentOf, type RelPath } from "../core/path.ts";
import type { Complaint, Entry, Stage } from "../core/ports.ts";
import { answer, defineAction, unusableFile } from "./read-input.ts";

const limits = { tree: 1000, list: 2000, hits: 100, globs: 200, counted: 10_000, unreadable: 10 };

const noteLength = 120;

/** As many lines as fit with their numbers; if the first line is too long alone, its beginning. */
function fitLines(text: string, from: number, room: number): string {
  const lines = text.split("\n");
  const width = String(from + lines.length - 1).length + 2;
  let left = room;
  const count = lines.findIndex((line) => {
    left -= line.length + width;
    return left < 0;
  });
  if (count < 0) return text;
  return count === 0 ? (lines[0] ?? "").slice(0, Math.max(0, room)) : lines.slice(0, count).join("\n");
}

function numberLines(text: string, from: number): string {
  const lines = text.split("\n");
  const width = String(from + lines.length - 1).length;
  return lines.map((line, at) => `${String(from + at).padStart(width)} ${line}`).join("\n");
}

/** Of a long changelog the head, of any other file, and where a line is named, all. */
function headOf(path: RelPath, text: string, named: number | undefined): string {
  if (named !== undefined || !isLongChangelog(path, text.length)) return text;
  const lines = text.split("\n");
  return lines.slice(0, headOfChangelog(lines)).join("\n");
}

export const read = defineAction("READ", {
  input: () =>
    z.object({
      path: z.string(),
      start_line: z.optional(z.int().check(z.positive())),
      end_line: z.optional(z.int().check(z.positive())),
    }),
  async propose({ path: text, start_line: from, end_line }, stage) {
    const path = stage.path(text, "read");
    const isLong = await isLongFile(stage, path);
    if (typeof isLong !== "boolean") return isLong;
    if (isLong && from === undefined && end_line === undefined) return answer(await showEnds(stage, path));
    const start_line = from ?? 1;
    const last = Math.min(end_line ?? Number.MAX_SAFE_INTEGER, start_line + maxReadLines - 1);
    const range = await stage.readLines(path, start_line, last);
    if (range.total === 0) return answer("(empty file)");
    if (range.to < start_line) {
      const total = range.total ?? range.to;
      return unusableFile(`${path} has only ${total === 1 ? "1 line" : `${total} lines`}`);
    }
    const shown = fitLines(headOf(path, range.text, from ?? end_line), start_line, stage.room - noteLength);
    const to = start_line + shown.split("\n").length - 1;
    const wanted = Math.min(range.total ?? to, end_line ?? Number.MAX_SAFE_INTEGER);
    const next =
      stage.asksBy === "tools" ? `start_line ${to + 1}, end_line ${wanted}` : `READ::${path}::${to + 1}-${wanted}`;
    const more = to < wanted ? `\n(${range.total} lines in all; ${next} shows more)` : "";
    return answer(numberLines(shown, start_line) + more);
  },
});

const longBytes = 1024 * 1024;

/** Whether a file is long, or has to be unpacked; a complaint: it cannot be shown as text. Throws path_refused for a link. */
async function isLongFile(stage: Stage, path: RelPath): Promise<boolean | Complaint> {
  const blob = await stage.read(path).catch((thrown) => {
    if (thrown instanceof PaiError && thrown.code === "file_unusable" && /MiB/.test(thrown.message)) return undefined;
    throw thrown;
  });
  if (blob === undefined) return true;
  if (blob === null) return unusableFile(`${path} does not exist`);
  if (blob.kind === "folder") return unusableFile(`${path} is a folder, not a file`);
  if (blob.kind === "link") throw linkRefused(path, blob.target);
  if (compressionOf(path) !== null) return true;
  if (blob.bytes.subarray(0, 8000).includes(0)) return unusableFile(`${path} is binary, ${blob.bytes.length} bytes`);
  return blob.bytes.length > longBytes;
}

/** Lines of each end that are read, and the share of the room that the beginning gets. */
const ends = { lines: 1000, head: 0.2 } as const;

/** The beginning and the end of a long file, of which the end matters more: most long files are logs. */
async function showEnds(stage: Stage, path: RelPath): Promise<string> {
  const { head, tail } = await stage.readEnds(path, ends.lines);
  const room = stage.room - noteLength;
  const total = tail.to;
  const first = fitLines(head.text, 1, Math.floor(room * ends.head));
  const to = first.split("\n").length;
  const width = String(total).length + 2;
  const last: string[] = [];
  let left = room - first.length - to * width;
  for (const line of tail.text.split("\n").toReversed()) {
    left -= line.length + width;
    if (left < 0 || total - last.length <= to) break;
    last.unshift(line);
  }
  if (last.length === 0) return numberLines(first, 1);
  const from = total - last.length + 1;
  const how = stage.asksBy === "tools" ? "start_line and end_line show" : `READ::${path}::from-to shows`;
  const gap =
    from > to + 1 ? [`(lines ${to + 1}-${from - 1} of ${total} left out; ${how} them, a search finds in them)`] : [];
  return [numberLines(first, 1), ...gap, numberLines(last.join("\n"), from)].join("\n");
}

/** The line that names the folders that a listing could not read; empty: it could read all. */
function renderUnreadable(folders: readonly RelPath[]): readonly string[] {
  if (folders.length === 0) return [];
  const count = folders.length === 1 ? "1 folder" : `${folders.length} folders`;
  const more = folders.length > limits.unreadable ? ", …" : "";
  const named = folders.slice(0, limits.unreadable).map((folder) => quoteName(`${folder}/`));
  return [`(${count} could not be read: ${named.join(", ")}${more})`];
}

/** A listing of the first `max` entries below a folder, as `draw` shows them, a line each; the others are counted. */
async function renderBelow(
  stage: Stage,
  folder: RelPath,
  { max, draw }: { readonly max: number; readonly draw: (entries: readonly Entry[]) => readonly string[] },
  signal: AbortSignal,
): Promise<string> {
  const entries: Entry[] = [];
  const unreadable: RelPath[] = [];
  let left = 0;
  for await (const entry of stage.walk(folder, signal, (path) => unreadable.push(path))) {
    if (entries.length < max) entries.push(entry);
    else if (++left > limits.counted) break;
  }
  const lines = draw(entries);
  const text = lines.join("\n");
  const shown = text.length > maxShown ? text.slice(0, text.lastIndexOf("\n", maxShown)) : text;
  left += lines.length - shown.split("\n").length;
  const count = left > limits.counted ? `more than ${limits.counted}` : left;
  return [shown, ...(left > 0 ? [`(${count} more not shown)`] : []), ...renderUnreadable(unreadable)].join("\n");
}

function renderEntry({ path, kind, target }: Entry): string {
  const name = nameOf(path);
  if (kind === "link") return `${quoteName(name)} -> ${quoteName(target ?? "")}`;
  if (kind === "special") return `${quoteName(name)} (not a file)`;
  return kind === "folder" ? quoteName(`${name}/`) : quoteName(name);
}

/** Draws a folder with ├── └── │, sorted; links are named and not entered. */
function drawTree(folder: RelPath, entries: readonly Entry[]): readonly string[] {
  const byParent = Map.groupBy(entries, ({ path }) => parentOf(path));
  const draw = (parent: RelPath, indent: string): readonly string[] =>
    (byParent.get(parent) ?? []).flatMap((entry, at, all) => {
      const isLast = at === all.length - 1;
      const line = `${indent}${isLast ? "└── " : "├── "}${renderEntry(entry)}`;
      return [line, ...draw(entry.path, `${indent}${isLast ? "    " : "│   "}`)];
    });
  return [`${folder === "" ? "." : folder}/`, ...draw(folder, "")];
}

/** An action that lists a folder, by default the root. */
const defineListing = (
  name: "TREE" | "LIST_PATH" | "LS",
  list: (stage: Stage, folder: RelPath, signal: AbortSignal) => Promise<string>,
) =>
  defineAction(name, {
    input: () => z.object({ path: z.optional(z.string()) }),
    async propose({ path }, stage, signal) {
      const folder = stage.path(path || ".", "list");
      const blob = folder === "" ? undefined : await stage.read(folder);
      if (blob === null) return unusableFile(`${folder} does not exist`);
      if (blob !== undefined && blob.kind !== "folder") return unusableFile(`${folder} is not a folder`);
      return answer(await list(stage, folder, signal));
    },
  });

const emptyOf = (folder: RelPath) => `${folder === "" ? "the project" : folder} is empty`;

export const tree = defineListing("TREE", (stage, folder, signal) => {
  const draw = (entries: readonly Entry[]) => drawTree(folder, entries);
  return renderBelow(stage, folder, { max: limits.tree, draw }, signal);
});

export const listPath = defineListing("LIST_PATH", (stage, folder, signal) => {
  const draw = (entries: readonly Entry[]) =>
    entries.length === 0
      ? [emptyOf(folder)]
      : entries.map(({ kind, path }) => quoteName(kind === "folder" ? `${path}/` : path));
  return renderBelow(stage, folder, { max: limits.list, draw }, signal);
});

export const ls = defineListing("LS", async (stage, folder) => {
  const entries = await stage.list(folder);
  if (entries.length === 0) return emptyOf(folder);
  const shown = entries
    .slice(0, limits.list)
    .map((entry) => `${renderEntry(entry)}${entry.kind === "file" ? `  ${entry.size} B` : ""}`);
  const more = entries.length - shown.length;
  return [...shown, ...(more > 0 ? [`(${more} more not shown)`] : [])].join("\n");
});

/** `(?i)` in front ignores case; a JSON string is searched literally. */
function readPattern(text: string): { pattern: string; ignoreCase: boolean } {
  // An ordinary pattern may begin with a quote.
  const literal = text.startsWith('"') ? orNull((): unknown => JSON.parse(text)) : null;
  if (typeof literal === "string")
    return { pattern: literal.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"), ignoreCase: false };
  return text.startsWith("(?i)") ? { pattern: text.slice(4), ignoreCase: true } : { pattern: text, ignoreCase: false };
}

export const searchAction = defineAction("SEARCH", {
  input: () =>
    z.object({
      pattern: z.string().check(z.minLength(1)),
      path: z.optional(z.string()),
      include: z.optional(z.string()),
      ignore_case: z.optional(z.boolean()),
      literal: z.optional(z.boolean()),
    }),
  async propose({ pattern: text, path, include, ignore_case, literal }, stage, signal) {
    const { pattern, ignoreCase } = readPattern(literal === true ? JSON.stringify(text) : text);
    const under = stage.path(path || ".", "list");
    const report = await stage.search(
      {
        pattern,
        ignoreCase: ignoreCase || ignore_case === true,
        under,
        include: include ?? null,
        maxHits: limits.hits,
        staged: new Map(),
      },
      signal,
    );
    const lines = report.hits.map((hit) => `${quoteName(hit.path)}:${hit.line}:${hit.text}`);
    if (report.tooSlow)
      lines.push("(the pattern was too slow and was ended: there may be more hits; use a simpler pattern)");
    else if (report.more) lines.push(`(more than ${limits.hits} hits; narrow the pattern or the folder)`);
    if (lines.length === 0) lines.push(`no match for ${text}`);
    if (report.skipped > 0)
      lines.push(
        `(${report.skipped === 1 ? "1 file" : `${report.skipped} files`} skipped: binary, too large or not readable)`,
      );
    return answer(lines.join("\n"));
  },
});

export const glob = defineAction("GLOB", {
  input: () => z.object({ pattern: z.string().check(z.minLength(1)), path: z.optional(z.string()) }),
  async propose({ pattern, path }, stage, signal) {
    const folder = stage.path(path || ".", "list");
    const matcher = new Bun.Glob(pattern.replace(/^\.\//, ""));
    const below = folder === "" ? 0 : folder.length + 1;
    // With a folder, models write patterns from there or from the root.
    const isWanted = (path: string) => matcher.match(path) || (below > 0 && matcher.match(path.slice(below)));
    const found: string[] = [];
    let more = false;
    for await (const entry of stage.walk(folder, signal)) {
      if (entry.kind !== "file" || !isWanted(entry.path)) continue;
      more = found.length === limits.globs;
      if (more) break;
      found.push(entry.path);
    }
    if (found.length === 0) return answer(`no file matches ${pattern}`);
    return answer(found.sort().map(quoteName).join("\n") + (more ? `\n(more than ${limits.globs} files)` : ""));
  },
});
