/** Chooses which lines of one large file are shown to the model that changes it. Pure. */
import { cutBlocks, linesOf, placesForEntry } from "./blocks.ts";
import { chooseExcerpts, type ExcerptRange, type Sought, scoreBlocks } from "./excerpts.ts";
import { definitionsNamed, type Extent, extentAt, extentsIn, namesMeant } from "./extents.ts";
import { kindOf } from "./kind.ts";
import { findSignals } from "./signals.ts";
import { countTerm, rarityOf, termsOf } from "./words.ts";

/** Characters of the blocks that match the words of the request; of a test file, of its two nearest tests. */
const byWords = { code: 10_000, test: 4_000 } as const;
const maxTests = 2;
/** Lines at the beginning of every file, and at the end of one with tests. */
const headLines = 40;
const endLines = 20;
/** Lines that name a definition elsewhere in the file. */
const maxCallers = 12;
/** Lines that hold a number of the request; one that more lines hold tells them not apart. */
const maxNumbered = 12;
/** Characters of a definition that is shown whole. */
const maxDefinition = 16_000;
/** Characters of the outline, which names everything: a file with more than this is data. */
const maxOutline = 8_000;
const maxTitles = 3_000;

export interface LargeFile {
  readonly path: string;
  readonly text: string;
  readonly request: string;
  /** What the plan and amendments say of this file and of where the work is. */
  readonly plan: string;
  readonly output: string;
  readonly looked: readonly ExcerptRange[];
  /** Lines, from 1, around which something was changed. */
  readonly changed: readonly number[];
  readonly room: number;
}

