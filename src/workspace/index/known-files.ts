/** Compares the files that the index knows with the disk: which entries still hold, and which files must be read. */
import { PaiError } from "../../core/error.ts";
import { nameOf, parentOf, type RelPath } from "../../core/path.ts";
import type { Entry } from "../../core/ports.ts";
import type { Root } from "../confine.ts";
import { openIgnore } from "../ignore.ts";
import type { PathRules } from "../path-policy.ts";
import { list, walkNow } from "../scan.ts";
import type { FileFacts, FolderFacts, IndexContents } from "./index-file.ts";
import { isSame, openStamps } from "./stamp.ts";
import type { KnownFile } from "./tally-index.ts";

export interface KnownFiles {
  /** In walk order. */
  readonly entries: readonly Entry[];
  /** Files whose words are in the index. */
  readonly known: readonly KnownFile[];
  /** Files that must be read. */
  readonly fresh: readonly RelPath[];
  /** Every folder and file was checked, and no folder has changed. */
  readonly isWhole: boolean;
}

/** With more changed folders than this, a walk is just as fast. */
const maxDirty = 100;
/** With more files than this, only folders are checked before the first request; changed files are found after it. */
const maxStamped = 20_000;
const rulesFile = /^\.(?:git|pai)ignore$/;

const joinPath = (folder: string, name: string) => (folder === "" ? name : `${folder}/${name}`) as RelPath;
const kinds = { d: "folder", l: "link", s: "special" } as const;

/** The name of a child as the index stores it. */
export const markOf = ({ kind, path }: Entry): string => {
  const name = nameOf(path);
  return kind === "file" ? name : `/${kind === "folder" ? "d" : kind === "link" ? "l" : "s"}${name}`;
};

function entryOf(folder: string, mark: string, files: FolderFacts["files"]): Entry {
  if (!mark.startsWith("/")) {
    return { path: joinPath(folder, mark), kind: "file", size: files.get(mark)?.size ?? 0, target: null };
  }
  const kind = kinds[mark.charAt(1) as keyof typeof kinds] ?? "special";
  return { path: joinPath(folder, mark.slice(2)), kind, size: 0, target: null };
}

/** Children of a changed folder as a walk would give them, with everything below new folders. */
function relist(
  root: Root,
  rules: PathRules,
  folder: string,
  before: FolderFacts,
): { children: Entry[]; below: Map<string, Entry[]> } {
  const ignored = openIgnore(root, folder as RelPath);
  const children = list(root, folder as RelPath, rules).filter(
    ({ path, kind }) => !ignored.ignores(nameOf(path), kind === "folder"),
  );
  const known = new Set(before.names);
  const below = new Map<string, Entry[]>();
  for (const child of children) {
    if (child.kind !== "folder" || known.has(markOf(child))) continue;
    below.set(child.path, [...walkNow(root, child.path, rules)]);
  }
  return { children, below };
}

/**
 * Checks the index against the disk: each folder, and each file if there are at most `maxStamped`. null: so much has
 * changed, or an ignore file has, that the folders must be walked.
 */
export function checkFiles(root: Root, rules: PathRules, contents: IndexContents): KnownFiles | null {
  const stampOf = openStamps(root);
  const entries: Entry[] = [];
  const known: KnownFile[] = [];
  const fresh: RelPath[] = [];
  let [dirty, total] = [0, 0];
  for (const { files } of contents.folders.values()) total += files.size;
  const areStamped = total <= maxStamped;

  const takeFile = (entry: Entry, facts: FileFacts | undefined): boolean => {
    entries.push(entry);
    const now = facts === undefined || areStamped ? stampOf(entry.path) : null;
    const same = facts !== undefined && (now === null ? !areStamped : isSame(facts, now));
    if (same) known.push({ path: entry.path, facts });
    else {
      if (rulesFile.test(nameOf(entry.path))) return false;
      if (now?.kind === "file") fresh.push(entry.path);
    }
    return true;
  };

  const takeFolder = (folder: string): boolean => {
    const facts = contents.folders.get(folder);
    const now = stampOf(folder);
    if (facts === undefined || now?.kind !== "folder") return false;
    const isClean = facts.changed >= 0 && facts.changed === now.changed && facts.inode === now.inode;
    if (isClean)
      return takeChildren(
        facts.names.map((mark) => entryOf(folder, mark, facts.files)),
        facts,
        new Map(),
      );
    dirty += 1;
    if (dirty > maxDirty) return false;
    const { children, below } = relist(root, rules, folder, facts);
    const had = new Set([...facts.files.keys()].filter((name) => rulesFile.test(name)));
    const has = new Set(children.map(({ path }) => nameOf(path)).filter((name) => rulesFile.test(name)));
    if (had.size !== has.size || [...had].some((name) => !has.has(name))) return false;
    return takeChildren(children, facts, below);
  };

  const takeChildren = (
    children: readonly Entry[],
    facts: FolderFacts,
    below: ReadonlyMap<string, readonly Entry[]>,
  ): boolean =>
    children.every((child) => {
      if (child.kind === "file") return takeFile(child, facts.files.get(nameOf(child.path)));
      entries.push(child);
      if (child.kind !== "folder") return true;
      const inside = below.get(child.path);
      if (inside === undefined) return takeFolder(child.path);
      return inside.every((entry) => {
        if (entry.kind === "file") return takeFile(entry, undefined);
        entries.push(entry);
        return true;
      });
    });

  try {
    return takeFolder("") ? { entries, known, fresh, isWhole: areStamped && dirty === 0 } : null;
  } catch (thrown) {
    // A folder is gone meanwhile, became a link, or is closed to this user: a walk goes on without it.
    if (thrown instanceof PaiError) return null;
    throw thrown;
  }
}

/** For a walk: returns the index entry of an unchanged file; null: the file must be read. */
export function openMatch(root: Root, contents: IndexContents): (path: RelPath) => FileFacts | null {
  const stampOf = openStamps(root);
  return (path) => {
    const facts = contents.folders.get(parentOf(path))?.files.get(nameOf(path));
    const now = facts === undefined ? null : stampOf(path);
    return facts !== undefined && now !== null && isSame(facts, now) ? facts : null;
  };
}
