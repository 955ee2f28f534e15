/** The actions that change files and folders. They only propose; the run decides. */
import { relative } from "node:path";
import * as z from "zod/mini";
import { type Blob, type Change, sameBlob } from "../core/change.ts";
import { textOfBlob } from "../core/diff.ts";
import { applyEdits } from "../core/edit/apply-edits.ts";
import { findNewMark } from "../core/edit/marks.ts";
import { linkRefused, PaiError } from "../core/error.ts";
import { restoreHidden } from "../core/invisible.ts";
import type { Json } from "../core/model.ts";
import { foldersAbove, parentOf, type RelPath, resolveFrom } from "../core/path.ts";
import type { Proposal, Stage } from "../core/ports.ts";
import { type Action, complain, defineAction, unusableFile } from "./read-input.ts";

const newFileMode = 0o666;
const newFolderMode = 0o777;
/** Bytes that one RM, MV or COPY may take into the journal. */
const maxJournalBytes = 256 * 1024 * 1024;

const change = (path: RelPath, before: Blob | null, after: Blob | null, from: RelPath | null = null): Change => ({
  path,
  before,
  after,
  from,
});
const propose = (changes: readonly Change[], text: string): Proposal => ({ kind: "change", changes, text });
const already = (text: string): Proposal => propose([], text);

/** Proposes the changes, and before them the folders that `path` needs; a complaint when a file is in the way. */
async function proposeAt(stage: Stage, path: RelPath, changes: readonly Change[], text: string) {
  const made: Change[] = [];
  for (const folder of foldersAbove(path)) {
    const parent = stage.path(folder, "folder");
    const blob = await stage.read(parent);
    if (blob?.kind === "folder") break;
    if (blob !== null) return unusableFile(`${parent} is not a folder, so ${path} cannot be made`);
    made.unshift(change(parent, null, { kind: "folder", mode: newFolderMode }));
  }
  return propose([...made, ...changes], text);
}

const blockForm =
  "blocks of <<<<<<< SEARCH, the old lines, =======, the new lines, >>>>>>> REPLACE; or the whole file with WRITE";

const isScript = (bytes: Uint8Array): boolean => bytes[0] === 0x23 && bytes[1] === 0x21;
const neighbours = { files: 20, bytes: 256 * 1024 } as const;

/** The mode of a new file: one that begins with `#!` may be run where most others beside it may. */
async function modeOfNew(stage: Stage, path: RelPath, bytes: Uint8Array): Promise<number> {
  if (!isScript(bytes)) return newFileMode;
  const entries = await stage.list(parentOf(path)).catch(() => []);
  let [runnable, all] = [0, 0];
  for (const entry of entries.filter(({ kind }) => kind === "file").slice(0, 5 * neighbours.files)) {
    if (all === neighbours.files || entry.size > neighbours.bytes) continue;
    const blob = await stage.read(entry.path, neighbours.bytes).catch(() => null);
    if (blob?.kind !== "file" || !isScript(blob.bytes)) continue;
    all += 1;
    if ((blob.mode & 0o111) !== 0) runnable += 1;
  }
  return 2 * runnable > all ? newFolderMode : newFileMode;
}

async function proposeFile(stage: Stage, path: RelPath, before: Blob | null, bytes: Uint8Array, text: string) {
  const mark = findNewMark(
    textOfBlob(before) ?? "",
    textOfBlob({ kind: "file", bytes, mode: newFileMode }) ?? Buffer.from(bytes).toString("latin1"),
  );
  if (mark !== null)
    return complain(
      "edit_failed",
      `${JSON.stringify(mark)} looks like a mark of an edit block, so it is not written into ${path}, which holds none\nLeave it out, or put another character before it if the file must show it. A script sends edits as ${blockForm}.`,
    );
  const mode = before?.kind === "file" ? before.mode : await modeOfNew(stage, path, bytes);
  return proposeAt(stage, path, [change(path, before, { kind: "file", bytes, mode })], text);
}

export const write = defineAction("WRITE", {
  input: () => z.object({ path: z.string(), content: z.string() }),
  async propose({ path: text, content }, stage) {
    const path = stage.path(text, "write");
    const before = await stage.read(path);
    const bytes = new TextEncoder().encode(restoreHidden(content, textOfBlob(before) ?? ""));
    if (before === null) return proposeFile(stage, path, before, bytes, `new, ${bytes.length} bytes`);
    if (before.kind === "link") throw linkRefused(path, before.target);
    if (before.kind !== "file") return unusableFile(`${path} is a folder, not a file`);
    if (Buffer.compare(before.bytes, bytes) === 0) return already("already there, nothing to do");
    if (stage.shown(path) === null) {
      return unusableFile(
        `${path} exists and was not shown to you whole as it is now: read it first, or send edits of it`,
      );
    }
    return proposeFile(stage, path, before, bytes, `replaced, ${bytes.length} bytes`);
  },
});

