/** What the model of a run knows: whether its dialogue goes on, what changed since, how much of a file the work shows. */
import type { Blob, Change } from "../core/change.ts";
import { linesOf } from "../core/context/blocks.ts";
import type { ExcerptRange } from "../core/context/excerpts.ts";
import { isLongChangelog, type Kind, kindOf } from "../core/context/kind.ts";
import { maxOfFiles, maxOfParts, maxShown, maxWhole } from "../core/context/shown.ts";
import { fence } from "../core/data-fence.ts";
import {
  dropClaim,
  fileOf,
  foldDeleted,
  knownLines,
  messagesWith,
  noteTold,
  startAnew,
  statesSince,
  type Told,
  tellFile,
  tellOnce,
  untoldRanges,
} from "../core/dialogue.ts";
import { renderChanges } from "../core/diff.ts";
import { digest } from "../core/digest.ts";
import { type Job, type Message, partOf, sizeOf } from "../core/model.ts";
import type { Outcome } from "../core/outcome.ts";
import type { RelPath } from "../core/path.ts";
import type { Plan } from "../core/plan/plan.ts";
import { wordsStand } from "../core/session/became.ts";
import { type PastTurn, renderBecame } from "../core/session/past.ts";
import { rowOf } from "../core/vocabulary.ts";
import { type Briefing, maxOfPast, type Part, renderPastOf, roomFor } from "./briefing/briefing.ts";
import { type Source, toReadable } from "./briefing/sources.ts";
import { startFromNow, tellMeanwhile } from "./changes/meanwhile.ts";
import type { Run } from "./run.ts";

const fullShare = 1 / 2;

/**
 * Starts anew unless the dialogue can go on: it was held with the model of this job and with this prompt, and a message
 * of `added` characters leaves it within half of the window.
 */
export function continueOrStart(run: Run, system: string, job: Job, added: number): void {
  const { dialogue, ledger, calling } = run;
  const model = partOf(calling.model, job);
  const head = `${model.id}\n${model.address ?? ""}\n${system}`;
  const size = dialogue.messages.reduce((sum, message) => sum + sizeOf(message), system.length + added);
  const goesOn = dialogue.messages.length > 0 && dialogue.head === head;
  // Before the provider has counted anything, and where it counts too little, a token is four characters.
  const tokens = Math.max(ledger.estimate(size), size / 4);
  if (!goesOn || tokens > model.window * fullShare) startAnew(dialogue);
  dialogue.head = head;
}

const maxOfDiffs = 12_000;
/** What is at a path now, as the model may see it; null: nothing, or what cannot be read. */
const blobNow = async (run: Run, path: RelPath): Promise<Blob | null> =>
  run.veiled.hide(path, await run.overlay.read(path).catch(() => null));
const textOf = (blob: Blob | null): string | null =>
  blob?.kind === "file" ? new TextDecoder().decode(blob.bytes) : null;

/** The text of a file now, as the model may see it; null: there is no such file, or it cannot be read. */
export const textNow = async (run: Run, path: RelPath): Promise<string | null> => textOf(await blobNow(run, path));

/** What became of a file since it was told, step by step; `own` false: since the work of the run. */
function stepsSince(path: RelPath, told: Told, blob: Blob | null, own: boolean): readonly Change[] {
  const now = textOf(blob);
  const { left } = told;
  const all = statesSince(told, now);
  const states = (own || left === undefined ? all : left === now ? [now] : [left, now]).map(fileOf);
  // A link or a folder may stand where the file was.
  if (now === null) states[states.length - 1] = blob;
  return states.slice(1).map((after, n) => ({ path, before: states[n] ?? null, after, from: null }));
}

/** What the messages show of a file behind its change; null: nothing. `isLong`: the change itself is too long to be told. */
function knownBehind(told: Told, now: string | null, isLong: boolean): Told | null {
  if (now === null || (isLong && now !== told.text)) return null;
  // Its work is gone: it is again what they show.
  return { text: now, lines: isLong ? told.lines : knownLines(told, linesOf(now), true) };
}

/** What has changed since it was told, as one diff; "": nothing. `own` false: without the run's own work, told elsewhere. */
export async function tellChanged(run: Run, own = true): Promise<string> {
  const { files } = run.dialogue;
  const diffs: string[] = [];
  const changed: RelPath[] = [];
  const byOthers: RelPath[] = [];
  const unshown: string[] = [];
  let room = maxOfDiffs;
  for (const [path, told] of files) {
    const blob = await blobNow(run, path);
    const now = textOf(blob);
    const steps = stepsSince(path, told, blob, own);
    if (steps.length === 0) continue;
    changed.push(path);
    const { text, left = text } = told;
    if (now !== left) byOthers.push(path);
    const diff = foldDeleted(steps.map((step) => renderChanges([step])).join(""));
    const isLong = diff.length > room;
    const known = knownBehind(told, now, isLong);
    if (known === null) files.delete(path);
    else files.set(path, known);
    if (!isLong) diffs.push(diff.replace(/\n$/, ""));
    else if (known === null) unshown.push(path);
    room -= isLong ? 0 : diff.length;
  }
  if (!own) await startFromNow(run, changed);
  const more = unshown.length === 0 ? "" : `Changed since it was shown, by more than fits here: ${unshown.join(", ")}.`;
  const told = diffs.length === 0 ? "" : fence("diff", { since: "shown" }, diffs.join("\n"));
  return [told, more, await tellMeanwhile(run, { shown: byOthers })].filter(Boolean).join("\n");
}

