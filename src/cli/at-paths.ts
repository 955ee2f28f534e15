/** The files that the user names by `@path` in a message. Only typed text counts, never text of a model. */
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { approvalWording } from "../core/approval-wording.ts";
import { atPathsIn, looksLikePath } from "../core/at-paths.ts";
import { compressionOf } from "../core/compressed.ts";
import { orNull, PaiError, toPaiError } from "../core/error.ts";
import { nameOf, pathWithin, type RelPath } from "../core/path.ts";
import type { Workspace } from "../core/ports.ts";
import type { Decide, Notice } from "../core/question.ts";
import { suggest } from "../core/suggest.ts";
import { visibleLine } from "../ui/sanitize.ts";
import type { OpenedWorkspace } from "../workspace/open.ts";

export class RefusedMention extends PaiError {}

interface Refused {
  readonly why: string;
  readonly hint?: string | null;
}

type Found = RelPath | Refused | null;

const isRefused = (found: Found): found is Refused => typeof found === "object" && found !== null;

async function findFile(workspace: Workspace, text: string): Promise<Found> {
  if (text.startsWith("/") && !existsSync(text)) return null;
  try {
    const path = workspace.path(text.startsWith("../") ? resolve(workspace.root, text) : text, "read");
    if (compressionOf(path) !== null) return path;
    const blob = await workspace.read(path).catch((thrown) => {
      // A file that is too large to be held is shown by its ends.
      if (/larger than/.test(toPaiError(thrown).message)) return undefined;
      throw thrown;
    });
    if (blob === undefined) return path;
    if (blob?.kind === "link") {
      const target = realpathSync(resolve(workspace.root, path));
      const found = await findFile(workspace, target);
      return isRefused(found) ? { why: `it leads to ${target}`, hint: `name that: @${target}` } : found;
    }
    if (blob?.kind !== "file") return null;
    return blob.bytes.subarray(0, 8000).includes(0) ? { why: "it is not text" } : path;
  } catch (thrown) {
    const { message, hint } = toPaiError(thrown);
    return { why: message.replace(`${text}: `, ""), hint };
  }
}

/** All files of the project that the model may see. */
export async function findFiles(workspace: Workspace): Promise<readonly string[]> {
  const entries = await Array.fromAsync(workspace.walk("" as RelPath));
  return entries.flatMap(({ path, kind }) => (kind === "file" ? [path] : []));
}

async function findNear(workspace: Workspace, name: string): Promise<string | null> {
  const paths = await findFiles(workspace);
  const near = suggest(name, paths);
  if (near !== null) return near;
  const named = suggest(nameOf(name), paths.map(nameOf));
  return paths.find((path) => nameOf(path) === (named ?? nameOf(name))) ?? null;
}

/** The files that a text mentions, each once. Throws RefusedMention for a path that is missing, no text, or denied. */
export async function findMentions(workspace: Workspace, text: string): Promise<readonly RelPath[]> {
  const files = new Set<RelPath>();
  for (const names of atPathsIn(text)) {
    const found = await Promise.all(names.map((each) => findFile(workspace, each)));
    const file = found.find((each) => typeof each === "string");
    if (file !== undefined) files.add(file);
    else await refuseMistaken(workspace, names, found);
  }
  return [...files];
}

/** The absolute paths that a text mentions and that exist; those that begin with `../` count from `root`. */
export function absoluteMentions(text: string, root: string | null = null): readonly string[] {
  return atPathsIn(text).flatMap((names) => {
    const paths = names.map((name) => (root !== null && name.startsWith("../") ? resolve(root, name) : name));
    const found = paths.find((path) => path.startsWith("/") && existsSync(path));
    return found === undefined || found === "/" ? [] : [found];
  });
}

const isShown = (workspace: Workspace, path: string): boolean => orNull(() => workspace.path(path, "read")) !== null;

/** As `findMentions`; asks once whether the model may see a file outside of the project. Throws usage for a no. */
export async function askForMentions(
  { workspace, show }: Pick<OpenedWorkspace, "workspace" | "show">,
  text: string,
  decide: Decide,
): Promise<readonly RelPath[]> {
  for (const path of absoluteMentions(text, workspace.root)) {
    if (pathWithin(path, workspace.root) !== null || isShown(workspace, path)) continue;
    const { accept } = await decide({ kind: "scope", text: approvalWording.showOutside(path) });
    if (!accept) throw new PaiError("usage", `${visibleLine(path)} is not shown, and nothing was sent`);
    show(path);
  }
  return findMentions(workspace, text);
}

/** Where an answer in words mentions a file that cannot be shown, says so and asks again: no call is made for it. */
export const askUntilShown =
  (opened: OpenedWorkspace, decide: Decide, notify: (notice: Notice) => void): Decide =>
  async (question) => {
    for (;;) {
      const said = await decide(question);
      if (said.accept || said.feedback === null) return said;
      const wrong = await askForMentions(opened, said.feedback, decide).then(() => null, toPaiError);
      if (wrong === null) return said;
      const text = [wrong.message, ...(wrong.hint === null ? [] : [wrong.hint])].join("; ");
      notify({ level: "warning", code: "not_shown", text });
    }
  };

/** Throws RefusedMention, unless the names are those of a folder or none looks like a path. */
async function refuseMistaken(workspace: Workspace, names: readonly string[], found: readonly Found[]): Promise<void> {
  const refused = found.find(isRefused);
  const isBegun = await Promise.all(names.map((each) => isInFolder(workspace, each)));
  const name =
    names.find((each, at) => looksLikePath(each) || isBegun[at] === true) ?? names[found.findIndex(isRefused)];
  if (name === undefined || (await isFolder(workspace, names))) return;
  if (refused !== undefined)
    throw new RefusedMention("usage", `@${name} cannot be shown: ${refused.why}`, {
      hint: refused.hint ?? String.raw`name another file, or write \@ for a word that is not a file`,
    });
  const near = await findNear(workspace, name);
  throw new RefusedMention("usage", `no such file: ${name}`, {
    hint: near === null ? String.raw`write \@ for a word that is not a file` : `did you mean @${near}?`,
  });
}

/** Whether a name stands in a folder that is there, with an ending, of whatever kind, or as the beginning of a file's. */
const isInFolder = async (workspace: Workspace, name: string): Promise<boolean> =>
  /^[^/].*\/[^/]+$/.test(name) &&
  (await isFolder(workspace, [name.slice(0, name.lastIndexOf("/"))])) &&
  (/\.\w+$/.test(name) || (await findNear(workspace, name))?.startsWith(name) === true);

/** Whether one of the names is a folder. Mentioning a folder is allowed; the tree shows it. */
async function isFolder(workspace: Workspace, names: readonly string[]): Promise<boolean> {
  for (const name of names) {
    const blob = await Promise.resolve()
      .then(() => workspace.read(workspace.path(name.replace(/\/$/, ""), "read")))
      .catch(() => null);
    if (blob?.kind === "folder") return true;
  }
  return false;
}
