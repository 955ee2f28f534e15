/** Completion of a message with Tab: slash commands with their arguments, and paths after `@`. */
import { efforts } from "../../core/model.ts";
import type { Workspace } from "../../core/ports.ts";
import { knownModels } from "../../models/catalogue.ts";
import { modes } from "../../store/setting-table.ts";
import type { Completion } from "../../ui/prompt/editor.ts";
import { mentionMark } from "../at-paths.ts";
import { slashCommands } from "./slash.ts";

const maxOffered = 100;

/** Arguments of some commands. */
const followers = new Map<string, readonly string[]>([
  ["mode", modes],
  ["effort", [...efforts, "default"]],
  ["model", knownModels().map(({ provider, name }) => `${provider}:${name}`)],
]);

const begunMention = new RegExp(`${mentionMark}("[^"]*|\\S*)$`);

const quote = (name: string) => (name.endsWith("/") ? `"${name}` : `"${name}"`);

/**
 * Names in the typed folder, quoted if needed; a folder's quote stays open for what follows. Without ignored and denied
 * names.
 */
async function listPaths(workspace: Workspace, typed: string, quoted: boolean): Promise<readonly string[]> {
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1);
  const entries = await workspace.list(workspace.path(folder === "" ? "." : folder, "list"));
  return entries
    .map(({ path, kind }) => `${folder}${path.split("/").at(-1)}${kind === "folder" ? "/" : ""}`)
    .filter((name) => name.startsWith(typed))
    .map((name) => (quoted || /\s/.test(name) ? quote(name) : name))
    .slice(0, maxOffered);
}

/** What completion needs besides the workspace. */
export interface Known {
  /** Custom commands. */
  readonly own: () => Promise<readonly { readonly name: string }[]>;
  /** Ids for a command's argument, newest first; none for most commands. */
  readonly idsFor: (command: string) => readonly string[];
}

const nothing: Known = { own: async () => [], idsFor: () => [] };

/** `before`: the message up to the cursor; null: nothing to offer. */
export async function completeMessage(
  workspace: Workspace,
  before: string,
  { own, idsFor }: Known = nothing,
): Promise<Completion | null> {
  if (/^\/[a-z0-9_-]*$/.test(before)) {
    const files = (await own()).map(({ name }) => name);
    const names = [...new Set(["quit", ...slashCommands.map(({ name }) => name), ...files])].sort();
    return { from: 0, words: names.map((name) => `/${name}`).filter((name) => name.startsWith(before)) };
  }
  const [, command = "", begun = ""] = /^\/([a-z]+) +(\S*)$/.exec(before) ?? [];
  const follows = [...(followers.get(command) ?? idsFor(command))]
    .filter((word) => word.startsWith(begun))
    .slice(0, maxOffered);
  if (follows.length > 0 || followers.has(command)) return { from: before.length - begun.length, words: follows };
  const typed = begunMention.exec(before)?.[1];
  if (typed === undefined) return null;
  const words = await listPaths(workspace, typed.replace(/^"/, ""), typed.startsWith('"'));
  return { from: before.length - typed.length, words };
}
