/** Applies the SEARCH/REPLACE blocks of one MODIFY to a file's bytes: all of them or none, and nothing by guess. */

import { findPlaceholders } from "../guard/placeholder.ts";
import { matchLines } from "../line-diff.ts";
import type { EditBlock } from "../script/script.ts";
import { cutLines, decode, type Encoding, encode, findForeign, type Line, mainEnding } from "../text.ts";
import { describeAmbiguous, describeMissing, describeUnplaceable } from "./describe-failure.ts";
import { type FileLines, findRows, indexLines, isBlank } from "./file-lines.ts";
import { lineSteps, matchLoosely } from "./line-steps.ts";
import { matchElided, matchNearly, matchNumbered, matchSkipping } from "./odd-copies.ts";
import { matchEverywhere, matchExactText } from "./part-of-line.ts";
import { type Halves, type Match, type Splice, type Step, variantsOf } from "./step.ts";

interface EditInput {
  readonly path: string;
  /** The file with the earlier changes of this batch; null when there is none. */
  readonly now: Uint8Array | null;
  /** The file as the model saw it; null when that is the same. */
  readonly shown: Uint8Array | null;
  readonly blocks: readonly EditBlock[];
}

type EditResult =
  | { readonly kind: "applied"; readonly bytes: Uint8Array; readonly notes: readonly string[] }
  /** The file already contains the result of every block. */
  | { readonly kind: "already"; readonly notes: readonly string[] }
  /** `block` counts from 1; `text` tells the model what is wrong with it and what to do. */
  | { readonly kind: "refused"; readonly block: number; readonly text: string };

interface Target {
  readonly path: string;
  readonly encoding: Encoding;
  readonly traced: TracedLines;
  readonly shown: FileLines;
  /** The same as `shown` while no block has changed the file; null once it differs. */
  readonly current: FileLines | null;
  /** What the model is told of a path that holds no file; null: it holds one. */
  readonly missing: string | null;
  readonly finalEnding: boolean;
}

type Staged =
  | { readonly kind: "staged"; readonly target: Target; readonly note: string | null }
  | { readonly kind: "already" }
  | { readonly kind: "refused"; readonly text: string };

/** Each block is searched in the file as the model saw it, then as it is now. All other bytes stay. Never throws. */
export function applyEdits({ path, now, shown, blocks }: EditInput): EditResult {
  const opened = openTarget(path, now, shown);
  if (opened === null) return { kind: "refused", block: 1, text: `${path} is binary, not text` };
  let target = opened;
  const notes: string[] = [];
  for (const [at, block] of blocks.entries()) {
    const staged = stageBlock(target, block);
    if (staged.kind === "refused") return { ...staged, block: at + 1 };
    notes.push(...sayStaged(staged, blocks.length === 1 ? "it" : `edit ${at + 1}`));
    if (staged.kind === "staged") target = staged.target;
  }
  const bytes = encode(joinLines(target.traced, target.finalEnding), target.encoding);
  if (bytes === null) throw new Error("a block was staged with a character that its file cannot hold");
  const same = now !== null && bytes.length === now.length && bytes.every((byte, at) => byte === now[at]);
  return same || target === opened ? { kind: "already", notes } : { kind: "applied", bytes, notes };
}

function sayStaged(staged: Exclude<Staged, { kind: "refused" }>, name: string): readonly string[] {
  if (staged.kind === "already") return [`${name} is already there`];
  return staged.note === null ? [] : [`${name} fits ${staged.note}`];
}

const neverThere = "does not exist\nWrite it whole, or correct the path.";
const goneSince = "was there when you saw it, and is gone since\nLeave it out, or correct the path.";

function openTarget(path: string, now: Uint8Array | null, shown: Uint8Array | null): Target | null {
  const current = decode(now ?? new Uint8Array());
  if (current === null) return null;
  const seen = shown === null || now === null ? null : decode(shown);
  const lines = cutLines(current.text);
  const seenLines = seen === null || seen.text === current.text ? lines : cutLines(seen.text);
  const file = indexLines(path, textsOf(seenLines));
  return {
    path,
    encoding: current.encoding,
    traced: traceLines(lines, seenLines),
    shown: file,
    current: lines === seenLines ? file : null,
    missing: now === null ? (shown === null ? neverThere : goneSince) : null,
    finalEnding: lines.at(-1)?.ending !== "",
  };
}

const textsOf = (lines: readonly Line[]): readonly string[] => lines.map((line) => line.text);

function stageBlock(target: Target, block: EditBlock): Staged {
  const halves = prepareBlock(block, target.shown.lines);
  if (isIdentical(halves)) return refuse("it changes nothing\nSend only blocks that change.");
  const placeholder = findAddedPlaceholder(halves);
  if (placeholder !== null) {
    return refuse(`the new text leaves code out: ${JSON.stringify(placeholder)}\nWrite every line of it in REPLACE.`);
  }
  const foreign = findForeign(halves.replace.join("\n"), target.encoding);
  if (foreign !== null) {
    return refuse(
      `${target.path} is not UTF-8 and cannot hold ${JSON.stringify(foreign)}\nUse characters that it has already.`,
    );
  }
  if (halves.search.every(isBlank) && (halves.search.length === 0 || target.traced.length === 0)) {
    return append(target, halves, block.replace);
  }
  if (target.missing !== null) return refuse(`${target.path} ${target.missing}`);
  return stageMatch(target, halves);
}

