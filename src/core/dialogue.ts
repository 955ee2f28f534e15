/** What the model has been told so far: messages that later calls repeat byte for byte, and what they show of files. Pure. */
import type { Blob, Change } from "./change.ts";
import { linesOf } from "./context/blocks.ts";
import { type ExcerptRange, renderExcerpt } from "./context/excerpts.ts";
import { rangesOf } from "./context/large-file.ts";
import { fence, fenceFile } from "./data-fence.ts";
import { matchLines } from "./line-diff.ts";
import type { Message } from "./model.ts";
import type { RelPath } from "./path.ts";
import { scriptIn } from "./script/parser.ts";
import { withoutClaims } from "./session/conversation.ts";

export interface Told {
  /** The whole file as it was then, as the model may see it. */
  readonly text: string;
  readonly lines: readonly boolean[];
  /** The file as the model's own work left it behind that; null: gone; absent: as told. */
  readonly left?: string | null;
}

export interface Dialogue {
  /** Everything that was sent and answered; the next request begins with it. Its last message may be unanswered. */
  messages: readonly Message[];
  /** Model and system prompt of these messages: for others they are not a beginning. */
  head: string;
  files: Map<RelPath, Told>;
  /** Parts that are only told again when they have changed, by what they are. */
  parts: Map<string, string>;
  /** The last run that it tells of. */
  run: string;
}

export function createDialogue(): Dialogue {
  return { messages: [], head: "", files: new Map(), parts: new Map(), run: "" };
}

export function startAnew(dialogue: Dialogue): void {
  Object.assign(dialogue, createDialogue());
}

export const copyOf = (dialogue: Readonly<Dialogue>): Dialogue => ({
  ...dialogue,
  files: new Map(dialogue.files),
  parts: new Map(dialogue.parts),
});

/**
 * Replaces the last words of a run that failed or was declined: the end of its script, or else `words`. `earlier`: the
 * messages before the run, whose words stand.
 */
export function dropClaim(dialogue: Dialogue, earlier: readonly Message[] = [], words = ""): void {
  const at = dialogue.messages.findLastIndex(({ role }) => role === "assistant");
  const last = dialogue.messages[at];
  if (last?.role !== "assistant" || earlier.includes(last)) return;
  const claim = scriptIn(last.text).actions.find(({ cmd }) => cmd === "FINISH")?.arg ?? words;
  if (claim.trim() === "" || !last.text.includes(claim)) return;
  const said = { ...last, text: last.text.replace(claim, withoutClaims), native: null };
  dialogue.messages = dialogue.messages.with(at, said);
}

/** The messages of the next request. A message that was never answered becomes a part of the new one. */
export function messagesWith({ messages }: Readonly<Dialogue>, text: string): readonly Message[] {
  const last = messages.at(-1);
  return last?.role === "user"
    ? [...messages.slice(0, -1), { role: "user", text: `${last.text}\n\n${text}` }]
    : [...messages, { role: "user", text }];
}

/** The text, or "" when this part was told with the same text before. `kind`: what the part is. */
export function tellOnce({ parts }: Dialogue, kind: string, text: string): string {
  if (parts.get(kind) === text) return "";
  parts.set(kind, text);
  return text;
}

/** Which lines of a file are known: those that were told and are still there, and its new ones if they are told now. */
export function knownLines(told: Told | undefined, lines: readonly string[], isNewTold = false): boolean[] {
  const known = lines.map(() => isNewTold);
  for (const [old, now] of told === undefined ? [] : matchLines(linesOf(told.text), lines))
    known[now] = told?.lines[old] === true;
  return known;
}

/** The parts of these ranges (null: the whole file) that the messages do not show yet. */
export function untoldRanges(
  { files }: Readonly<Dialogue>,
  path: RelPath,
  text: string,
  ranges: readonly ExcerptRange[] | null,
): readonly ExcerptRange[] {
  const lines = linesOf(text);
  const known = knownLines(files.get(path), lines);
  const wanted = lines.map(() => ranges === null);
  for (const { from, to } of ranges ?? []) wanted.fill(true, from - 1, to);
  return rangesOf(wanted.map((isWanted, at) => isWanted && known[at] !== true));
}

/** Notes that the messages show these ranges of a file (null: all of it). Returns whether they show all of it now. */
export function noteTold(
  { files }: Dialogue,
  path: RelPath,
  text: string,
  ranges: readonly ExcerptRange[] | null,
): boolean {
  const lines = knownLines(files.get(path), linesOf(text));
  for (const { from, to } of ranges ?? [{ from: 1, to: lines.length }]) lines.fill(true, from - 1, to);
  files.set(path, { text, lines });
  return lines.every(Boolean);
}

export interface Wanted {
  readonly path: RelPath;
  readonly text: string;
  readonly ranges: readonly ExcerptRange[] | null;
  /** What it defines, said beside parts of it; "": nothing. */
  readonly outline: string;
  /** A note for the model; "": none. */
  readonly note: string;
}

/** Renders and notes what was not told yet of a file ("": nothing). `isWhole`: the messages show all of it then. */
export function tellFile(dialogue: Dialogue, { path, text, ranges, outline, note }: Wanted) {
  const isKnown = dialogue.files.has(path);
  const untold = untoldRanges(dialogue, path, text, ranges);
  const isWhole = noteTold(dialogue, path, text, ranges);
  const lines = linesOf(text);
  const about = note === "" ? {} : { note };
  const [only] = untold;
  if (untold.length === 0 && (isKnown || lines.length > 0)) return { text: "", isWhole };
  const isAll = lines.length === 0 || (untold.length === 1 && only?.from === 1 && only.to === lines.length);
  if (isAll) return { text: fenceFile({ path, ...about }, text), isWhole };
  const shown = `${isWhole ? "the rest" : "parts"} of ${lines.length} lines`;
  const told = renderExcerpt(path, lines, untold, isWhole ? "" : outline);
  return { text: fence("file", { path, shown, ...about }, told), isWhole };
}

/** Notes what the run made of files that the messages show. `hide`: a file as the model may see it. */
export function noteWork(
  { files }: Dialogue,
  changes: readonly Change[],
  hide: (path: RelPath, blob: Blob | null) => Blob | null,
): void {
  for (const { path, after } of changes) {
    const told = files.get(path);
    if (told === undefined) continue;
    const work = hide(path, after);
    files.set(path, { ...told, left: work?.kind === "file" ? new TextDecoder().decode(work.bytes) : null });
  }
}

/** What a file was since it was told: as told, as the model's own work left it, and `now`. If that is undone, it is known. */
export const statesSince = ({ text, left = text }: Told, now: string | null): readonly (string | null)[] =>
  (now === text ? [left, now] : [text, left, now]).filter((state, n, all) => n === 0 || state !== all[n - 1]);

/** How many deleted lines in a row a diff shows: the model knows them, or no longer needs them. */
const maxDeleted = 6;

export const foldDeleted = (diff: string): string =>
  diff.replace(/(?:^-(?!-- )[^\n]*\n){2,}/gm, (run) => {
    const lines = run.split("\n");
    const more = lines.length - 1 - maxDeleted;
    if (more <= 0) return run;
    return [...lines.slice(0, maxDeleted), `[… ${more} more deleted lines]`, ""].join("\n");
  });

export const fileOf = (text: string | null): Blob | null =>
  text === null ? null : { kind: "file", bytes: new TextEncoder().encode(text), mode: 0o644 };
