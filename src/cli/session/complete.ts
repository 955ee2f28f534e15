/** What a message may go on with: slash commands with their arguments, and paths after `@`, also by some of their letters. */

import { mentionMark } from "../../core/at-paths.ts";
import { isBuiltFolder } from "../../core/closed-names.ts";
import { efforts } from "../../core/model.ts";
import { findNames } from "../../core/name-search.ts";
import type { Workspace } from "../../core/ports.ts";
import { knownModels } from "../../models/catalogue.ts";
import { modes } from "../../store/setting-table.ts";
import type { Completion } from "../../ui/prompt/editor.ts";
import { findFiles } from "../at-paths.ts";
import { modeAbout, slashCommands } from "./slash.ts";

const maxOffered = 100;
const maxFound = 20;

const followers = new Map<string, readonly (readonly [word: string, note: string])[]>([
  ["mode", modes.map((mode) => [mode, modeAbout[mode]])],
  ["effort", [...efforts, "default"].map((effort) => [effort, ""])],
  ["model", knownModels.map(({ provider, name }) => [`${provider}:${name}`, ""])],
]);

const begunMention = new RegExp(`${mentionMark}("[^"]*|\\S*)$`);

const quote = (name: string) => (name.endsWith("/") ? `"${name}` : `"${name}"`);

/** Names in the typed folder, quoted if needed; a folder's quote stays open for what follows. */
async function listPaths(workspace: Workspace, typed: string, quoted: boolean): Promise<readonly string[]> {
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1);
  const entries = await workspace.list(workspace.path(folder === "" ? "." : folder, "list"));
  return entries
    .map(({ path, kind }) => `${folder}${path.split("/").at(-1)}${kind === "folder" ? "/" : ""}`)
    .filter((name) => name.startsWith(typed))
    .map((name) => (quoted || /\s/.test(name) ? quote(name) : name))
    .slice(0, maxOffered);
}

/** Milliseconds after which the files of the project are listed anew. */
const listedMs = 10_000;

/** The files of the project, listed when they are first asked for. */
export function openFileNames(workspace: Workspace): () => Promise<readonly string[]> {
  let listed: { readonly names: Promise<readonly string[]>; readonly until: number } | null = null;
  return () => {
    if (listed === null || performance.now() > listed.until)
      listed = { names: findFiles(workspace), until: performance.now() + listedMs };
    return listed.names;
  };
}

/** Whether a word lies in a folder that tools make: few want to show such a file, so it is offered last. */
const isBuilt = (word: string): boolean => word.replaceAll('"', "").split("/").slice(0, -1).some(isBuiltFolder);

export interface Known {
  readonly own: readonly { readonly name: string; readonly about?: string }[];
  readonly files: () => Promise<readonly string[]>;
}

/** `before`: the message up to the cursor; null: nothing to offer. */
export async function completeMessage(
  workspace: Workspace,
  before: string,
  { own, files }: Known,
): Promise<Completion | null> {
  if (/^\/[a-z0-9_-]*$/.test(before)) {
    const all = [{ name: "quit", about: "leave" }, ...slashCommands, ...own];
    const abouts = new Map(all.map(({ name, about = "" }) => [`/${name}`, about]));
    const words = [...abouts.keys()].filter((word) => word.startsWith(before)).sort();
    return { from: 0, words, notes: words.map((word) => abouts.get(word) ?? "") };
  }
  const [, command = "", begun = ""] = /^\/([a-z]+) +(\S*)$/.exec(before) ?? [];
  const follows = followers.get(command)?.filter(([word]) => word.startsWith(begun));
  if (follows !== undefined) {
    const offered = follows.slice(0, maxOffered);
    const from = before.length - begun.length;
    return { from, words: offered.map(([word]) => word), notes: offered.map(([, note]) => note) };
  }
  const typed = begunMention.exec(before)?.[1];
  if (typed === undefined) return null;
  const bare = typed.replace(/^"/, "");
  const words = await listPaths(workspace, bare, typed.startsWith('"')).catch(() => []);
  const named = bare === "" ? [] : findNames(await files(), bare, maxFound);
  const more = named.map((name) => (typed.startsWith('"') || /\s/.test(name) ? quote(name) : name));
  const all = [...new Set([...words, ...more])];
  return {
    from: before.length - typed.length,
    words: [...all.filter((word) => !isBuilt(word)), ...all.filter(isBuilt)],
  };
}
