/** The change guard: refuses changes that are too large, that lose code nobody meant to lose, or that bring in keys. */
import type { Blob, Change } from "./change.ts";
import { findDefinitions } from "./definition.ts";
import type { RelPath } from "./path.ts";
import { findPlaceholders } from "./placeholder.ts";
import { newSecrets } from "./secret.ts";
import { type Balance, balanceOf, countTally, settleMoves } from "./tally.ts";
import { decode } from "./text.ts";

export interface GuardLimits {
  /** Changed lines per file and run, added and deleted. */
  readonly lines: number;
  /** Changed lines as a part of the original's lines. */
  readonly ratio: number;
  /** Refuse at either limit, not only when both are passed. */
  readonly strict: boolean;
}

export interface GuardInput {
  /** The whole run squashed: each file against its content at the start, this batch included. */
  readonly since: readonly Change[];
  /** Paths the batch under judgement touches. */
  readonly batch: readonly RelPath[];
  readonly limits: GuardLimits;
  readonly planned: {
    /** Files and folders the plan deletes. */
    readonly deletes: readonly string[];
    /** The plan's words, one text per step with its target, so that a deletion belongs to a file. */
    readonly texts: readonly string[];
  };
}

export interface Verdict {
  readonly path: RelPath;
  readonly verdict: "refused" | "ask";
  readonly rule: "size" | "deletion" | "definitions" | "placeholder" | "secret";
  /** For the model and the user: what, why, the way out. */
  readonly text: string;
}

/** A file as it was at the start of the run and as it shall be; null: it was or will not be there. */
interface File {
  readonly path: RelPath;
  readonly old: string | null;
  readonly now: string | null;
}

/** A file among the others of the run: what of its change is its own. */
interface Case {
  readonly file: File;
  readonly balance: Balance;
  readonly others: readonly File[];
  readonly input: GuardInput;
}

type Rule = (subject: Case) => string | null;

/** Binary content is one long line, so the size rule holds for it too. */
function contentOf(blob: Blob | null): string | null {
  if (blob?.kind === "link") return blob.target;
  if (blob?.kind !== "file") return null;
  return decode(blob.bytes)?.text ?? Buffer.from(blob.bytes).toString("latin1").replaceAll("\n", " ");
}

/** A moved file is judged where it went, against what it was where it came from. */
function filesOf(since: readonly Change[]): File[] {
  const byPath = new Map(since.map((change) => [change.path, change]));
  const originOf = ({ from, before, after }: Change) => {
    const origin = from === null || before !== null || after === null ? undefined : byPath.get(from);
    return origin?.after === null ? origin : undefined;
  };
  const moved = new Set(since.map(originOf));
  return since
    .filter((change) => !moved.has(change))
    .map((change) => ({
      path: change.path,
      old: contentOf(originOf(change)?.before ?? change.before),
      now: contentOf(change.after),
    }));
}

/** A line counts one, and one more for every 400 characters: one huge line is no way round. */
function weigh(line: string): number {
  return 1 + Math.floor(line.length / 400);
}

function linesOf(text: string): readonly string[] {
  return text.replace(/\n$/, "").split("\n");
}

function percent(part: number): string {
  return `${Math.round(part * 100)} %`;
}

const judgeSize: Rule = ({ file: { old, now }, balance, input: { limits } }) => {
  if (old === null || old.trim() === "" || now === null) return null;
  const added = countTally(balance.gained, weigh);
  const deleted = countTally(balance.lost, weigh);
  const total = linesOf(old).reduce((sum, line) => sum + weigh(line), 0);
  const ratio = (added + deleted) / total;
  const [isLong, isLarge] = [added + deleted > limits.lines, ratio > limits.ratio];
  if (limits.strict ? !isLong && !isLarge : !isLong || !isLarge) return null;
  return (
    `${added + deleted} lines changed in this run (${added} added, ${deleted} deleted), ${percent(ratio)} of the file; ` +
    `the limit is ${limits.lines} lines ${limits.strict ? "or" : "and"} ${percent(limits.ratio)}. ` +
    "Change less of it, or move code into new files in the same reply: lines that move do not count"
  );
};

const deletionWords =
  /\b(?:(?:delet|remov|eras|purg|reduc|condens|simplif|extract)\w+|(?:drop|strip|trim|split|cut)(?:s|\w?ed|\w?ing)?|(?:clear|empt(?:y|ie)|short(?:en)?)(?:s|ed|d|ing|er)?|mov(?:e[sd]?|ing)|(?:meng|mem|me|di)?(?:hapus|buang|kosongkan|pangkas|ringkas|pindah|pisah|pecah)\w*)\b/i;

function isDeletionPlanned(path: string, { deletes, texts }: GuardInput["planned"]): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return (
    deletes.some((planned) => path === planned || path.startsWith(`${planned.replace(/\/$/, "")}/`)) ||
    texts.some((text) => text.includes(name) && deletionWords.test(text.replaceAll(path, "").replaceAll(name, "")))
  );
}

