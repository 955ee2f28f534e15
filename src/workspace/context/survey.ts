/** Surveys a workspace for one request: lists it and counts terms at the same time, and reads the history meanwhile. */
import type { CountedFile } from "../../core/context/rank.ts";
import { surveyLimits } from "../../core/context/survey-limits.ts";
import type { Term } from "../../core/context/words.ts";
import { nameOf, parentOf, type RelPath } from "../../core/path.ts";
import type { Entry, Survey, SurveyHistory } from "../../core/ports.ts";
import type { Root } from "../confine.ts";
import type { IndexContents, IndexFile } from "../index/index-file.ts";
import type { ProjectIndex } from "../index/project-index.ts";
import type { KnownFile } from "../index/tally-index.ts";
import type { PathRules } from "../path-policy.ts";
import { walk } from "../scan.ts";
import type { Bunch } from "../search/search-files.ts";
import type { CountReply } from "./count-files.ts";
import { type CountPool, openCountPool } from "./count-pool.ts";
import { findFile } from "./find-file.ts";

const batchFiles = 128;
/** Files not read within this time are ranked by name alone. On a busy machine wall time may reach `maxMs`. */
const budget = { wallMs: 2_500, cpuMs: 1_500, maxMs: 5_000 } as const;
/** An index is made only for projects larger than this. */
const withoutIndex = { files: 2_000, length: 8 * 1024 * 1024 } as const;

export interface SurveyParts {
  readonly root: Root;
  readonly rules: PathRules;
  /** PATH for finding git, without folders of the project. */
  readonly path: string;
  /** null: there is no index here. */
  readonly index: ProjectIndex | null;
}

/** From this many files on, ranking them takes longer than compiling the code for it. */
const manyFiles = 1_000;
/** pai starts with late compilation, since most runs are short (scripts/compile.ts); this is how late it is then. */
const compilationScale = 8;
const compileSooner = (): void => Bun.unsafe.setJITPolicy(compilationScale);

/** What the index says for one request. */
interface Indexed {
  readonly file: IndexFile;
  readonly contents: IndexContents;
  known: readonly KnownFile[];
}

/** null: the index cannot be read. */
async function openIndexed(index: ProjectIndex): Promise<Indexed | null> {
  const file = await index.open();
  if (file === null) return null;
  try {
    return { file, contents: file.read(), known: [] };
  } catch (thrown) {
    file.close();
    index.giveUp(thrown);
    return null;
  }
}

interface Sums {
  readonly files: number;
  readonly totalLength: number;
  readonly found: readonly CountedFile[];
}

function sumUp(replies: readonly CountReply[]): Sums {
  const sum = (of: (reply: CountReply) => number) => replies.reduce((all, each) => all + of(each), 0);
  return {
    files: sum(({ files }) => files),
    totalLength: sum(({ totalLength }) => totalLength),
    found: replies.flatMap((reply) => reply.found),
  };
}

/** Returns whether the time of a survey that begins now is over. */
function openBudget(): () => boolean {
  const started = performance.now();
  const before = process.cpuUsage();
  return () => {
    const wall = performance.now() - started;
    if (wall < budget.wallMs || wall > budget.maxMs) return wall > budget.maxMs;
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 > budget.cpuMs;
  };
}

