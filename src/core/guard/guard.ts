/** The change guard: refuses changes that are too large, that lose code nobody meant to lose, or that bring in keys. */
import { atFirstUse } from "../at-first-use.ts";
import { type Blob, type Change, squash } from "../change.ts";
import { openDefinitions } from "../context/blocks.ts";
import { isCodeFile } from "../context/kind.ts";
import { nameOf, type RelPath } from "../path.ts";
import { newSecrets, openHolding } from "../secrets/key-shapes.ts";
import { finish, type Steps } from "../steps.ts";
import { decode } from "../text.ts";
import { type Balance, balanceAll, balanceOf, splitParts, weighLines } from "./balance.ts";
import { findPlaceholders } from "./placeholder.ts";

export interface GuardLimits {
  readonly lines: number;
}

export interface GuardInput {
  /** All changes of the run before this batch, in order. */
  readonly earlier: readonly Change[];
  readonly batch: readonly Change[];
  readonly limits: GuardLimits;
  readonly planned: {
    readonly by: "plan" | "task";
    readonly deletes: readonly string[];
    readonly texts: readonly string[];
    /** Whether the plan changes the content of a file, and the user typed the value in the task: it may be written there. */
    readonly isTyped?: (path: RelPath, value: string) => boolean;
  };
}

export interface Verdict {
  readonly path: RelPath;
  readonly verdict: "refused" | "ask";
  readonly rule: "size" | "deletion" | "definitions" | "placeholder" | "secret";
  /** For the model and the user: what, why, the way out. */
  readonly text: string;
}

interface File {
  readonly path: RelPath;
  readonly old: string | null;
  readonly now: string | null;
}

/** One file under judgement: its lost and gained lines, without moved ones, and all files of the run. */
interface Case {
  readonly file: File;
  readonly balance: Balance;
  readonly files: readonly File[];
  /** What all files held when the run began: its lines without blanks at either end, and whether it held a value. */
  readonly before: () => { readonly lines: ReadonlySet<string>; readonly holds: (value: string) => boolean };
  readonly input: GuardInput;
  readonly definitions: (file: File, when: "old" | "now") => ReadonlySet<string>;
}

type Rule = (subject: Case) => string | null;

/** Binary content is one long line, so the size rule holds for it too. */
function contentOf(blob: Blob | null): string | null {
  if (blob?.kind === "link") return blob.target;
  if (blob?.kind !== "file") return null;
  return decode(blob.bytes)?.text ?? Buffer.from(blob.bytes).toString("latin1").replaceAll("\n", " ");
}

/** A moved file is judged at its new path, against the content at its old path. */
function* filesOf(since: readonly Change[]): Steps<File[]> {
  const byPath = new Map(since.map((change) => [change.path, change]));
  const originOf = ({ from, before, after }: Change) => {
    const origin = from === null || before !== null || after === null ? undefined : byPath.get(from);
    return origin?.after === null ? origin : undefined;
  };
  const moved = new Set(since.map(originOf));
  const files: File[] = [];
  for (const change of since) {
    if (moved.has(change)) continue;
    yield;
    const old = contentOf(originOf(change)?.before ?? change.before);
    files.push({ path: change.path, old, now: contentOf(change.after) });
  }
  return files;
}

/** A line counts one, and one more for every 400 characters, so that one huge line does not evade the limit. */
const weigh = (line: string): number => 1 + Math.floor(line.length / 400);

const percent = (part: number): string => `${Math.round(part * 100)} %`;

const maxShare = 0.5;

const judgeSize: Rule = ({ file: { old, now }, balance, input: { limits } }) => {
  if (old === null || old.trim() === "" || now === null) return null;
  const added = weighLines(balance.gained, weigh);
  const deleted = weighLines(balance.lost, weigh);
  const total = splitParts(old).reduce((sum, line) => sum + weigh(line), 0);
  const ratio = (added + deleted) / total;
  if (added + deleted <= limits.lines || ratio <= maxShare) return null;
  return (
    `${added + deleted} lines changed in this run (${added} added, ${deleted} deleted), ${percent(ratio)} of the file; ` +
    `that is over the limit of ${limits.lines} lines and ${percent(maxShare)}. ` +
    "Change less of it, or move code into new files in the same reply: lines that move do not count"
  );
};

const deletionWords =
  /\b(?:(?:delet|remov|eras|purg|reduc|condens|simplif|extract)\w+|(?:drop|strip|trim|split|cut)(?:s|\w?ed|\w?ing)?|(?:clear|empt(?:y|ie)|short(?:en)?)(?:s|ed|d|ing|er)?|mov(?:e[sd]?|ing)|(?:meng|mem|me|di)?(?:hapus|buang|kosongkan|pangkas|ringkas|pindah|pisah|pecah)\w*)\b/i;