/** A request: what has changed since it was told, then the parts that `tell` makes. */
export async function withNews(run: Run, tell: () => readonly (string | Promise<string>)[]): Promise<string> {
  const changed = await tellChanged(run);
  return [changed, ...(await Promise.all(tell()))].filter(Boolean).join("\n\n");
}

/** Tells which files a later turn of tool-loop knows, and by their hash those that it may replace without a look. */
async function noteKnown({ overlay, emit }: Run, { changes, commands = [] }: Outcome): Promise<void> {
  const files: Record<string, string> = {};
  for (const path of overlay.known()) {
    const now = await overlay.readNow(path).catch(() => null);
    if (now?.kind !== "file") continue;
    const [hash, seen] = [digest(now.bytes), overlay.shown(path)];
    const isOwn = commands.length === 0 && changes.some((change) => change.path === path && change.after === hash);
    files[path] = seen !== null && (isOwn || hash === digest(seen)) ? hash : "";
  }
  if (Object.keys(files).length > 0) emit({ type: "files.known", files });
}

/** Behind what a run asked last, without an answer that it could use: the next request begins with it. */
const calledOff = "(This is no longer asked for. What it says of looks and turns left no longer holds.)";

/** Notes the end of a run: drops a false claim and an open order, and lets what its changes made outdated be told anew. */
export async function noteEnd(run: Run, outcome: Outcome): Promise<void> {
  const { dialogue, ending, task, ledger } = run;
  if (!wordsStand(outcome)) dropClaim(dialogue, task.dialogue?.messages, ending.text);
  const last = dialogue.messages.at(-1);
  if (last?.role === "user")
    dialogue.messages = dialogue.messages.with(-1, { ...last, text: `${last.text}\n\n${calledOff}` });
  if (run.invocation.mode === "tool-loop") await noteKnown(run, outcome);
  const changes = outcome.dry_run === true ? [] : outcome.changes;
  const changed = new Set<string | null>(changes.flatMap(({ path, from }) => [path, from]));
  if (changes.length > 0) dialogue.parts.delete("checks");
  // What was taken back is as it was told.
  for (const [path, { text, lines }] of dialogue.files)
    if (!changed.has(path)) dialogue.files.set(path, { text, lines });
  if (task.dialogue !== undefined && ledger.sent > 0) Object.assign(task.dialogue, dialogue);
}

/** What became of the last turn that the messages hold (`isHeld`), and the turns since; "": there is nothing to tell. */
export function renderSince(run: Run, isHeld: (turn: PastTurn) => boolean): string {
  const { task, calling, veil } = run;
  const at = task.history.findLastIndex(isHeld);
  const last = task.history[at];
  // Of eight-step the dialogue holds the plan, and neither its scripts nor what it said at the end.
  const isWhole = last === undefined || last.mode === "eight-step";
  const ended = isWhole ? [] : [veil.cover(renderBecame({ ...last, diff: "" }))];
  const since = task.history.slice(isWhole ? Math.max(0, at) : at + 1);
  const room = maxOfPast(roomFor(partOf(calling.model, "plan")));
  const lines = [...ended, ...(since.length === 0 ? [] : [renderPastOf(run, since, room)])];
  return lines.length === 0 ? "" : fence("conversation", { since: "your last answer" }, lines.join("\n"));
}

/** The lines of a file of the project that a part shows (null: all); undefined: it is cut, or lies elsewhere. */
function rangesOf({ path, text, shown, part }: Source): readonly ExcerptRange[] | null | undefined {
  if (path.startsWith("/") || part?.ranges.length === 0) return undefined;
  return part?.ranges ?? (shown === text ? null : undefined);
}

function tellPart(run: Run, { kind, text, file }: Part): string {
  const { dialogue } = run;
  if (file !== null) {
    const ranges = rangesOf(file);
    if (ranges === undefined) return tellOnce(dialogue, `${kind} ${file.path}`, text);
    return tellFile(dialogue, { path: file.path, text: file.text, ranges, outline: "", note: "" }).text;
  }
  if (kind === "conversation") return renderSince(run, (turn) => turn.run === dialogue.run);
  // What the user did since the last turn is news, also where it says the same as before.
  return kind === "request" || kind === "context" ? text : tellOnce(dialogue, kind, text);
}

