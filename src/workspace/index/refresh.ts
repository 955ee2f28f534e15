/** Brings an index up to date: walks the workspace, reads changed files and writes steps that are valid one by one. */

import { surveyLimits } from "../../core/context/survey-limits.ts";
import { joinPath, nameOf, parentOf, type RelPath } from "../../core/path.ts";
import type { Entry } from "../../core/ports.ts";
import type { Root } from "../confine.ts";
import { textOf } from "../context/count-files.ts";
import type { Repository } from "../git/find-repository.ts";
import { historyCommits, readLog } from "../git/git-log.ts";
import type { PathRules } from "../path-policy.ts";
import { walkSteps } from "../scan.ts";
import { openReader } from "../search/search-files.ts";
import type { FileFacts, FolderFacts, IndexContents, IndexFile, StoredHistory } from "./index-file.ts";
import { markOf } from "./known-files.ts";
import { createSegment } from "./segment.ts";
import { isSame, openStamps, type Stamp } from "./stamp.ts";

export interface RefreshOptions {
  readonly root: Root;
  readonly rules: PathRules;
  readonly index: IndexFile;
  readonly repository: Repository | null;
  /** PATH for finding git, without folders of the project. */
  readonly path: string;
  readonly signal: AbortSignal;
}

export interface Refreshed {
  readonly files: number;
  /** Files that were read since they are new or changed. */
  readonly read: number;
  /** Why it is not complete: another process uses it, or there are more files or text than it holds; null: it is. */
  readonly obstacle: "busy" | "size" | null;
}

/** Characters of text in one segment; it is held in memory until it is written. */
const segmentLength = 3 * 1024 * 1024;
const segmentFiles = 4_000;
const sweptLength = 1024 * 1024;
const maxLength = 1024 * 1024 * 1024;
/** Segments with less live text than this are merged when there are too many of them. */
const smallSegment = segmentLength / 8;
const smallFiles = segmentFiles / 8;
const maxSmallSegments = 8;
const history = { commits: historyCommits.kept, timeoutMs: 20_000 } as const;

interface Folder {
  readonly stamp: Stamp | null;
  readonly marks: string[];
  readonly files: Map<string, FileFacts>;
}

/** Segments to rewrite: mostly outdated ones, and small ones if there are too many. */
function findWorn(
  contents: IndexContents,
  segments: readonly number[],
  still: (path: RelPath, facts: FileFacts) => boolean,
): Set<number> {
  const live = new Map<number, number>();
  const length = new Map<number, number>();
  const size = new Map<number, number>();
  for (const [folder, { files }] of contents.folders) {
    for (const [name, facts] of files) {
      size.set(facts.segment, Math.max(size.get(facts.segment) ?? 0, facts.local + 1));
      if (!still(joinPath(folder as RelPath, name), facts)) continue;
      live.set(facts.segment, (live.get(facts.segment) ?? 0) + 1);
      length.set(facts.segment, (length.get(facts.segment) ?? 0) + Math.max(0, facts.length));
    }
  }
  const worn = segments.filter((id) => (live.get(id) ?? 0) < (size.get(id) ?? 1) / 2);
  const isSmall = (id: number) => (length.get(id) ?? 0) < smallSegment && (live.get(id) ?? 0) < smallFiles;
  const small = segments.filter((id) => !worn.includes(id) && isSmall(id));
  return new Set([...worn, ...(small.length > maxSmallSegments ? small : [])]);
}

async function pauseFrom(at: number, signal: AbortSignal): Promise<number> {
  if (performance.now() - at < 20) return at;
  await Bun.sleep(0);
  signal.throwIfAborted();
  return performance.now();
}

/** Throws errors of SQLite, and the signal's reason. */
export async function refreshIndex(options: RefreshOptions): Promise<Refreshed> {
  const { root, rules, index, signal } = options;
  const contents = index.read();
  const stampOf = openStamps(root);
  const folders = new Map<string, Folder>([["", { stamp: stampOf(""), marks: [], files: new Map() }]]);
  const stamps = new Map<RelPath, Stamp>();
  let pause = performance.now();
  for (const entry of walkSteps(root, "" as RelPath, rules)) {
    pause = await pauseFrom(pause, signal);
    if (entry === null) continue;
    if (stamps.size >= surveyLimits.entries) return { files: stamps.size, read: 0, obstacle: "size" };
    takeEntry(folders, stamps, entry, stampOf);
  }
  const factsBefore = (path: RelPath) => contents.folders.get(parentOf(path))?.files.get(nameOf(path));
  const isStill = (path: RelPath, facts: FileFacts) => {
    const now = stamps.get(path);
    return now !== undefined && isSame(facts, now);
  };
  const worn = findWorn(contents, index.segments, isStill);
  const stale = new Map<string, RelPath[]>();
  for (const [path, stamp] of stamps) {
    const facts = factsBefore(path);
    const [folder, name] = [parentOf(path), nameOf(path)];
    if (facts !== undefined && isStill(path, facts) && !worn.has(facts.segment))
      folders.get(folder)?.files.set(name, facts);
    else if (stamp.size > surveyLimits.fileBytes)
      folders.get(folder)?.files.set(name, { ...stamp, length: -1, segment: 0, local: 0 });
    else stale.set(folder, [...(stale.get(folder) ?? []), path]);
  }
  const read = [...stale.values()].reduce((sum, paths) => sum + paths.length, 0);
  const obstacle = await readStale(options, folders, stamps, stale);
  if (obstacle !== null) return { files: stamps.size, read, obstacle };
  const past = await readHistory(options, contents.history);
  const isWritten = index.write({
    folders: changedFolders(contents, folders),
    removedFolders: [...contents.folders.keys()].filter((path) => !folders.has(path)),
    segment: null,
    removedSegments: [...worn],
    history: past,
    complete: true,
  });
  return { files: stamps.size, read, obstacle: isWritten ? null : "busy" };
}