const judgeDeletion: Rule = ({ file: { path, old }, balance, input: { planned } }) => {
  const total = old === null ? 0 : linesOf(old).length;
  const net = countTally(balance.lost, () => 1) - countTally(balance.gained, () => 1);
  if (total <= 20 || net / total <= 0.5 || isDeletionPlanned(path, planned)) return null;
  return (
    `${net} of ${total} lines would be deleted and appear nowhere else, and the plan does not say so. ` +
    "Keep what is not part of the task, and change only the lines that need it"
  );
};

function without(names: ReadonlySet<string>, ...others: readonly ReadonlySet<string>[]): string[] {
  return [...names].filter((name) => !others.some((other) => other.has(name)));
}

function mentions(text: string, name: string): boolean {
  return new RegExp(`(?<![\\w$])${RegExp.escape(name)}(?![\\w$])`).test(text);
}

const judgeDefinitions: Rule = ({ file: { path, old, now }, others, input: { planned } }) => {
  if (old === null || (now === null && isDeletionPlanned(path, planned))) return null;
  const before = findDefinitions(path, old);
  const after = findDefinitions(path, now ?? "");
  const missing = without(before, after).filter((name) => !planned.texts.some((text) => mentions(text, name)));
  if (missing.length < 3) return null;
  const [movedOut, movedIn] = [new Set<string>(), new Set<string>()];
  for (const other of others) {
    const [was, is] = [findDefinitions(other.path, other.old ?? ""), findDefinitions(other.path, other.now ?? "")];
    for (const name of without(is, was)) movedOut.add(name);
    for (const name of without(was, is)) movedIn.add(name);
  }
  const lost = without(new Set(missing), movedOut);
  if (lost.length - without(after, before, movedIn).length < 3) return null;
  const shown = lost.length > 12 ? `${lost.slice(0, 12).join(", ")} and ${lost.length - 12} more` : lost.join(", ");
  return (
    `these definitions would be lost, and the plan does not name them: ${shown}. ` +
    "Keep them, or move them to another file in the same reply"
  );
};

const judgePlaceholders: Rule = ({ file, others }) => {
  if (file.now === null) return null;
  const found = findPlaceholders(file.now);
  if (found.length === 0) return null;
  const known = new Set([file, ...others].flatMap(({ old }) => linesOf(old ?? "").map((line) => line.trim())));
  const fresh = found.filter(({ text }) => !known.has(text));
  if (fresh.length === 0) return null;
  const shown = fresh.slice(0, 3).map(({ line, text }) => `line ${line}: ${text}`);
  return `a placeholder stands where code should be (${shown.join("; ")}). Write the code itself, or edit only the lines that change`;
};

const judgeSecrets: Rule = ({ file, others }) => {
  if (file.now === null) return null;
  const found = newSecrets([file, ...others].map(({ old }) => old ?? "").join("\n"), file.now);
  if (found.length === 0) return null;
  const shown = found.slice(0, 3).map(({ line, kind, sample }) => `line ${line}: ${kind} ${sample}`);
  return `the new content seems to hold a secret (${shown.join("; ")}). Read it from the environment, or use an example value`;
};

const rules: readonly { readonly rule: Verdict["rule"]; readonly verdict: Verdict["verdict"]; readonly judge: Rule }[] =
  [
    { rule: "size", verdict: "refused", judge: judgeSize },
    { rule: "deletion", verdict: "refused", judge: judgeDeletion },
    { rule: "definitions", verdict: "refused", judge: judgeDefinitions },
    { rule: "placeholder", verdict: "refused", judge: judgePlaceholders },
    { rule: "secret", verdict: "ask", judge: judgeSecrets },
  ];

function judgeFiles(input: GuardInput, files: readonly File[]): Verdict[] {
  const balances = new Map(files.map((file) => [file, balanceOf(file.old ?? "", file.now ?? "")]));
  settleMoves([...balances.values()]);
  const verdicts: Verdict[] = [];
  for (const [file, balance] of balances) {
    if (!input.batch.includes(file.path)) continue;
    const subject = { file, balance, others: files.filter((other) => other !== file), input };
    for (const { rule, verdict, judge: judgeRule } of rules) {
      const text = judgeRule(subject);
      if (text !== null) verdicts.push({ path: file.path, verdict, rule, text: `${file.path}: ${text}` });
    }
  }
  return verdicts;
}

/**
 * Everything in a batch that must not be applied as it is (`refused`), or only after a question (`ask`);
 * empty when all is well. A file may be named by several rules. Pure.
 */
export function judge(input: GuardInput): readonly Verdict[] {
  const refused: Verdict[] = [];
  let files = filesOf(input.since);
  for (;;) {
    const verdicts = judgeFiles(input, files);
    const gone = new Set(verdicts.filter(({ verdict }) => verdict === "refused").map(({ path }) => path));
    if (gone.size === 0) return [...refused, ...verdicts];
    // Nothing can have moved to a file that is refused: the others are judged again without it.
    refused.push(...verdicts.filter(({ path }) => gone.has(path)));
    files = files.filter(({ path }) => !gone.has(path));
  }
}