function isDeletionPlanned(path: string, { deletes, texts }: GuardInput["planned"]): boolean {
  const name = nameOf(path);
  return (
    deletes.some((planned) => path === planned || path.startsWith(`${planned.replace(/\/$/, "")}/`)) ||
    texts.some((text) => text.includes(name) && deletionWords.test(text.replaceAll(path, "").replaceAll(name, "")))
  );
}

/** Files of more lines are not emptied without a word of the plan; the lines of a smaller one are named, and asked about. */
const smallFile = 20;
const fewLines = 5;

/** How many lines of how many are lost, where that is most of the file and nothing says so; null: it is not. */
function findLost({ file: { path, old, now }, balance, input: { planned } }: Case): readonly [number, number] | null {
  const total = old === null ? 0 : splitParts(old).length;
  const net = weighLines(balance.lost, () => 1) - weighLines(balance.gained, () => 1);
  const isSmall = total <= smallFile;
  if (net / total <= 0.5 || (isSmall && (now === null || net <= fewLines))) return null;
  return isDeletionPlanned(path, planned) ? null : [net, total];
}

const judgeDeletion: Rule = (subject) => {
  const [net, total] = findLost(subject) ?? [0, 0];
  if (total <= smallFile) return null;
  return (
    `${net} of ${total} lines would be deleted and appear nowhere else, and the ${subject.input.planned.by} does not say so. ` +
    "Keep what is not part of the task, and change only the lines that need it"
  );
};

const judgeLoss: Rule = (subject) => {
  const [net, total] = findLost(subject) ?? [0, 0];
  if (net === 0 || total > smallFile) return null;
  const { file, definitions } = subject;
  const gone = without(definitions(file, "old"), definitions(file, "now"));
  return `${net} of ${total} lines go${gone.length === 0 ? "" : `, among them ${gone.join(", ")}`}`;
};

const without = (names: ReadonlySet<string>, ...others: readonly ReadonlySet<string>[]): string[] =>
  [...names].filter((name) => !others.some((other) => other.has(name)));