function takeEntry(
  folders: Map<string, Folder>,
  stamps: Map<RelPath, Stamp>,
  entry: Entry,
  stampOf: (path: string) => Stamp | null,
): void {
  const { path, kind } = entry;
  folders.get(parentOf(path))?.marks.push(markOf(entry));
  // The stamp is taken before the folder is listed, so that files added meanwhile make it look changed.
  if (kind === "folder") folders.set(path, { stamp: stampOf(path), marks: [], files: new Map() });
  const stamp = kind === "file" ? stampOf(path) : null;
  if (stamp?.kind === "file") stamps.set(path, stamp);
}

const toFacts = ({ stamp, marks, files }: Folder): FolderFacts => {
  // A file that vanished meanwhile has no facts, so its name is dropped too.
  const names = marks.filter((mark) => mark.startsWith("/") || files.has(mark));
  const isWhole = names.length === marks.length;
  return { changed: isWhole ? (stamp?.changed ?? -1) : -1, inode: stamp?.inode ?? 0, names, files };
};

function isUnchanged(before: FolderFacts | undefined, now: FolderFacts): boolean {
  if (before === undefined || before.changed !== now.changed || before.inode !== now.inode) return false;
  if (before.names.length !== now.names.length || before.names.some((name, at) => name !== now.names[at])) return false;
  return [...now.files].every(([name, facts]) => before.files.get(name) === facts);
}

function changedFolders(contents: IndexContents, folders: ReadonlyMap<string, Folder>): Map<string, FolderFacts> {
  const all = [...folders].map(([path, folder]) => [path, toFacts(folder)] as const);
  return new Map(all.filter(([path, facts]) => !isUnchanged(contents.folders.get(path), facts)));
}

/** Reads files that are new or changed, and says what kept it from reading all of them. */
async function readStale(
  { root, index, signal }: RefreshOptions,
  folders: ReadonlyMap<string, Folder>,
  stamps: ReadonlyMap<RelPath, Stamp>,
  stale: ReadonlyMap<string, readonly RelPath[]>,
): Promise<Refreshed["obstacle"]> {
  const read = openReader(root, surveyLimits.fileBytes);
  let nextId = Math.max(0, ...index.segments) + 1;
  let builder = createSegment();
  let [total, swept] = [0, 0];
  let touched = new Set<string>();
  const flush = (): boolean => {
    if (builder.files === 0) return true;
    const written = index.write({
      folders: new Map(
        [...touched].flatMap((path) => {
          const folder = folders.get(path);
          return folder === undefined ? [] : [[path, { ...toFacts(folder), changed: -1 }] as const];
        }),
      ),
      removedFolders: [],
      segment: { id: nextId, content: builder.build() },
      removedSegments: [],
      history: null,
      complete: false,
    });
    nextId += 1;
    total += builder.length;
    builder = createSegment();
    touched = new Set();
    return written;
  };
  let pause = performance.now();
  for (const [folder, paths] of stale) {
    touched.add(folder);
    read({ folder: folder as RelPath, names: paths.map(nameOf) }, (file) => {
      const text = textOf(file);
      const stamp = stamps.get(file.path);
      if (stamp === undefined) return;
      const place =
        text === null
          ? { length: -1, segment: 0, local: 0 }
          : { length: text.length, segment: nextId, local: builder.add(text) };
      folders.get(folder)?.files.set(nameOf(file.path), { ...stamp, ...place });
    });
    if ((builder.length > segmentLength || builder.files > segmentFiles) && !flush()) return "busy";
    if (total > maxLength) return "size";
    if (total + builder.length - swept > sweptLength) {
      // Frees the texts at once; otherwise the engine keeps tens of megabytes of garbage.
      Bun.gc(true);
      swept = total + builder.length;
    }
    pause = await pauseFrom(pause, signal);
  }
  return flush() ? null : "busy";
}

/** Reads the history again; null: HEAD has not moved, or git cannot read it. */
async function readHistory(
  { repository, path, signal }: RefreshOptions,
  known: StoredHistory | null,
): Promise<StoredHistory | null> {
  if (repository === null || repository.head === known?.head) return null;
  const log = await readLog(repository, { ...history, path, signal });
  return log.lacks === null ? { head: repository.head, text: log.text } : null;
}
