/** What Tab offers in a message: slash commands, and the paths behind `@`. */
import type { Workspace } from "../core/ports.ts";
import type { Completion } from "../ui/editor.ts";
import { slashCommands } from "./slash.ts";

const most = 100;

/** Names below the folder that was typed; ignored and denied ones are left out. */
async function listPaths(workspace: Workspace, typed: string): Promise<readonly string[]> {
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1);
  const entries = await workspace.list(workspace.path(folder === "" ? "." : folder, "list"));
  return entries
    .map(({ path, kind }) => `${folder}${path.split("/").at(-1)}${kind === "folder" ? "/" : ""}`)
    .filter((name) => name.startsWith(typed) && !/\s/.test(name))
    .slice(0, most);
}

/** `before` is the message up to the cursor; null: nothing to offer. */
export async function completeMessage(workspace: Workspace, before: string): Promise<Completion | null> {
  if (/^\/[a-z]*$/.test(before)) {
    const names = ["quit", ...slashCommands.map(({ name }) => name)].sort();
    return { from: 0, words: names.map((name) => `/${name}`).filter((name) => name.startsWith(before)) };
  }
  const typed = /(?:^|\s)@(\S*)$/.exec(before)?.[1];
  if (typed === undefined) return null;
  const names = await listPaths(workspace, typed);
  return { from: before.length - typed.length, words: names };
}