function append(target: Target, halves: Halves, written: string): Staged {
  const texts = textsOf(target.traced);
  if (target.traced.length > 0) {
    if (isAppended(target.path, texts, halves.replace)) return { kind: "already" };
    return stage(target, [{ start: texts.length, end: texts.length, lines: halves.replace }], null);
  }
  const lines = cutLines(written.replace(/^\ufeff/, ""));
  const traced = lines.map((line) => ({ ...line, origin: null }));
  const created = { ...target, traced, current: null, missing: null, finalEnding: lines.at(-1)?.ending !== "" };
  return { kind: "staged", target: created, note: null };
}

function stageMatch(target: Target, halves: Halves): Staged {
  const seen = matchLoosely(ladder, target.shown, halves);
  if (seen !== null && seen.kind !== "found") return refuseMatch(target.shown, seen);
  const moved = seen === null ? null : translate(seen.splices, target.traced);
  if (seen !== null && moved !== null) return stageOnce(target, moved, halves, seen.note);
  const current = target.current ?? indexLines(target.path, textsOf(target.traced));
  const match = target.current === null ? matchLoosely(ladder, current, halves) : null;
  if (match?.kind === "found") return stageOnce(target, match.splices, halves, match.note);
  if (isReplaced(current, halves)) return { kind: "already" };
  return match === null ? refuse(describeMissing(current, halves)) : refuseMatch(current, match);
}

function stageOnce(target: Target, splices: readonly Splice[], halves: Halves, note: string | null): Staged {
  const { traced } = target;
  return isInserted(traced, splices, halves) || isUnchanged(traced, splices)
    ? { kind: "already" }
    : stage(target, splices, note);
}

function stage(target: Target, splices: readonly Splice[], note: string | null): Staged {
  const traced = applySplices(target.traced, splices);
  return { kind: "staged", target: { ...target, traced, current: null }, note };
}

const refuseMatch = (file: FileLines, match: Exclude<Match, { kind: "found" }>): Staged =>
  refuse(match.kind === "ambiguous" ? describeAmbiguous(match) : describeUnplaceable(file, match));

const refuse = (text: string): Staged => ({ kind: "refused", text });

/** A block as lines, without byte order mark, line endings, and code fences that are not part of the file. */
function prepareBlock(block: EditBlock, fileLines: readonly string[]): Halves {
  const search = linesOf(block.search);
  const replace = linesOf(block.replace);
  const all = block.all === true;
  if (!isFenced(search) || fileLines.includes(search[0] ?? "")) return { search, replace, all };
  return { search: search.slice(1, -1), replace: isFenced(replace) ? replace.slice(1, -1) : replace, all };
}

const isIdentical = ({ search, replace }: Halves): boolean =>
  search.length === replace.length && search.every((line, at) => line === replace[at]);

/** The first omission placeholder of REPLACE that SEARCH lacks. */
function findAddedPlaceholder({ search, replace }: Halves): string | null {
  const known = findPlaceholders(search.join("\n")).map((one) => one.text);
  for (const { text } of findPlaceholders(replace.join("\n"))) {
    const at = known.indexOf(text);
    if (at < 0) return text;
    known.splice(at, 1);
  }
  return null;
}

const linesOf = (text: string): readonly string[] => textsOf(cutLines(text.replace(/^\ufeff/, "")));

const isFenced = (lines: readonly string[]): boolean =>
  lines.length >= 2 && /^```[\w+#.-]*$/.test(lines[0] ?? "") && /^```$/.test(lines.at(-1) ?? "");

/** The first step with a candidate decides: two candidates are ambiguous, never a reason to try a looser step. */
const ladder: readonly Step[] = [
  matchEverywhere,
  ...lineSteps.slice(0, 1),
  matchExactText,
  ...lineSteps.slice(1),
  matchNumbered,
  matchElided,
  matchSkipping,
  matchNearly,
];

/** Whether the lines to insert are already there, above, below or among new lines below, and not repeated on purpose. */
function isInserted(lines: TracedLines, splices: readonly Splice[], halves: Halves): boolean {
  const [only, ...more] = splices;
  if (only === undefined || more.length > 0 || only.start !== only.end) return false;
  const isAt = (row: number) => only.lines.every((line, at) => lines[row + at]?.text.trim() === line.trim());
  if (!isAt(only.start - only.lines.length)) {
    let row = only.start;
    while (!isAt(row)) {
      if (lines[row]?.origin !== null) return false;
      row += 1;
    }
  }
  const known = new Set(halves.search.map((line) => line.trim()));
  return isTelling(only.lines) && !only.lines.some((line) => !isBlank(line) && known.has(line.trim()));
}

