/** Reads the files that a command names. */
import type { Blob } from "../../core/change.ts";
import { namesInCommand } from "../../core/command/command-files.ts";
import { mapTexts } from "../../core/map-texts.ts";
import type { Json } from "../../core/model.ts";
import { nameOf, type RelPath } from "../../core/path.ts";
import type { View } from "../../core/ports.ts";
import { breathe } from "../breathe.ts";
import type { Run } from "../run.ts";

/** A name in a command, resolved as a shell in the root would: relative to the root, without `..`. */
function relativeTo(root: string, name: string): string {
  const parts: string[] = [];
  for (const part of name.replace(`${root}/`, "").split("/")) {
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  return parts.join("/");
}

/** The names that are paths of the workspace and may be read. */
export function parsePaths({ workspace }: Run, names: readonly string[]): readonly RelPath[] {
  return names.flatMap((name) => {
    try {
      return [workspace.path(relativeTo(workspace.root, name), "read")];
    } catch {
      return [];
    }
  });
}

const targetOf = (path: RelPath, blob: Blob): readonly string[] => {
  if (blob.kind !== "link") return [];
  return [blob.target.startsWith("/") ? blob.target : `${path}/../${blob.target}`];
};

/** The files of these names, and the links that lead to them. `limit`: the bytes of the next file at most. */
async function* eachFile(run: Run, view: View, names: readonly string[], limit?: () => number) {
  const paths = new Set(parsePaths(run, names));
  for (const path of paths) {
    await breathe(run.signal);
    const blob = await view.read(path, limit?.()).catch(() => null);
    if (blob === null || blob.kind === "folder") continue;
    yield { path, blob };
    for (const next of parsePaths(run, targetOf(path, blob))) paths.add(next);
  }
}

/** The files of these names, and the links that lead to them. */
export async function readFiles(run: Run, view: View, names: readonly string[]): Promise<ReadonlyMap<RelPath, Blob>> {
  const files = new Map<RelPath, Blob>();
  for await (const { path, blob } of eachFile(run, view, names)) files.set(path, blob);
  return files;
}

/** For one command: the names that are tried, the patterns among them, the files that are read and their bytes. */
const learned = { names: 500, patterns: 8, files: 20, bytes: 2 ** 20 } as const;
const isPattern = (name: string) => /[*?[{]/.test(name);

async function namesLike({ workspace }: Run, folder: string, pattern: string): Promise<readonly string[]> {
  const glob = new Bun.Glob(pattern);
  const entries = await workspace.list(workspace.path(folder === "" ? "." : folder, "list")).catch(() => []);
  return entries.flatMap(({ path }) => (glob.match(nameOf(path)) ? [path] : []));
}

/** The paths that a shell would put in the place of a pattern, as many as are read. */
async function expand(run: Run, pattern: string): Promise<readonly string[]> {
  let found: readonly string[] = [""];
  for (const part of relativeTo(run.workspace.root, pattern).split("/")) {
    const below: string[] = [];
    for (const folder of found) {
      if (isPattern(part)) below.push(...(await namesLike(run, folder, part)));
      else below.push(folder === "" ? part : `${folder}/${part}`);
    }
    found = below.slice(0, learned.files);
  }
  return found;
}

/**
 * Lets the veil learn the secrets of the files that a command or a call names, before its output is hidden: it may
 * print a value without the word that tells of it. Closed files are not read: commands do not see them either.
 */
export async function learnNamed(run: Run, command: string): Promise<void> {
  const names: string[] = [];
  let patterns = 0;
  for (const name of namesInCommand(command).slice(0, learned.names)) {
    if (!isPattern(name)) names.push(name);
    else if (++patterns <= learned.patterns) names.push(...(await expand(run, name).catch(() => [])));
  }
  let [files, left] = [0, learned.bytes as number];
  for await (const { blob } of eachFile(run, run.workspace, names, () => left)) {
    if (blob.kind !== "file") continue;
    left -= blob.bytes.length;
    run.veil.hideBytes(blob.bytes);
    if (++files >= learned.files) break;
  }
}

/** All texts of a call's input, as the words of one command. */
export function textsIn(input: Json): string {
  const texts: string[] = [];
  mapTexts(input, (text) => {
    texts.push(text);
    return text;
  });
  return texts.join("\n");
}
