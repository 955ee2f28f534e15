/** Searches the workspace as the model sees it: files with secrets are searched with names in their place. */
import type { Blob } from "../core/change.ts";
import type { RelPath } from "../core/path.ts";
import type { SearchQuery, SearchReport } from "../core/ports.ts";
import type { Overlay } from "./stage.ts";

export interface VeiledFiles {
  readonly overlay: Overlay;
  /** Files that are known to hold secrets; `readWhole` adds and removes files. */
  readonly holders: Set<RelPath>;
  /** Whether the content that `readWhole` returned has names in place of secrets. */
  readonly hasSecrets: (bytes: Uint8Array) => boolean;
  /** A file as the model sees it; null: it is too large to be searched for secrets. */
  readonly readWhole: (path: RelPath) => Promise<Blob | null>;
  readonly hidePath: (path: RelPath) => RelPath;
  /** The search waits for this before it names secrets, so that they get their names in the order of the calls. */
  readonly turn: Promise<unknown>;
}

/** How many files are searched for secrets when a pattern is slow. */
const maxHidden = 20_000;

/** Files with secrets as the model sees them, for the search to use instead of those on disk. */
async function hiddenFiles({ holders, hasSecrets, readWhole }: VeiledFiles): Promise<SearchQuery["staged"]> {
  const staged = new Map<RelPath, Uint8Array | null>();
  for (const path of [...holders]) {
    const blob = await readWhole(path).catch(() => null);
    if (blob?.kind === "file" && hasSecrets(blob.bytes)) staged.set(path, blob.bytes);
    else holders.delete(path);
  }
  return staged;
}

/** The files of a folder, or the one file. */
async function* filesBelow(overlay: Overlay, under: RelPath, signal: AbortSignal | undefined): AsyncGenerator<RelPath> {
  const blob = await overlay.read(under).catch(() => null);
  if (blob?.kind === "file") return yield under;
  for await (const { kind, path } of overlay.walk(under, signal)) if (kind === "file") yield path;
}

/** Reads every file below `under`: the slow pattern may be testing a secret in a file that was not read before. */
async function findHolders(
  { overlay, readWhole }: VeiledFiles,
  under: RelPath,
  signal: AbortSignal | undefined,
): Promise<void> {
  let files = 0;
  for await (const path of filesBelow(overlay, under, signal)) {
    files += 1;
    if (files > maxHidden) return;
    if (files % 32 === 0) await Bun.sleep(0);
    signal?.throwIfAborted();
    await readWhole(path).catch(() => null);
  }
}

/** Searches, and once more whenever a file with a hit turns out to hold secrets. */
async function searchHidden(
  files: VeiledFiles,
  query: SearchQuery,
  signal: AbortSignal | undefined,
): Promise<SearchReport> {
  const { overlay, holders, readWhole, hidePath, turn } = files;
  const limit = query.maxHits + 1;
  for (;;) {
    const staged = await hiddenFiles(files);
    const report = await overlay.search({ ...query, maxHits: limit, staged, known: hidePath }, signal);
    await turn;
    // Every file with a hit can be read whole: larger ones are not searched.
    for (const path of new Set(report.hits.map((hit) => hit.path))) await readWhole(path);
    if ([...holders].some((path) => !staged.has(path))) continue;
    const hits = report.hits.slice(0, query.maxHits).map((hit) => ({ ...hit, path: hidePath(hit.path) }));
    return { ...report, hits, more: report.more || report.hits.length > query.maxHits };
  }
}

/** Searches hidden text only, so that no pattern can find out a secret letter by letter, nor by the time it takes. */
export async function searchVeiled(
  files: VeiledFiles,
  query: SearchQuery,
  signal: AbortSignal | undefined,
): Promise<SearchReport> {
  const report = await searchHidden(files, query, signal);
  if (!report.tooSlow) return report;
  await findHolders(files, query.under, signal);
  return searchHidden(files, query, signal);
}