const mentions = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\w$])${RegExp.escape(name)}(?![\\w$])`).test(text);

const minLostDefinitions = 3;

const judgeDefinitions: Rule = ({ file, balance, files, definitions, input: { planned } }) => {
  const { path, old, now } = file;
  // A line has at most one definition.
  if (old === null || balance.gone < minLostDefinitions || (now === null && isDeletionPlanned(path, planned)))
    return null;
  const [before, after] = [definitions(file, "old"), definitions(file, "now")];
  const missing = without(before, after).filter((name) => !planned.texts.some((text) => mentions(text, name)));
  if (missing.length < minLostDefinitions) return null;
  const [movedOut, movedIn] = [new Set<string>(), new Set<string>()];
  for (const other of files) {
    if (other === file) continue;
    const [was, is] = [definitions(other, "old"), definitions(other, "now")];
    for (const name of without(is, was)) movedOut.add(name);
    for (const name of without(was, is)) movedIn.add(name);
  }
  const lost = without(new Set(missing), movedOut);
  if (lost.length - without(after, before, movedIn).length < minLostDefinitions) return null;
  const shown = lost.length > 12 ? `${lost.slice(0, 12).join(", ")} and ${lost.length - 12} more` : lost.join(", ");
  return (
    `these definitions would be lost, and the ${planned.by} does not name them: ${shown}. ` +
    "Keep them, or move them to another file in the same reply"
  );
};

const judgePlaceholders: Rule = ({ file, before }) => {
  if (file.now === null) return null;
  const fresh = findPlaceholders(file.now, file.path).filter(({ text }) => !before().lines.has(text));
  if (fresh.length === 0) return null;
  const shown = fresh.slice(0, 3).map(({ line, text }) => `line ${line}: ${text}`);
  return `a placeholder replaces code (${shown.join("; ")}). Write the code itself, or edit only the lines that change`;
};

const judgeSecrets: Rule = ({ file, before, input: { planned } }) => {
  if (file.now === null) return null;
  const found = newSecrets((value) => planned.isTyped?.(file.path, value) === true || before().holds(value), file.now);
  if (found.length === 0) return null;
  const shown = found.slice(0, 3).map(({ line, kind }) => `line ${line}: ${kind}`);
  return `the new content seems to hold a secret (${shown.join("; ")}). Read it from the environment, or use an example value`;
};

const rules: readonly { readonly rule: Verdict["rule"]; readonly verdict: Verdict["verdict"]; readonly judge: Rule }[] =
  [
    { rule: "placeholder", verdict: "refused", judge: judgePlaceholders },
    { rule: "size", verdict: "refused", judge: judgeSize },
    { rule: "deletion", verdict: "refused", judge: judgeDeletion },
    { rule: "definitions", verdict: "refused", judge: judgeDefinitions },
    { rule: "deletion", verdict: "ask", judge: judgeLoss },
    { rule: "secret", verdict: "ask", judge: judgeSecrets },
  ];

function rememberDefinitions(): Case["definitions"] {
  const known = { old: new Map<File, ReadonlySet<string>>(), now: new Map<File, ReadonlySet<string>>() };
  return (file, when) => {
    const names = known[when].get(file) ?? findDefinitions(file.path, file[when] ?? "");
    known[when].set(file, names);
    return names;
  };
}

function* judgeFiles(files: readonly File[], input: GuardInput): Steps<Verdict[]> {
  const definitions = rememberDefinitions();
  const before = atFirstUse(() => {
    const text = files.map(({ old }) => old ?? "").join("\n");
    return { lines: new Set(text.split("\n").map((line) => line.trim())), holds: openHolding(text) };
  });
  const verdicts: Verdict[] = [];
  for (const [file, balance] of yield* balanceAll(files)) {
    yield;
    if (file.old === file.now) continue;
    const subject = { file, balance, files, before, input, definitions };
    for (const { rule, verdict, judge: judgeRule } of rules) {
      const text = judgeRule(subject);
      if (text !== null) verdicts.push({ path: file.path, verdict, rule, text: `${file.path}: ${text}` });
    }
  }
  return verdicts;
}

/** Paths of the batch that lose lines which `path` held when the run began; if none does, all its paths. */
function takersOf(path: RelPath, { earlier, batch }: GuardInput): readonly RelPath[] {
  const origin = contentOf(earlier.find((change) => change.path === path)?.before ?? null) ?? "";
  const wasThere = balanceOf(origin, "").lost;
  const takers = squash(batch).filter(({ before, after }) => {
    const { lost } = balanceOf(contentOf(before) ?? "", contentOf(after) ?? "");
    return [...lost.keys()].some((line) => /\w{3}/.test(line) && wasThere.has(line));
  });
  return (takers.length > 0 ? takers : batch).map((change) => change.path);
}

/**
 * Code that an earlier batch moved out of a file may be lost only now. Verdicts on files that the batch does not touch
 * (`away`), as verdicts on its paths that cause them, without what was refused before.
 */
function* judgeAway(away: readonly Verdict[], input: GuardInput): Steps<Verdict[]> {
  const open = away.filter(({ verdict }) => verdict === "refused");
  if (open.length === 0) return [];
  const before = yield* judgeFiles(yield* filesOf(squash(input.earlier)), input);
  const fresh = open.filter(({ path, rule }) => !before.some((old) => old.path === path && old.rule === rule));
  return fresh.flatMap((verdict) => {
    const takers = [...new Set(takersOf(verdict.path, input))];
    return takers.map((path) => ({
      ...verdict,
      path,
      text: `${path}: this takes away what an earlier step moved here from another file. ${verdict.text}`,
    }));
  });
}

/**
 * All of a batch that must not be applied as it is, or only after a question. When a refused file is dropped, the rest
 * must be judged again: lines that moved to it are then lost.
 */
export const judge = (input: GuardInput): readonly Verdict[] => finish(judgeSteps(input));

export function* judgeSteps(input: GuardInput): Steps<readonly Verdict[]> {
  if (input.batch.length === 0) return [];
  const verdicts = yield* judgeFiles(yield* filesOf(squash([...input.earlier, ...input.batch])), input);
  if (verdicts.length === 0) return verdicts;
  const touched = new Set(input.batch.map(({ path }) => path));
  const away = verdicts.filter(({ path }) => !touched.has(path));
  return [...verdicts.filter(({ path }) => touched.has(path)), ...(yield* judgeAway(away, input))];
}

/** A value that is no function; a change of it is shown like that of any line. */
const plainValue = /^(?:export\s+)?(?:const|let|var|val)\b(?!.*(?:=>|\bfunction\b|\bclass\b))/;

/** Names of functions, classes and types that a source file defines at its left edge. Empty for other files. */
export function findDefinitions(path: string, text: string): ReadonlySet<string> {
  const names = new Set<string>();
  if (!isCodeFile(path)) return names;
  const nameIn = openDefinitions(path);
  for (const line of text.split(/\r?\n/)) {
    const name = /^\S/.test(line) && !plainValue.test(line) ? nameIn(line) : null;
    if (name !== null && name !== "") names.add(name);
  }
  return names;
}