export const modify = defineAction("MODIFY", {
  input: () =>
    z.object({
      path: z.string(),
      edits: z.array(z.object({ search: z.string(), replace: z.string(), all: z._default(z.boolean(), false) })),
    }),
  tool: {
    input: () => z.object({ path: z.string(), old_str: z.string(), new_str: z.string(), all: z.optional(z.boolean()) }),
    toInput(written) {
      const { path = null, old_str = null, new_str = null, all = false } = written as Readonly<Record<string, Json>>;
      return { path, edits: [{ search: old_str, replace: new_str, all }] };
    },
  },
  async propose({ path: text, edits }, stage) {
    const path = stage.path(text, "write");
    const before = await stage.read(path);
    if (before?.kind === "link") throw linkRefused(path, before.target);
    if (before?.kind === "folder") return unusableFile(`${path} is a folder, not a file`);
    if (edits.length === 0)
      return complain("edit_failed", `it holds no complete SEARCH/REPLACE block\nSend ${blockForm}.`);
    const original = textOfBlob(before) ?? "";
    const blocks = edits.map(({ search, replace, all }) => ({
      search: restoreHidden(search, original),
      replace: restoreHidden(replace, original),
      ...(all ? { all: true as const } : {}),
    }));
    const result = applyEdits({ path, now: before?.bytes ?? null, shown: stage.shown(path), blocks });
    if (result.kind === "refused")
      return complain(
        "edit_failed",
        edits.length === 1
          ? result.text
          : `edit ${result.block} of ${edits.length}: ${result.text}\nNone of the ${edits.length} blocks is done: send all of them again.`,
      );
    if (result.kind === "already") return already("already there, nothing to do");
    const count = `${edits.length} ${edits.length === 1 ? "edit" : "edits"}`;
    return proposeFile(stage, path, before, result.bytes, [count, ...result.notes].join("; "));
  },
});

export const mkdir = defineAction("MKDIR", {
  input: () => z.object({ path: z.string() }),
  async propose({ path: text }, stage) {
    const path = stage.path(text, "folder");
    const blob = await stage.read(path);
    if (blob?.kind === "folder") return already("already there, nothing to do");
    if (blob !== null) return unusableFile(`${path} is a ${blob.kind}, not a folder`);
    return proposeAt(stage, path, [change(path, null, { kind: "folder", mode: newFolderMode })], "folder made");
  },
});

export const touch = defineAction("TOUCH", {
  input: () => z.object({ path: z.string() }),
  async propose({ path: text }, stage) {
    const path = stage.path(text, "write");
    const blob = await stage.read(path);
    if (blob?.kind === "file") return already("already there, content untouched");
    if (blob?.kind === "link") throw linkRefused(path, blob.target);
    if (blob !== null) return unusableFile(`${path} is a folder, not a file`);
    return proposeFile(stage, path, null, new Uint8Array(), "new, empty");
  },
});

/** A path and everything below it, folders before their content; null: it does not exist. Throws path_refused. */
async function collect(
  stage: Stage,
  path: RelPath,
  use: "read" | "delete" | "move",
): Promise<readonly (readonly [RelPath, Blob])[] | null> {
  const blob = await stage.read(path, maxJournalBytes);
  if (blob === null) return null;
  const found: (readonly [RelPath, Blob])[] = [[path, blob]];
  if (blob.kind !== "folder") return found;
  let bytes = 0;
  for (const entry of await stage.inside(path)) {
    const below = stage.path(entry, use);
    const content = await stage.read(below, maxJournalBytes);
    if (content === null) continue;
    if (content.kind === "file") bytes += content.bytes.length;
    if (bytes > maxJournalBytes)
      throw new PaiError(
        "file_unusable",
        `${path} holds more than ${maxJournalBytes / 1024 / 1024} MiB: too much to take back later; do it by hand`,
      );
    found.push([below, content]);
  }
  return found;
}

const withEntries = (found: readonly unknown[]) => (found.length === 1 ? "" : ` with ${found.length - 1} entries`);

export const rm = defineAction("RM", {
  input: () => z.object({ path: z.string() }),
  async propose({ path: text }, stage) {
    const path = stage.path(text, "delete");
    const found = await collect(stage, path, "delete");
    if (found === null) return already("not there, nothing to delete");
    const changes = found.map(([entry, blob]) => change(entry, blob, null));
    return propose(changes, `deleted${withEntries(found)}`);
  },
});

