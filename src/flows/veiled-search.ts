/** Searches the workspace as the model knows it: a file that holds secrets is searched with their names in place. */
import type { Blob } from "../core/change.ts";
import type { RelPath } from "../core/path.ts";
import type { SearchQuery, SearchReport } from "../core/ports.ts";
import type { Overlay } from "./stage.ts";

export interface VeiledFiles {
  readonly overlay: Overlay;
  /** Files that are known to hold secrets; `readWhole` adds those that it finds and removes those that hold none now. */
  readonly holders: Set<RelPath>;
  /** Whether the content that `readWhole` returned has names in place of secrets. */
  readonly hasSecrets: (bytes: Uint8Array) => boolean;
  /** A file as the model knows it; null: it is too large to be looked through whole. */
  readonly readWhole: (path: RelPath) => Promise<Blob | null>;
  readonly hidePath: (path: RelPath) => RelPath;
  /** The answer waits for it, so that secrets get their names in the order of the calls. */
  readonly turn: Promise<unknown>;
}

/** Files that are looked through for secrets when a pattern is slow. */
const maxHidden = 20_000;

/** The content of files with secrets as the model knows it, for the search to look through instead. */
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

/** Looks for secrets in every file that is searched: a file that was not read before may be what makes a pattern slow. */
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

/** A file that turns out to hold secrets is searched again as the model knows it. */
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
    // No file that is too large to be read whole is searched.
    for (const path of new Set(report.hits.map((hit) => hit.path))) await readWhole(path);
    if ([...holders].some((path) => !staged.has(path))) continue;
    const hits = report.hits.slice(0, query.maxHits).map((hit) => ({ ...hit, path: hidePath(hit.path) }));
    return { ...report, hits, more: report.more || report.hits.length > query.maxHits };
  }
}

/** Matches on hidden text only, so that no pattern can ask for a secret letter by letter, nor by how long it takes. */
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
