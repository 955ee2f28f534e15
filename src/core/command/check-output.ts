/** The output of a check: the part that requests show, and whether two checks failed in the same way. Pure. */
import type { Change } from "../change.ts";
import type { CheckResult } from "../outcome.ts";

/** A check that has been run, with what it printed; secrets in the output are masked. */
export interface CheckEvidence extends CheckResult {
  readonly output: string;
  /** What it names that was hidden from it, as a clause; "" or absent: nothing. */
  readonly withheld?: string;
}

const shownCharacters = 3000;

const namesPlace = /(?:^|[\s("'[])[\w@.+/-]*\w\.\w{1,5}(?::\d+|", line \d+|\(\d+[,)])/;
const isForeign = /node_modules|site-packages|dist-packages|\/usr\/|\/lib\/python|node:|internal\//;
const linesAround = 6;

function aboutProject(lines: readonly string[], room: number): string {
  const kept = new Set<number>();
  let left = room;
  for (const [at, line] of lines.entries()) {
    if (line.length > 400 || isForeign.test(line) || !namesPlace.test(line)) continue;
    for (let near = Math.max(0, at - linesAround); near <= Math.min(lines.length - 1, at + linesAround); near += 1) {
      const text = lines[near] ?? "";
      if (kept.has(near) || text.length + 1 > left) continue;
      kept.add(near);
      left -= text.length + 1;
    }
  }
  const sorted = [...kept].sort((a, b) => a - b);
  return sorted.map((at, n) => (n > 0 && at !== (sorted[n - 1] ?? 0) + 1 ? `[…]\n${lines[at]}` : lines[at])).join("\n");
}

/** 3,000 characters of an output: first the lines that name files of the project, then its end. */
export function tailOf(output: string): string {
  const text = output.trimEnd();
  if (text.length <= shownCharacters) return text;
  const first = aboutProject(text.slice(0, -shownCharacters / 2).split("\n"), shownCharacters / 2);
  const tail = text.slice(first.length - shownCharacters).toWellFormed();
  const start = tail.indexOf("\n") + 1;
  const kept = tail.slice(start > shownCharacters / 2 ? 0 : start);
  const cut = `[… ${text.length - kept.length - first.length} characters before this are left out]`;
  return [first, cut, kept].filter(Boolean).join("\n");
}

/** The last line of an output that says anything; "": it says nothing. */
export const lastLineOf = (output: string): string => output.trimEnd().split("\n").at(-1)?.trim().slice(0, 300) ?? "";

/** What differs from run to run. Counts are kept: "3 failed" is not "4 failed". */
const passing: readonly (readonly [RegExp, string])[] = [
  [/\u001b\[[0-9;]*[A-Za-z]/g, ""],
  [/\b\d{4}-\d\d-\d\d[T _]\d\d[:_]\d\d(?:[:_]\d\d)?(?:[.,_]\d+)?(?:Z|[+-]\d\d:?\d\d)?/g, "<date>"],
  [/\b\d{4}-\d\d-\d\d\b/g, "<date>"],
  [/\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b/g, "<time>"],
  [/\b(?:\d+\s*m(?:in)?\s*)?\d+(?:[.,]\d+)?\s?(?:ns|µs|us|ms|s|sec|secs|seconds?|minutes?|min)\b/g, "<duration>"],
  [/\b0x[0-9a-fA-F]+\b/g, "<address>"],
  [/\b(localhost|\d{1,3}(?:\.\d{1,3}){3}|\[::1?\]):\d{2,5}\b/g, "$1:<port>"],
  [/\b(port)([ :=]+)\d{2,5}\b/gi, "$1$2<port>"],
  [/\b(pid|process)([ :=#]+)\d+\b/gi, "$1$2<pid>"],
  // TAP counts the tests: another one above moves the number.
  [/^(\s*(?:not )?ok) \d+\b/, "$1 <number>"],
  [/(\.\w{1,8}["']?[:(]|\.\w{1,8}["']?, line )\d+(?:[:,]\d+)?/g, "$1<line>"],
];

const normalize = (line: string): string =>
  passing.reduce((text, [pattern, name]) => text.replace(pattern, name), line).trimEnd();

export const normalizeOutput = (output: string): string => output.trimEnd().split("\n").map(normalize).join("\n");

const isFailing =
  /fail|error|exception|assert|panic|not ok|not found|undefined|unexpected|expected|mismatch|traceback|cannot|unable|fatal|denied|warning: unused|✗|✘|✕|×|^E\s|^\s*[-+]\s/i;

/** Lines that tell what failed; all lines where none says so plainly. */
function failingLines(output: string): readonly string[] {
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  const failing = lines.filter((line) => isFailing.test(normalize(line)));
  return failing.length === 0 ? lines : failing;
}

const ofTotals = /^(?:tests?|suites?|fail\w*|pass\w*|errors?|skip\w*|ok|ran|run|total|in|m?s|sec\w*)$/i;

/** How many failures and errors a line of totals counts: 3 in "2 failed, 1 error in 0.3s"; 0: it is another line. */
function failuresIn(line: string): number {
  if (!(line.match(/\p{L}+/gu) ?? []).every((word) => ofTotals.test(word))) return 0;
  const counts = line.matchAll(/(\d+) (?:tests? )?(?:fail|error)|(?:fail|error)\w*[=:] ?(\d+)/gi);
  return [...counts].reduce((sum, [, before, after]) => sum + Number(before ?? after), 0);
}

const isCut = /^\[\d+ bytes left out\]$|^\[ended: it wrote more than \d+ MiB\]$/m;

export interface Comparison {
  readonly same: boolean;
  /** As they were printed and in that order; without a line of totals that counts fewer failures than before. */
  readonly fresh: readonly string[];
}

type Failed = Pick<CheckEvidence, "exit" | "passed" | "output">;

/** null: they cannot be compared, because one passed, printed nothing, or had its output cut. */
export function compareFailures(before: Failed, after: Failed): Comparison | null {
  const outputs = [before.output, after.output];
  if (before.passed !== false || after.passed !== false) return null;
  if (outputs.some((output) => output.trim() === "" || isCut.test(output))) return null;
  const old = failingLines(before.output);
  const left = old.map(normalize);
  const most = Math.max(...old.map(failuresIn));
  const fresh: string[] = [];
  for (const line of failingLines(after.output)) {
    const at = left.indexOf(normalize(line));
    if (at === -1) fresh.push(line);
    else left.splice(at, 1);
  }
  const same = before.exit === after.exit && fresh.length === 0 && left.length === 0;
  return { same, fresh: fresh.filter((line) => failuresIn(line) === 0 || failuresIn(line) >= most) };
}

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.match(/[\p{L}_][\p{L}\p{N}_]{2,}/gu) ?? []);

/** Whether an output names the changed file, or a word of the lines that the change took or put. */
export function speaksOf(output: string, { path, before, after }: Change): boolean {
  const said = wordsOf(output);
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (output.includes(name) || said.has(name.replace(/\..*$/, ""))) return true;
  const linesOf = (blob: Change["before"]) =>
    blob?.kind === "file" ? new TextDecoder().decode(blob.bytes).split("\n") : [];
  const [old, now] = [linesOf(before), linesOf(after)];
  const [had, has] = [new Set(old), new Set(now)];
  const changed = [...old.filter((line) => !has.has(line)), ...now.filter((line) => !had.has(line))];
  return [...wordsOf(changed.join("\n"))].some((word) => said.has(word));
}

const isMissing =
  /\b(?:no module named|cannot find module|no such (?:sub)?command|missing script|(?:command )?not found)\b/i;

/** The line of an output that says that a bare word of the command, as `pytest` of `python -m pytest`, is not there; null: none. */
function missingIn(command: string, output: string): string | null {
  const words = command.split(/[^\w./-]+/).filter((word) => /^[\w-]{3,}$/.test(word));
  const says = (line: string) => isMissing.test(line) && words.some((word) => wordsOf(line).has(word));
  return output.split("\n").find(says)?.trim() ?? null;
}

/** Why a failed check says nothing about the work (`changes`): it could not run, or met `wall`. null: it says something. */
export function whyUnjudged(
  { command, exit, output }: Pick<CheckEvidence, "command" | "exit" | "output">,
  wall: string | null,
  changes: readonly Change[] = [],
): string | null {
  if (exit === 0) return wall;
  if (exit === 126) return "it could not be executed (exit 126)";
  if (exit === 127) return "its program was not found (exit 127)";
  const missing = missingIn(command, output);
  if (missing !== null && !changes.some((change) => speaksOf(missing, change))) return `it could not run: ${missing}`;
  return wall;
}

/** A line that says what failed, and not where: `E   ValueError: …`, `FAILED tests/…`, `✗ adds`. */
const tellsWhat = /^\s*(?:E\s|FAILED?\b|not ok|[✗✘✕×]|[\w.]*(?:Error|Exception):|error\b)/;

export function renderComparison(comparison: Comparison | null): string {
  if (comparison === null) return "";
  if (comparison.same) return "the same failure as before";
  const { fresh } = comparison;
  const first = fresh.find((line) => tellsWhat.test(line)) ?? fresh[0];
  if (first === undefined) return "fewer failures than before";
  const more = fresh.length - 1;
  return `new since before: ${first.trim()}${more === 0 ? "" : ` (and ${more} more line${more === 1 ? "" : "s"})`}`;
}