/** The lines with those of docstrings and comment blocks emptied: code is chosen by its own words. */
function withoutDocs(lines: readonly string[]): readonly string[] {
  let closing: RegExp | null = null;
  return lines.map((line) => {
    if (closing !== null) {
      if (closing.test(line)) closing = null;
      return "";
    }
    const [, quote = ""] = /^\s*[rRuU]?("""|''')/.exec(line) ?? [];
    if (quote !== "" && !line.trim().slice(3).includes(quote)) closing = new RegExp(quote);
    else if (/^\s*\/\*\*?(?!.*\*\/)/.test(line)) closing = /\*\//;
    else return /^\s*(?:\/\*\*|["']{3})/.test(line) ? "" : line;
    return "";
  });
}

function soughtIn({ path, request, output, plan }: LargeFile, lines: readonly string[]): Sought {
  const terms = termsOf(`${request}\n${plan}`, output);
  const blocks = cutBlocks(path, lines).map(({ from, to }) => textOf(lines, { from, to }).toLowerCase());
  const values = terms.map((term) => {
    const holding = blocks.filter((block) => countTerm(block, term, 1) > 0).length;
    return term.weight * rarityOf(holding, blocks.length);
  });
  return { terms, values };
}

function matchWords(file: LargeFile, lines: readonly string[], room: number) {
  const { path } = file;
  const text = lines.join("\n");
  const signal = { weight: 1, lines: [], by: "request" } as const;
  const [excerpt] = chooseExcerpts([{ ranked: { path, score: 1, signal }, text }], soughtIn(file, lines), room);
  return excerpt?.ranges ?? [];
}

export function rangesOf(marked: readonly boolean[]): readonly ExcerptRange[] {
  const found: { from: number; to: number }[] = [];
  for (const [at, isMarked] of marked.entries()) {
    const last = found.at(-1);
    if (!isMarked) continue;
    if (last?.to === at) last.to = at + 1;
    else found.push({ from: at + 1, to: at + 1 });
  }
  return found;
}

/** Collects ranges, the most important first, as long as their lines fit. */
function openRanges(lines: readonly string[], room: number) {
  const chosen = lines.map(() => false);
  const left: ExcerptRange[] = [];
  let rest = room;
  const isWanted = (line: number) => left.some(({ from, to }) => from <= line && line <= to);
  const take = ({ from, to: end }: ExcerptRange): boolean => {
    const to = Math.min(end, lines.length);
    let size = 0;
    for (let at = Math.max(1, from); at <= to; at += 1) if (!chosen[at - 1]) size += (lines[at - 1]?.length ?? 0) + 1;
    if (size > rest) return false;
    rest -= size;
    chosen.fill(true, Math.max(0, from - 1), to);
    return true;
  };
  return {
    take,
    want(ranges: readonly ExcerptRange[]): void {
      for (const range of ranges) if (range.from <= lines.length && !take(range)) left.push(range);
    },
    missing: (): readonly ExcerptRange[] => rangesOf(chosen.map((isChosen, at) => !isChosen && isWanted(at + 1))),
    get rest() {
      return rest;
    },
    ranges: (): readonly ExcerptRange[] => rangesOf(chosen),
  };
}

const textOf = (lines: readonly string[], { from, to }: ExcerptRange) => lines.slice(from - 1, to).join("\n");
const sizeIn = (lines: readonly string[], range: ExcerptRange) => textOf(lines, range).length;

const around = (line: number, by: number): ExcerptRange => ({ from: Math.max(1, line - by), to: line + by });

/** Lines, from 1, that hold a number of a text, or a name with one in it: `termsOf` makes terms of words only. */
function linesNumbered(lines: readonly string[], said: string): readonly number[] {
  const all = said.match(/\w[\w.:-]*/g) ?? [];
  const numbers = all.map((each) => each.replace(/\W+$/, "")).filter((each) => each.length > 1 && /\d/.test(each));
  return [...new Set(numbers)].flatMap((each) => {
    const word = new RegExp(`(?<!\\w)${RegExp.escape(each)}(?!\\w)`);
    const found = lines.flatMap((line, at) => (line.includes(each) && word.test(line) ? [at + 1] : []));
    return found.length <= maxNumbered ? found : [];
  });
}

const title =
  /^(\s*)(?:(?:describe|it|test)\S*\(\s*["'`](.+?)["'`]|class (\w+)|(?:async\s+)?def (test\w*)|func (Test\w*))/;

/** The titles of tests, with their lines; of many only those of the outermost groups, which say where to look. */
function titlesIn(lines: readonly string[]): readonly string[] {
  const found = lines.flatMap((line, at) => {
    const [, indent = "", ...names] = (line.length > 400 ? null : title.exec(line)) ?? [];
    const name = names.find((each) => each !== undefined);
    return name === undefined ? [] : [{ indent: indent.length, entry: `${name.slice(0, 60)} ${at + 1}` }];
  });
  const least = found.reduce((least, { indent }) => Math.min(least, indent), Number.POSITIVE_INFINITY);
  const size = found.reduce((sum, { entry }) => sum + entry.length + 2, 0);
  return found.filter(({ indent }) => size <= maxTitles || indent === least).map(({ entry }) => entry);
}

/** The tests of a file whole, without the groups around them; none where they have no titles. */
function testsIn(lines: readonly string[]): readonly ExcerptRange[] {
  const isTitle = (line: string) => line.length <= 400 && title.test(line) && !/^\s*class /.test(line);
  const titled = lines.flatMap((line, at) => (isTitle(line) ? [extentAt(lines, at)] : []));
  const isInside = (inner: ExcerptRange, outer: ExcerptRange) => outer.from < inner.from && inner.to <= outer.to;
  return titled.filter((each) => !titled.some((other) => isInside(other, each)));
}

/** The two tests that match the words of the request best, in `room` characters; only such of at most half of it. */
function nearestTests(file: LargeFile, tests: readonly ExcerptRange[], lines: readonly string[], room: number) {
  const maxSize = room / maxTests;
  const scores = scoreBlocks(
    lines,
    tests.map((test) => ({ ...test, size: sizeIn(lines, test) })),
    { sought: soughtIn(file, lines), maxSize },
  );
  return tests
    .map((range, at) => ({ range, score: scores[at] ?? 0 }))
    .filter(({ range, score }) => score > 0 && sizeIn(lines, range) <= maxSize)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, maxTests)
    .map(({ range }) => range);
}

/** The first lines of a file; they end before a test that they would cut. */
function headWithout(tests: readonly ExcerptRange[]): ExcerptRange {
  const cut = tests.find(({ from, to }) => from > 1 && from <= headLines && to > headLines);
  return { from: 1, to: (cut?.from ?? headLines + 1) - 1 };
}

function outlineOf(extents: readonly Extent[], lines: readonly string[], isTest: boolean): string {
  const titles = isTest
    ? titlesIn(lines)
    : extents
        .filter(({ name }, at) => name.length <= 60 && extents[at - 1]?.name !== name)
        .map(({ name, line }) => `${name} ${line}`);
  const whole = titles.join(", ");
  return whole.length <= maxOutline ? whole : `${whole.slice(0, whole.lastIndexOf(", ", maxOutline))}, …`;
}

const constructors = /^(?:constructor|__init__|__new__|initialize|init|new)$/;

/** The heads of the classes around these definitions, up to their constructors. */
function headsAround(extents: readonly Extent[], named: readonly Extent[]): readonly ExcerptRange[] {
  const isInside = (inner: Extent, outer: Extent) =>
    outer.line < inner.line && inner.to <= outer.to && outer.indent < inner.indent;
  const outer = new Set(named.flatMap((each) => extents.filter((other) => isInside(each, other))));
  return [...outer].flatMap((unit) => {
    const made = extents.find((each) => isInside(each, unit) && constructors.test(each.name));
    const head = { from: unit.from, to: Math.min(unit.line + 3, unit.to) };
    return made === undefined ? [head] : [head, made];
  });
}

/**
 * The parts of a file, the most important first, while they fit. `ranges`: in order; none: the lines are too long. `outline`:
 * what it defines, with lines; of tests their titles. `left`: ranges that were read or named and that did not fit.
 */
export function chooseParts(file: LargeFile) {
  const { path, text, request, plan, output, looked, changed, room } = file;
  const lines = linesOf(text);
  const kind = kindOf(path);
  const chosen = openRanges(lines, room);
  const isChangelog = kind === "changelog";
  const tests = kind === "test" ? testsIn(lines) : [];
  chosen.want(isChangelog ? placesForEntry(lines) : [headWithout(tests)]);
  chosen.want(looked.toReversed());
  if (isChangelog) return { ranges: chosen.ranges(), outline: "", left: chosen.missing() };
  // What a test defines within itself is part of the test.
  const isApart = ({ line, indent }: Extent) => kind !== "test" || indent === 0 || title.test(lines[line - 1] ?? "");
  const extents = extentsIn(path, lines).filter(isApart);
  const told = findSignals(request, output, [path]).get(path)?.lines ?? [];
  chosen.want(changed.map((line) => around(line, 6)));
  const names = new Set([...namesMeant(plan, true), ...namesMeant(output, false), ...namesMeant(request, false)]);
  const named = definitionsNamed(extents, names);
  // Of a class that is named only the head: its methods are named apart, or found by their words.
  const isLarge = (each: Extent) => sizeIn(lines, each) > maxDefinition;
  chosen.want(named.filter((each) => !isLarge(each)));
  chosen.want(told.map((line) => around(line, 10)));
  if (kind === "test") chosen.want([{ from: lines.length - endLines + 1, to: lines.length }]);
  // The head of a large class is shown for the sake of its first member.
  const members = named
    .filter(isLarge)
    .flatMap((unit) => extents.find(({ line }) => line > unit.line && line <= unit.to) ?? []);
  for (const range of headsAround(extents, [...named, ...members])) chosen.take(range);
  const called = new Set(named.map(({ name }) => name));
  const isCall = (line: string) => called.size > 0 && [...namesMeant(line, true)].some((name) => called.has(name));
  const callers = lines.flatMap((line, at) => (line.length <= 400 && kind !== "test" && isCall(line) ? [at + 1] : []));
  for (const line of callers.slice(0, maxCallers)) chosen.take(around(line, 1));
  for (const line of linesNumbered(lines, `${request}\n${plan}`)) chosen.take(around(line, 2));
  const most = Math.min(chosen.rest, kind === "test" ? byWords.test : byWords.code);
  const matching =
    tests.length > 0 ? nearestTests(file, tests, lines, most) : matchWords(file, withoutDocs(lines), most);
  for (const range of matching) chosen.take(range);
  return { ranges: chosen.ranges(), outline: outlineOf(extents, lines, kind === "test"), left: chosen.missing() };
}
