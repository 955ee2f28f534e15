/** Chooses which blocks of which files are shown, within a number of characters. Pure. */
import { lineOf } from "../path.ts";
import { cutBlocks, linesOf, outlineOf, placesForEntry } from "./blocks.ts";
import { kindOf } from "./kind.ts";
import type { Ranked } from "./rank.ts";
import { isNamed } from "./signals.ts";
import { countTerm, type Term } from "./words.ts";

export interface ExcerptRange {
  /** Lines, from 1, both included. */
  readonly from: number;
  readonly to: number;
}

export interface Candidate {
  readonly ranked: Pick<Ranked, "path" | "score" | "signal">;
  readonly text: string;
}

export interface Sought {
  readonly terms: readonly Term[];
  /** One for each term: its weight times its rarity. */
  readonly values: readonly number[];
}

const outlineBudget = 300;
/** Power of a file's score in the value of its blocks: above 1 the likeliest files have more of the room. */
const likeliest = 1.25;
/** The best file is shown whole up to `length` characters; a longer one, if at least `share` of it would be shown. */
const best = { length: 16_000, share: 2 / 3 } as const;
/** Of the first files, those up to `length` characters are shown whole before parts of others, in `share` of the room. */
const small = { length: 5_000, among: 5, share: 0.3 } as const;
/** What a test or a paper counts beside code: the work call shows what is near in those that it changes. */
const asideShare = 0.5;
/** A block that is worth less than this share of the best one is left out, though there is room for it. */
const leastShare = 0.08;
const docstringShare = 0.5;
/** Characters shown of a named file whose lines are all too long to show. */
const beginning = 600;
const neighbourShare = 0.2;
/** How much a block's size counts against it; 1: what it is worth is its score for each character. */
const costOfSize = 0.25;
/** Characters that a shown range costs beside its text. */
const rangeCost = 40;

interface Scored extends ExcerptRange {
  readonly value: number;
  readonly size: number;
}

interface Prepared {
  readonly path: string;
  readonly lines: readonly string[];
  readonly blocks: readonly Scored[];
  readonly whole: boolean;
  /** It is named, or one of few files: as much of it is shown as there is room for. */
  readonly given: boolean;
  readonly named: boolean;
  readonly outline: string;
}

