/** What paths of a project hold, as a session knows it, and the names of those that somebody else changed. */
import { resolve } from "node:path";
import { digest } from "../../core/digest.ts";
import { orNull, toPaiError } from "../../core/error.ts";
import type { SentFile } from "../../core/event.ts";
import { parentOf, type RelPath } from "../../core/path.ts";
import type { Workspace } from "../../core/ports.ts";
import { nameSome } from "../../core/suggest.ts";
import { entryAt } from "../../system/entry-at.ts";
import { folderWords, heldIn, type Written } from "../../workspace/journal/run-history.ts";

/** How many paths are named. */
export const maxNamed = 10;

/** What a path holds now; null: nothing; undefined: it may not be read. `limit`: bytes of a file that is read. */
export async function heldAt(
  workspace: Workspace,
  path: string,
  limit = Number.POSITIVE_INFINITY,
): Promise<string | null | undefined> {
  try {
    const blob = await workspace.read(workspace.path(path, "read"), limit);
    return heldIn(blob?.kind === "file" ? { ...blob, hash: digest(blob.bytes), size: blob.bytes.length } : blob);
  } catch (thrown) {
    if (toPaiError(thrown).code === "path_refused") return undefined;
    // Below what is a file now there is nothing; a pipe is there.
    const beside = await workspace.list(parentOf(path as RelPath)).catch(() => []);
    return beside.some((entry) => entry.path === path) ? "something that cannot be read" : null;
  }
}

/** What a file that is shown just now holds: its mode is that of the disk. */
export function heldShown(root: string, { path, sha256, bytes }: SentFile): string | null {
  const mode = orNull(() => entryAt(resolve(root, path)))?.mode;
  return mode === undefined ? sha256 : heldIn({ kind: "file", hash: sha256, size: bytes, mode });
}

/** The SHA-256 in what is known of a path; null: the path holds no file. */
export const digestIn = (held: string | null | undefined): string | null =>
  /^[0-9a-f]{64}/.exec(held ?? "")?.[0] ?? null;

/** What is known of a file besides its digest: "executable", "not executable"; "": nobody knows. */
const modeIn = (held: string | null): string => (digestIn(held) === null ? "" : (held?.slice(65) ?? ""));

/** Whether a path holds what was known of it. */
export const isStill = (held: string | null | undefined, now: string | null): boolean =>
  now === held || (held !== null && digestIn(now) === held);

/** A path that somebody else changed: what it held, what it holds, and where what is gone lies now. */
interface Other {
  readonly path: string;
  readonly held: string | null;
  readonly now: string | null;
  readonly place: string | undefined;
}

/** The path, with what there is now instead of a file, or instead of what it was. */
function nameOther({ path, held, now, place }: Other): string {
  if (now !== null && digestIn(now) === null) return `${path} (${now} now)`;
  const text = digestIn(held) === digestIn(now) ? "" : "another text, ";
  if (now !== null) return ["", modeIn(now)].includes(modeIn(held)) ? path : `${path} (${text}${modeIn(now)} now)`;
  if (held === folderWords) return `${path}/ (no folder now)`;
  return `${path} (no file now${place === undefined ? "" : `; ${place} holds the same`})`;
}

/** Whether pai left a path otherwise than it was known, too; what it took back is as it was. */
function isOursToo({ path, held }: Other, written: readonly Written[]): boolean {
  const textIn = (each: string | null) => digestIn(each) ?? each;
  const steps = written.filter((each) => each.path === path);
  const isChain = steps.every(
    ({ before }, at) => textIn(before) === textIn(at === 0 ? held : (steps[at - 1]?.after ?? null)),
  );
  return steps.length > 0 && !(isChain && textIn(steps.at(-1)?.after ?? null) === textIn(held));
}

/** Names the files that somebody else changed, and apart from them those that pai changed in the same time, too. */
export function sayChanged(others: readonly Other[], written: readonly Written[]) {
  const say = (how: string, isOurs: boolean) => {
    const found = others.filter((other) => isOursToo(other, written) === isOurs);
    return found.length === 0 ? [] : [`changed${how}: ${nameSome(found.map(nameOther), maxNamed)}`];
  };
  return [...say(", not by you", false), ...say(" by somebody else, too", true)];
}