/** Surveys a folder on disk, by its index if there is one, otherwise by reading everything. */
export function openSurvey({ root, rules, path, index }: SurveyParts, terms: () => Promise<readonly Term[]>): Survey {
  const isLate = openBudget();
  let pool: CountPool | null = null;
  /** Opened by the first batch that is full, or when files are counted: a small project is shown whole. */
  const openPool = (): CountPool => {
    pool ??= openCountPool(root, terms);
    return pool;
  };
  const batches = openBatches((batch) => openPool().add(batch));
  let indexed: Indexed | null = null;
  let past: Promise<SurveyHistory> | null = null;
  let isStale = true;
  let isLarge = false;
  let isReading = true;
  let isUnusable = false;
  const startHistory = (signal: AbortSignal): Promise<SurveyHistory> => {
    past ??= import("./read-history.ts").then(({ readHistory }) =>
      readHistory(root.path, indexed?.contents.history ?? null, { path, signal, mayWait: () => isReading }),
    );
    // The failure is thrown to the code that awaits it later.
    past.catch(() => {});
    return past;
  };

  const close = (): void => {
    isReading = false;
    pool?.close();
    indexed?.file.close();
  };

  /** The entries of the index if they still hold; null: the folders must be walked. */
  const listKnown = async (indexed: Indexed, signal: AbortSignal): Promise<readonly Entry[] | null> => {
    if (!indexed.contents.complete) return null;
    const { checkFiles } = await import("../index/known-files.ts");
    void startHistory(signal);
    const checked = checkFiles(root, rules, indexed.contents);
    if (checked === null) return null;
    indexed.known = checked.known;
    for (const file of checked.fresh) batches.add(file);
    isStale = checked.fresh.length > 0 || !checked.isWhole;
    return checked.entries;
  };

  /** Decides for each file: one whose index entry is out of date is queued for reading. */
  const openTake = async (indexed: Indexed): Promise<(file: RelPath) => void> => {
    const { contents } = indexed;
    const known: KnownFile[] = [];
    indexed.known = known;
    const match = (await import("../index/known-files.ts")).openMatch(root, contents);
    return (file) => {
      const facts = match(file);
      if (facts === null) batches.add(file);
      else known.push({ path: file, facts });
    };
  };

  const listWalked = async (signal: AbortSignal): Promise<{ entries: readonly Entry[]; more: boolean }> => {
    const entries: Entry[] = [];
    const take = indexed === null ? batches.add : await openTake(indexed);
    const shares = openShares(() => entries.length);
    const isFull = () => entries.length >= surveyLimits.entries || (entries.length % 64 === 0 && isLate());
    let files = 0;
    const note = (entry: Entry): void => {
      entries.push(entry);
      if (entry.kind !== "file") return;
      take(entry.path);
      files += 1;
      if (files === surveyLimits.filesWithoutHistory + 1) void startHistory(signal);
      if (files === manyFiles) compileSooner();
    };
    const walkFrom = async (folder: RelPath, enters?: (folder: RelPath) => boolean): Promise<boolean> => {
      for await (const entry of walk(root, folder, rules, { signal, ...(enters && { enters }) })) {
        if (isFull()) return false;
        note(entry);
      }
      return true;
    };
    let isAll = await walkFrom("" as RelPath, shares.enters);
    for (const folder of isAll ? shares.later : []) isAll &&= await walkFrom(folder);
    return { entries, more: !isAll };
  };

  const tallyIndexed = async (signal: AbortSignal): Promise<CountReply> => {
    if (indexed === null || indexed.known.length === 0) return { files: 0, totalLength: 0, found: [] };
    const { tallyIndex } = await import("../index/tally-index.ts");
    try {
      return await tallyIndex(indexed.file, await terms(), indexed.known, async () => {
        await Bun.sleep(0);
        signal.throwIfAborted();
      });
    } catch (thrown) {
      signal.throwIfAborted();
      // The index cannot be used: its files are read instead, as far as time allows.
      for (const { path: file } of indexed.known) batches.add(file as RelPath);
      batches.flush();
      indexed.file.close();
      indexed = null;
      isUnusable = true;
      index?.giveUp(thrown);
      if (!(thrown instanceof Error)) throw thrown;
      return { files: 0, totalLength: 0, found: [] };
    }
  };

  return {
    async list(signal) {
      if (index?.exists() === true) {
        indexed = await openIndexed(index);
        isUnusable = indexed === null;
        isLarge = indexed !== null;
        if (isLarge) compileSooner();
      }
      const known = indexed === null ? null : await listKnown(indexed, signal);
      const listing = known === null ? await listWalked(signal) : { entries: known, more: false };
      isLarge ||= listing.more;
      return listing;
    },
    async tally(signal) {
      try {
        batches.flush();
        const byIndex = await tallyIndexed(signal);
        const { replies, unread } = await openPool().finish(isLate, signal);
        const sums = sumUp([byIndex, ...replies]);
        isLarge ||= sums.files > withoutIndex.files || sums.totalLength > withoutIndex.length || unread > 0;
        const fate = index?.exists() === true ? "" : ", and is made anew";
        return { ...sums, unread, ...(isUnusable && { lacks: `index: it could not be used${fate}` }) };
      } finally {
        close();
      }
    },
    close,
    history: startHistory,
    find: (written) => findFile(root, rules, written),
    finish() {
      if (isLarge && isStale) index?.refreshLater();
    },
  };
}

/** How many entries a top-level folder of a large project may contribute before all others were looked at. */
const share = { from: 20_000, entries: 1_000 } as const;

/**
 * Decides which folders the first round enters and which are left for later: in a very large project no top-level
 * folder may use up all the time before the others are seen. `count`: entries so far.
 */
function openShares(count: () => number) {
  const later: RelPath[] = [];
  let [top, before] = ["", 0];
  return {
    later,
    enters(folder: RelPath): boolean {
      const own = folder.slice(0, folder.indexOf("/") + 1);
      if (own !== top) [top, before] = [own, count()];
      const isFull = own !== "" && count() > share.from && count() - before > share.entries;
      if (isFull) later.push(folder);
      return !isFull;
    },
  };
}

/** Collects files, those of one folder together, and gives them to `take` in batches. */
function openBatches(take: (batch: readonly Bunch[]) => void) {
  let batch: Bunch[] = [];
  let size = 0;
  const flush = (): void => {
    if (size > 0) take(batch);
    [batch, size] = [[], 0];
  };
  return {
    add(path: RelPath) {
      const [last, folder, name] = [batch.at(-1), parentOf(path), nameOf(path)];
      if (last !== undefined && "names" in last && last.folder === folder) last.names.push(name);
      else batch.push({ folder, names: [name] });
      size += 1;
      if (size >= batchFiles) flush();
    },
    flush,
  };
}