export const mv = defineAction("MV", {
  input: () => z.object({ from: z.string(), to: z.string() }),
  async propose({ from: fromText, to: toText }, stage) {
    const from = stage.path(fromText, "move");
    const to = stage.path(toText, "move");
    if (to === from || to.startsWith(`${from}/`)) return unusableFile(`${from} cannot be moved into itself`);
    const found = await collect(stage, from, "move");
    const moved = found?.[0]?.[1];
    if (moved?.kind === "link") throw linkRefused(from, moved.target);
    const target = await stage.read(to);
    if (found === null)
      return target === null ? unusableFile(`${from} does not exist`) : already("already moved, nothing to do");
    if (target !== null) return unusableFile(`${to} exists: nothing is moved over it`);
    const arrivals = found.map(([path, blob]) => {
      const arrived = stage.path(to + path.slice(from.length), "move");
      return change(arrived, null, blob, path);
    });
    const departures = found.map(([path, blob]) => change(path, blob, null)).reverse();
    return proposeAt(stage, to, [...arrivals, ...departures], `moved${withEntries(found)}`);
  },
});

export const copy = defineAction("COPY", {
  input: () => z.object({ from: z.string(), to: z.string() }),
  async propose({ from: fromText, to: toText }, stage) {
    const from = stage.path(fromText, "read");
    const to = stage.path(toText, "write");
    if (to === from || to.startsWith(`${from}/`)) return unusableFile(`${from} cannot be copied into itself`);
    const found = await collect(stage, from, "read");
    if (found === null) return unusableFile(`${from} does not exist`);
    for (const [path, blob] of found) if (blob.kind === "link") throw linkRefused(path, blob.target);
    const target = await stage.read(to);
    if (found.length === 1 && sameBlob(found[0]?.[1] ?? null, target)) return already("already there, nothing to do");
    if (target !== null) return unusableFile(`${to} exists: nothing is copied over it`);
    const copies = found.map(([path, blob]) => change(stage.path(to + path.slice(from.length), "write"), null, blob));
    return proposeAt(stage, to, copies, `copied${withEntries(found)} from ${from}`);
  },
});

const input = () => z.object({ path: z.string().check(z.minLength(1)), to: z.string().check(z.minLength(1)) });

/** How the tool-loop writes the value: by a name of its own. */
const toolOf = (name: string): NonNullable<Action["tool"]> => ({
  input: () => z.object({ path: z.string(), [name]: z.string() }),
  toInput(written) {
    const { path = null, [name]: to = null } = written as Readonly<Record<string, Json>>;
    return { path, to };
  },
});

/** The way from a folder to a path: relative, or absolute where that leads out of the project. */
const wayFrom = (folder: RelPath, path: RelPath): string =>
  path.startsWith("/") && !folder.startsWith("/") ? path : relative(`/${folder}`, `/${path}`);

const top = "" as RelPath;

/** What a link is to lead to: relative to the link, or else to the root, as models also write it. Throws path_refused. */
async function findTarget(stage: Stage, folder: RelPath, text: string): Promise<RelPath | null> {
  const spellings = text.startsWith("/") ? [text] : [resolveFrom(folder, text), resolveFrom(top, text)];
  if (spellings.every((each) => each === null))
    throw new PaiError("path_refused", `${text} leads out of the project: a link may only lead to what is in it`);
  for (const each of spellings) {
    if (each === null || each === "") continue;
    const path = stage.path(each, "read");
    if ((await stage.read(path).catch(() => undefined)) !== null) return path;
  }
  return null;
}

export const link = defineAction("LINK", {
  input,
  tool: toolOf("target"),
  async propose({ path: text, to }, stage) {
    const path = stage.path(text, "move");
    const folder = parentOf(path);
    const target = await findTarget(stage, folder, to);
    if (target === null) return unusableFile(`${to} does not exist: a link may only lead to what is there`);
    if (folder.startsWith("/") && !target.startsWith("/"))
      return unusableFile(`${path} is outside the project: it may not lead into it`);
    if (target === path) return unusableFile(`${path} cannot lead to itself`);
    const way = wayFrom(folder, target);
    const before = await stage.read(path, 0).catch(() => undefined);
    if (before?.kind === "link" && before.target === way) return already("already there, nothing to do");
    if (before !== null) return unusableFile(`${path} exists: nothing is linked over it; delete it first`);
    return proposeAt(stage, path, [change(path, null, { kind: "link", target: way })], `leads to ${target}`);
  },
});

export const mode = defineAction("MODE", {
  input,
  tool: toolOf("mode"),
  async propose({ path: text, to }, stage) {
    if (!/^0?[0-7]{3}$/.test(to))
      return unusableFile(`${to} is no mode: three octal digits, 000 to 777, without set-id and sticky bits`);
    const path = stage.path(text, "write");
    const before = await stage.read(path);
    if (before === null) return unusableFile(`${path} does not exist`);
    if (before.kind !== "file") return unusableFile(`${path} is a ${before.kind}: only files have their mode set`);
    const wanted = Number.parseInt(to, 8);
    if ((before.mode & 0o777) === wanted) return already("already so, nothing to do");
    // The diff says the old mode; of a file that is not written yet nobody knows it.
    return propose([{ ...change(path, before, { ...before, mode: wanted }), exactMode: true }], "set");
  },
});
