/** Reads an editor's message as a task: its text, the files it refers to, and text sent along. */
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { PaiError } from "../core/error.ts";

export interface EditorMessage {
  readonly text: string;
  /** Relative to the root, each once. */
  readonly mentions: readonly string[];
  /** Parts of files and texts without a file; null: none. */
  readonly context: string | null;
  /** By path: texts of files that came with the message, as the editor has them. */
  readonly held: ReadonlyMap<string, string>;
}

/** The limit of a task file, too. A longer text fits into no model, and would stay in the session. */
const maxCharacters = 8 * 1024 * 1024;

/** The path of a `file:` URI relative to the root; null: it is not a file. Throws path_refused for one outside. */
function pathOf(uri: string, roots: readonly string[]): string | null {
  const url = URL.parse(uri);
  const absolute = url?.protocol === "file:" ? decodePath(url.pathname) : uri.startsWith("/") ? uri : null;
  if (absolute === null) return null;
  const root = roots.find((each) => absolute.startsWith(`${each}/`));
  if (root !== undefined) return absolute.slice(root.length + 1);
  throw new PaiError("path_refused", `${absolute} is outside ${roots[0]}`, {
    hint: "open a session in the folder of that file",
  });
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * Reads the blocks of a message. `roots`: the session's folder, as the editor spells it and as its real path. Throws
 * path_refused for a file outside of it, usage for a message without words, one that is too long, and blocks of a kind
 * that pai cannot read.
 */
export function readPrompt(blocks: readonly ContentBlock[], roots: readonly string[]): EditorMessage {
  const said: string[] = [];
  const mentions = new Set<string>();
  const context: string[] = [];
  const held = new Map<string, string>();

  function readResource(uri: string, text: string | null): void {
    const path = pathOf(uri, roots);
    if (path === null) {
      if (text !== null) context.push(`From ${uri}:\n${text}`);
      else said.push(uri);
      return;
    }
    mentions.add(path);
    said.push(`@${path}`);
    if (text === null) return;
    if (uri.includes("#")) context.push(`The part of ${path} that the user selected:\n${text}`);
    else held.set(path, text);
  }

  for (const block of blocks) {
    if (block.type === "text") said.push(block.text);
    else if (block.type === "resource_link") readResource(block.uri, null);
    else if (block.type === "resource")
      readResource(block.resource.uri, "text" in block.resource ? block.resource.text : null);
    else throw new PaiError("usage", `pai reads text and files, not ${block.type}`);
  }
  const text = joinWords(said);
  if (text === "") throw new PaiError("usage", "the message is empty");
  if (context.reduce((sum, part) => sum + part.length, text.length) > maxCharacters)
    throw new PaiError("usage", "the message is longer than 8 MiB", { hint: "link files instead of pasting them" });
  return { text, mentions: [...mentions], context: context.length === 0 ? null : context.join("\n\n"), held };
}

/** Joins the pieces of a message: editors cut a sentence where it names a file. */
function joinWords(said: readonly string[]): string {
  return said
    .reduce((all, each) => (all === "" || /\s$/.test(all) || /^\s/.test(each) ? all + each : `${all} ${each}`), "")
    .trim();
}
