/** `@path` in a message: the files the person names. Only what they typed counts, never what a model wrote. */
import type { RelPath } from "../core/path.ts";
import type { Workspace } from "../core/ports.ts";

/** The `@` of a mention, as a pattern: where a word begins; languages that write without blanks need none before it. */
export const mentionMark = String.raw`(?<=^|[\s(]|[^\x00-\x7f])@`;

const mention = new RegExp(`${mentionMark}(?:"([^"]+)"|(\\S+))`, "g");

/** What may stand behind a path and be none of it; in text without blanks, all that follows. */
const endings = [/$/, /\p{P}+$/u, /[，。、；：！？）」』】].*$/s, /[^!-~].*$/s];

async function findFile(workspace: Workspace, text: string): Promise<RelPath | null> {
  const path = workspace.path(text, "read");
  const blob = await workspace.read(path);
  return blob?.kind === "file" ? path : null;
}

/**
 * The named files, each once. A word behind `@` that names no file is a word.
 * Throws path_refused for a denied one, with its reason.
 */
export async function findMentions(workspace: Workspace, text: string): Promise<readonly RelPath[]> {
  const found = new Set<RelPath>();
  for (const [, quoted, bare = ""] of text.matchAll(mention)) {
    const name = quoted ?? bare;
    const names = new Set(endings.map((ending) => name.replace(ending, "") || name));
    for (const each of names) {
      const path = await findFile(workspace, each);
      if (path === null) continue;
      found.add(path);
      break;
    }
  }
  return [...found];
}