/** For each line, whether it is a part of a docstring: a text in three quotes, first in what it describes. */
function findDocstrings(lines: readonly string[]): readonly boolean[] {
  let [end, before] = ["", ":"];
  return lines.map((line) => {
    const text = line.trim();
    if (end !== "") {
      if (text.includes(end)) end = "";
      return true;
    }
    const [opening = "", quotes = ""] = (before.endsWith(":") && /^[rRuUbB]{0,2}("""|''')/.exec(text)) || [];
    if (text !== "") before = text;
    if (opening !== "" && !text.includes(quotes, opening.length)) end = quotes;
    return opening !== "";
  });
}

interface Scorable {
  readonly lines: readonly string[];
  readonly isDocstring: readonly boolean[];
}

interface Measure {
  readonly sought: Sought;
  /** Characters; larger blocks have no score of their own. */
  readonly maxSize: number;
}

/** The block's own score: each term adds up to its value, with every repetition less; the first line counts more. */
function scoreBlock({ lines, isDocstring }: Scorable, { from, to }: ExcerptRange, { terms, values }: Sought): number {
  const textOf = (docstrings: boolean) =>
    lines
      .slice(from - 1, to)
      .filter((_, at) => isDocstring[from - 1 + at] === docstrings)
      .join("\n")
      .toLowerCase();
  const [code, told] = [textOf(false), textOf(true)];
  const head = isDocstring[from - 1] === true ? "" : (lines[from - 1] ?? "").toLowerCase();
  let score = 0;
  for (const [at, term] of terms.entries()) {
    const n = countTerm(code, term) + docstringShare * countTerm(told, term) + (countTerm(head, term, 1) > 0 ? 2 : 0);
    if (n > 0) score += ((values[at] ?? 0) * n) / (n + 2);
  }
  return score;
}

/** Changes often happen next to what a request names: a share of the better neighbour counts. */
export function scoreBlocks(
  lines: readonly string[],
  blocks: readonly (ExcerptRange & { readonly size: number })[],
  { sought, maxSize }: Measure,
): number[] {
  const file = { lines, isDocstring: findDocstrings(lines) };
  const own = blocks.map((block) => (block.size > maxSize ? 0 : scoreBlock(file, block, sought)));
  return blocks.map(({ size }, at) => {
    const beside = Math.max(own[at - 1] ?? 0, own[at + 1] ?? 0);
    return ((own[at] ?? 0) + neighbourShare * beside) / size ** costOfSize;
  });
}

const sizeOf = (lines: readonly string[], { from, to }: ExcerptRange): number =>
  lines.slice(from - 1, to).reduce((sum, line) => sum + line.length + 1, rangeCost);

function prepare({ ranked: { path, score, signal }, text }: Candidate, measure: Measure): Prepared {
  const lines = linesOf(text);
  // A changelog is extended at its head; what it says of old releases is no place of the work.
  const kind = kindOf(path);
  const cut = kind === "changelog" ? placesForEntry(lines) : cutBlocks(path, lines);
  // A word of the request that happens to be defined in the file does not make that line named.
  const named = isNamed(signal) || signal?.by === "output" ? (signal?.lines ?? []) : [];
  const holds = ({ from, to }: ExcerptRange) => named.some((line) => from <= line && line <= to);
  const sized = cut.map(({ from, to }) => ({ from, to, size: sizeOf(lines, { from, to }) }));
  const scores = scoreBlocks(lines, sized, measure);
  const given = isNamed(signal);
  const isAside = !given && kind !== "code" && kind !== "side";
  // Words that are all over a file say little about each of its blocks.
  const share = (score * (isAside ? asideShare : 1)) ** likeliest / Math.sqrt(Math.max(...scores) || 1);
  const blocks = sized.map((block, at): Scored => {
    const first = signal === null ? 0 : namedFile / (at + 1);
    return { ...block, value: holds(block) ? Number.POSITIVE_INFINITY : ((scores[at] ?? 0) + first) * share };
  });
  return { path, lines, blocks, whole: false, given, named: given && signal?.by === "request", outline: "" };
}

/** Added to the blocks of a named file, less to each next one, so that at least its beginning is shown. */
const namedFile = 0.01;

const totalSize = (blocks: readonly Scored[]) => blocks.reduce((sum, { size }) => sum + size, 0);

/** Whether the blocks are all of the file: those of a changelog are not. */
const isCovered = ({ blocks, lines }: Prepared) =>
  blocks.reduce((sum, { from, to }) => sum + to - from + 1, 0) >= lines.length;

function asWhole(file: Prepared): Prepared {
  const all = { from: 1, to: file.lines.length, value: Number.POSITIVE_INFINITY };
  return { ...file, whole: true, outline: "", blocks: [{ ...all, size: totalSize(file.blocks) }] };
}

/** What a block must be worth to be shown, of a file that is not given. */
function leastOf(files: readonly Prepared[]): number {
  const values = files.flatMap(({ blocks }) => blocks.map(({ value }) => value));
  return leastShare * Math.max(0, ...values.filter(Number.isFinite));
}

/** Makes one block of each file that is better shown whole than in parts. `files`: best first. */
function joinSmall(files: readonly Prepared[], budget: number, least: number): readonly Prepared[] {
  let room = budget * small.share;
  const joined = files.map((file, at) => {
    const size = totalSize(file.blocks);
    const isMatching = file.blocks.some(({ value }) => value > 0);
    if (at >= small.among || !isMatching || !isCovered(file)) return file;
    if (at === 0 && size <= Math.min(best.length, budget)) return asWhole(file);
    if (size > small.length || size > room) return file;
    room -= size;
    return asWhole(file);
  });
  const [first] = joined;
  if (first === undefined || first.whole || !isCovered(first) || totalSize(first.blocks) > budget) return joined;
  const shown = totalSize(take(joined, budget, least).get(first) ?? []);
  return shown < best.share * totalSize(first.blocks) ? joined : [asWhole(first), ...joined.slice(1)];
}

function take(files: readonly Prepared[], budget: number, least: number): Map<Prepared, Scored[]> {
  const taken = new Map<Prepared, Scored[]>();
  let left = budget;
  const queue = files
    .flatMap((file) => file.blocks.map((block) => ({ file, block })))
    .filter(({ file, block }) => block.value > 0 && (file.given || block.value >= least))
    .sort((a, b) => b.block.value - a.block.value);
  for (const { file, block } of queue) {
    const head = taken.has(file) ? 0 : file.path.length + file.outline.length + 60;
    if (block.size + head > left) continue;
    left -= block.size + head;
    taken.set(file, [...(taken.get(file) ?? []), block]);
  }
  return taken;
}

function joinRanges(blocks: readonly ExcerptRange[]): ExcerptRange[] {
  const ranges: ExcerptRange[] = [];
  for (const { from, to } of [...blocks].sort((a, b) => a.from - b.from)) {
    const last = ranges.at(-1);
    if (last !== undefined && from <= last.to + 1) ranges[ranges.length - 1] = { from: last.from, to };
    else ranges.push({ from, to });
  }
  return ranges;
}

/** An excerpt of a file as the prompt shows it: its outline, then each range under its `path:from-to`. */
export function renderExcerpt(
  path: string,
  lines: readonly string[],
  ranges: readonly ExcerptRange[],
  outline: string,
): string {
  const parts = ranges.map(
    ({ from, to }) => `--- ${lineOf(path)}:${from}-${to}\n${lines.slice(from - 1, to).join("\n")}`,
  );
  return [...(outline === "" ? [] : [`defines (name line): ${outline}`]), ...parts].join("\n");
}

/** `ranges`: in order, neither touching nor overlapping; none: only the outline is shown. `text`: as the prompt shows it. */
function toExcerpt({ path, lines, whole, outline }: Prepared, text: string, blocks: readonly Scored[]) {
  const ranges = whole ? [{ from: 1, to: lines.length }] : joinRanges(blocks);
  const [only] = ranges;
  const isWhole = ranges.length === 1 && only?.from === 1 && only.to === lines.length;
  // All lines are too long, as in data: show how the first one begins.
  const start = `--- ${lineOf(path)}:1 (the first ${beginning} characters of ${text.length})\n${text.slice(0, beginning)}`;
  const part = ranges.length === 0 && outline === "" ? start : renderExcerpt(path, lines, ranges, outline);
  return { path, ranges, whole: isWhole, totalLines: lines.length, text: isWhole ? text : part };
}

/** The best parts of the best files, in their order. A named file is shown at least with its outline. */
export function chooseExcerpts(candidates: readonly Candidate[], sought: Sought, budget: number) {
  const prepared = candidates.map((each, at): Prepared => {
    const file = prepare(each, { sought, maxSize: budget });
    const outline = at === 0 || file.named ? outlineOf(file.path, file.lines, outlineBudget) : "";
    return { ...file, outline };
  });
  const least = leastOf(prepared);
  const files = joinSmall(prepared, budget, least);
  const taken = take(files, budget, least);
  return files.flatMap((file, at) => {
    const blocks = taken.get(file);
    if (blocks === undefined && !file.named) return [];
    return [toExcerpt(file, candidates[at]?.text ?? "", blocks ?? [])];
  });
}
