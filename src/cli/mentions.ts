/** `@path` in a message: the files the person names. Only what they typed counts, never what a model wrote. */
import type { RelPath } from "../core/path.ts";
import type { Workspace } from "../core/ports.ts";

const mention = /(?:^|\s)@(?:"([^"]+)"|(\S+))/g;

async function findFile(workspace: Workspace, text: string): Promise<RelPath | null> {
  const path = workspace.path(text, "read");
  const blob = await workspace.read(path);
  return blob?.kind === "file" ? path : null;
}

/**
 * The named files, each once. A word behind `@` that names no file is a word. Punctuation after a path is none of it.
 * Throws path_refused for a denied one, with its reason.
 */
export async function findMentions(workspace: Workspace, text: string): Promise<readonly RelPath[]> {
  const found = new Set<RelPath>();
  for (const [, quoted, bare = ""] of text.matchAll(mention)) {
    const name = quoted ?? bare;
    const path =
      (await findFile(workspace, name)) ?? (await findFile(workspace, name.replace(/[,.;:!?)\]}'"]+$/, "") || name));
    if (path !== null) found.add(path);
  }
  return [...found];
}
