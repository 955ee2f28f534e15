/** Reads a unified diff as core/diff.ts writes it: its files, and their lines with the numbers they have. */
import { counted } from "../amount.ts";

export interface DiffLine {
  /** `note`: said about the lines before it; `skip`: stands for lines that did not change. */
  readonly kind: "add" | "delete" | "same" | "note" | "skip";
  /** In the new file, or in the old one where the line is gone; null: not a line of a file. */
  readonly number: number | null;
  readonly text: string;
}

export interface DiffFile {
  /** null: nothing stood there. */
  readonly from: string | null;
  /** null: nothing stands there now. */
  readonly to: string | null;
  readonly isLink: boolean;
  readonly lines: readonly DiffLine[];
}

/** A file that is being read. `old` and `now`: number of the next line on each side, and lines left in this hunk. */
type OpenFile = { -readonly [K in keyof DiffFile]: DiffFile[K] } & {
  readonly lines: DiffLine[];
  readonly old: { at: number; left: number };
  readonly now: { at: number; left: number };
};

const note = (text: string): DiffLine => ({ kind: "note", number: null, text });

const openFile = (from: string | null, to: string | null): OpenFile => ({
  from,
  to,
  isLink: false,
  lines: [],
  old: { at: 1, left: 0 },
  now: { at: 1, left: 0 },
});

/**
 * The file that a line begins; null: it begins none. Both names are the same there; of a move, `rename` lines follow.
 */
function startFile(line: string): OpenFile | null {
  const [, kind, folder = ""] = /^(new|deleted) folder (.+)$/.exec(line) ?? [];
  if (kind !== undefined) return kind === "new" ? openFile(null, folder) : openFile(folder, null);
  const [, names] = /^diff --git (.+)$/.exec(line) ?? [];
  if (names === undefined) return null;
  const name = names.slice((names.length + 1) / 2).replace(/^("?)b\//, "$1");
  return openFile(name, name);
}

function openHunk(
  { lines, old, now }: OpenFile,
  [oldAt, oldCount = "1", newAt, newCount = "1"]: readonly string[],
): void {
  const skipped = Number(newAt) - now.at;
  if (now.at > 1 && skipped > 0) lines.push({ kind: "skip", number: null, text: counted(skipped, "unchanged line") });
  Object.assign(old, { at: Number(oldAt), left: Number(oldCount) });
  Object.assign(now, { at: Number(newAt), left: Number(newCount) });
}

type Heading = readonly [RegExp, (file: OpenFile, words: readonly string[]) => void];
const headings: readonly Heading[] = [
  [/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/, openHunk],
  [/^\\ (.+)/, ({ lines }, [text = ""]) => lines.push(note(text.toLowerCase()))],
  [/^Binary /, ({ lines }) => lines.push(note("binary"))],
  [/^new mode 100(7)?/, ({ lines }, [runs]) => lines.push(note(runs ? "executable now" : "no longer executable"))],
  [/^rename from (.+)/, (file, [name = ""]) => Object.assign(file, { from: name })],
  [/^rename to (.+)/, (file, [name = ""]) => Object.assign(file, { to: name })],
  [/^new file mode (12)?/, (file, [link]) => Object.assign(file, { from: null, isLink: link !== undefined })],
  [/^deleted file mode (12)?/, (file, [link]) => Object.assign(file, { to: null, isLink: link !== undefined })],
];

function readHeading(file: OpenFile, line: string): void {
  for (const [pattern, read] of headings) {
    const found = pattern.exec(line);
    if (found !== null) read(file, found.slice(1));
  }
}

function readLine({ lines, old, now }: OpenFile, line: string): void {
  const kind = line.startsWith("+") ? "add" : line.startsWith("-") ? "delete" : "same";
  lines.push({ kind, number: kind === "delete" ? old.at : now.at, text: line.slice(1) });
  for (const side of kind === "add" ? [now] : kind === "delete" ? [old] : [old, now]) {
    side.at += 1;
    side.left -= 1;
  }
}

/** The files of a diff in its order. Names stay quoted as the diff has them. */
export function readDiff(diff: string): readonly DiffFile[] {
  const files: OpenFile[] = [];
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const file = files.at(-1);
    const isContent = file !== undefined && (file.old.left > 0 || file.now.left > 0) && !line.startsWith("\\");
    const started = isContent ? null : startFile(line);
    if (started !== null) files.push(started);
    else if (isContent) readLine(file, line);
    else if (file !== undefined) readHeading(file, line);
  }
  return files;
}