const isUnchanged = (lines: readonly Line[], splices: readonly Splice[]): boolean =>
  splices.every(
    (splice) =>
      splice.end - splice.start === splice.lines.length &&
      splice.lines.every((line, at) => lines[splice.start + at]?.text === line),
  );

function isReplaced(file: FileLines, halves: Halves): boolean {
  const { search, replace } = variantsOf(halves).at(-1) ?? halves;
  const trimmed = replace.slice(replace.findIndex((line) => !isBlank(line)));
  const known = new Set(search.map((line) => line.trim()));
  const added = trimmed.filter((line) => !known.has(line.trim()));
  const isClosedUp = trimmed.length >= 2 && search[0] === trimmed[0] && search.at(-1) === trimmed.at(-1);
  if (!isTelling(added) && !(added.every(isBlank) && isClosedUp && isTelling(trimmed))) return false;
  if (findRows(file, "indent", trimmed).length === 1) return true;
  const row = trimmed.length === 1 ? matchEverywhere(file, { search: trimmed, replace: [], all: true }) : null;
  return row?.kind === "found" && row.splices.length === 1;
}

function isAppended(path: string, lines: readonly string[], added: readonly string[]): boolean {
  if (!isTelling(added)) return false;
  return findRows(indexLines(path, lines.slice(-added.length)), "trailing", added).length === 1;
}

/** Enough letters not to match by chance. */
const isTelling = (lines: readonly string[]): boolean => lines.join("").replace(/\s/g, "").length >= 4;

interface TracedLine extends Line {
  /** Row in the file that the model saw; null for a new line. */
  readonly origin: number | null;
  /** A new line that stays below the line before it. */
  readonly isBelow?: true;
}

type TracedLines = readonly TracedLine[];

/** The current lines of a file, traced back to the lines that were shown. */
function traceLines(now: readonly Line[], shown: readonly Line[]): TracedLines {
  if (now === shown) return now.map((line, row) => ({ ...line, origin: row }));
  const origins = new Map(matchLines(textsOf(shown), textsOf(now)).map(([row, at]) => [at, row]));
  return now.map((line, at) => ({ ...line, origin: origins.get(at) ?? null }));
}

/** Turns splices of the shown file into splices of the current file; null: a line they replace has changed since. */
function translate(splices: readonly Splice[], traced: TracedLines): readonly Splice[] | null {
  const positions: number[] = [];
  for (let at = 0; at < traced.length; at++) {
    const origin = traced[at]?.origin ?? null;
    if (origin !== null) positions[origin] = at;
  }
  const moved: Splice[] = [];
  for (const splice of splices) {
    const { start, end } = splice;
    const first = splice.isBelow ? rowBelow(start, positions, traced) : positions[start];
    const at = first ?? positions[start] ?? insertionPoint(start, end, positions);
    if (at === null) return null;
    for (let row = start; row < end; row++) if (positions[row] !== at + row - start) return null;
    moved.push({ ...splice, start: at, end: at + end - start });
  }
  return moved;
}

/** The row below the line before row `start`, and below what was inserted there already; null: that line is gone. */
function rowBelow(start: number, positions: readonly number[], traced: TracedLines): number | null {
  const above = positions[start - 1];
  if (above === undefined) return null;
  let at = above + 1;
  while (traced[at]?.isBelow === true) at += 1;
  return at;
}

/** Where to insert lines when the line below them is gone: after the line above. null: that one is gone, too. */
function insertionPoint(start: number, end: number, positions: readonly number[]): number | null {
  const above = positions[start - 1];
  return start === end && above !== undefined ? above + 1 : null;
}

/** The lines with splices laid in; new lines take the ending of the line they replace or follow. */
function applySplices(traced: TracedLines, splices: readonly Splice[]): TracedLines {
  const main = mainEnding(traced);
  const parts: TracedLines[] = [];
  let from = 0;
  for (const { start, end, lines, isBelow } of [...splices].sort((a, b) => a.start - b.start)) {
    parts.push(traced.slice(from, start));
    parts.push(
      lines.map((text, at) => {
        const replaced = start + at < end ? (traced[start + at]?.ending ?? "") : "";
        const beside = traced[end - 1] ?? traced[end];
        return { text, ending: replaced || usableEnding(beside, main), origin: null, ...(isBelow && { isBelow }) };
      }),
    );
    from = end;
  }
  return parts.concat([traced.slice(from)]).flat();
}

/** The ending of a new line, taken from the line beside it; a lone CR is not copied if most lines end otherwise. */
function usableEnding(beside: Line | undefined, main: "\n" | "\r\n" | "\r"): "\n" | "\r\n" | "\r" {
  if (beside === undefined || beside.ending === "") return main;
  return beside.ending === "\r" ? main : beside.ending;
}

function joinLines(traced: TracedLines, finalEnding: boolean): string {
  const main = mainEnding(traced);
  const last = traced.length - 1;
  return traced
    .map(({ text, ending }, at) => text + (at === last && !finalEnding ? "" : ending === "" ? main : ending))
    .join("");
}