function noteBriefing(run: Run, { parts }: Briefing): void {
  for (const { kind, text, file } of parts) {
    const ranges = file === null ? undefined : rangesOf(file);
    if (file === null || ranges === undefined)
      tellOnce(run.dialogue, file === null ? kind : `${kind} ${file.path}`, text);
    else noteTold(run.dialogue, file.path, file.text, ranges);
  }
}

/** The messages of the first planning call, which end in the briefing or, in a dialogue that goes on, in its news. */
export async function tellBriefing(run: Run, system: string, briefing: Briefing): Promise<readonly Message[]> {
  const { dialogue } = run;
  continueOrStart(run, system, "plan", briefing.text.length);
  if (dialogue.messages.length === 0) noteBriefing(run, briefing);
  const text =
    dialogue.messages.length === 0
      ? briefing.text
      : await withNews(run, () => briefing.parts.map((part) => tellPart(run, part)));
  dialogue.run = run.id;
  return messagesWith(dialogue, text);
}

/** `paths`: those to be read, modified, overwritten or moved. `edited`: not rewritten, so parts of a large one are enough. */
export function filesOf(run: Run, plan: Plan) {
  const paths = new Set<RelPath>();
  const changed = new Set<RelPath>();
  const written = new Set<RelPath>();
  const read = new Set<RelPath>();
  for (const text of plan.analysis?.files_to_read ?? []) {
    const path = toReadable(run, text);
    if (path !== null) paths.add(path);
  }
  for (const { action, target } of plan.execution_plan?.steps ?? []) {
    const row = rowOf(action);
    const path = row?.shows === true ? toReadable(run, target) : null;
    if (path === null) continue;
    paths.add(path);
    if (row?.form === "content") written.add(path);
    else if (row?.kind === "change") changed.add(path);
    else read.add(path);
  }
  return { paths, edited: changed.difference(written), read };
}

const roomForFiles = ({ calling }: Run): number => Math.min(maxOfFiles, partOf(calling.model, "work").window);
const leastOfParts = 8_000;
const usualOfAside = 5_000;

/** Characters of the lines of a text that the messages do not show. */
export function untoldSize({ dialogue }: Run, path: RelPath, text: string): number {
  const lines = linesOf(text);
  const untold = untoldRanges(dialogue, path, text, null);
  return untold.reduce((sum, { from, to }) => sum + lines.slice(from - 1, to).join("\n").length, 0);
}

const ranks: Readonly<Record<Kind, number>> = { code: 0, side: 1, test: 2, document: 3, generated: 3, changelog: 4 };

interface Sized {
  readonly path: RelPath;
  readonly kind: Kind;
  readonly size: number;
  readonly untold: number;
}

/** Whether a file beside the real work comes in parts: large tests and papers beside source, every long changelog. */
const isAside = ({ path, kind, size }: Sized, hasSource: boolean): boolean =>
  (hasSource && ranks[kind] >= ranks.test && size > maxWhole) || isLongChangelog(path, size);

/**
 * Shares the room among the files that are changed: source first, small ones first, each counted as a whole; those that do
 * not fit share what is left beside the parts of tests and papers. Beside source, large tests and papers come in parts, and
 * of a changelog only its head is needed. What a look asks for is shown whole otherwise.
 */
export async function shareRoom(run: Run, { paths, edited, read }: ReturnType<typeof filesOf>) {
  const sized: Sized[] = [];
  for (const path of paths) {
    const text = (await textNow(run, path)) ?? "";
    sized.push({ path, kind: kindOf(path), size: text.length, untold: untoldSize(run, path, text) });
  }
  const hasSource = sized.some(({ path, kind }) => ranks[kind] < ranks.test && edited.has(path));
  const whole = new Set<RelPath>();
  let left = roomForFiles(run);
  for (const file of sized.toSorted((a, b) => ranks[a.kind] - ranks[b.kind] || a.size - b.size)) {
    const { path, size } = file;
    const isRead = !edited.has(path) || read.has(path);
    if (isRead ? isLongChangelog(path, size) : size > left || isAside(file, hasSource)) continue;
    whole.add(path);
    left -= Math.min(size, maxShown);
  }
  const cut = sized.filter((file) => !whole.has(file.path));
  const large = cut.filter((file) => !isAside(file, hasSource));
  const room = left - (cut.length - large.length) * usualOfAside;
  const part = Math.max(leastOfParts, Math.min(room / large.length, maxOfParts));
  const shareOf = (file: Sized) => (whole.has(file.path) ? null : large.includes(file) ? part : leastOfParts);
  return {
    /** By path the characters that the parts of a file may have; null: all of it. */
    shares: new Map(sized.map((file) => [file.path, shareOf(file)])),
    size: sized.reduce((sum, file) => sum + Math.min(file.untold, shareOf(file) ?? maxShown), 0),
  };
}

export const sizeOfFiles = async (run: Run, plan: Plan): Promise<number> =>
  (await shareRoom(run, filesOf(run, plan))).size;
