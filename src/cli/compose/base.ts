/** The settings, the user's folders and the working folder of one call of pai; one that is refused as a project is asked about. */
import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { quoteForShell } from "../../core/command/quote.ts";
import { PaiError } from "../../core/error.ts";
import { createVeil } from "../../core/secrets/veil.ts";
import { holdKeys } from "../../store/keys.ts";
import { findNamedSecrets } from "../../store/named-secrets.ts";
import { openPlaces, type Places } from "../../store/places.ts";
import { type LoadedSettings, loadSettings, type Settings } from "../../store/settings.ts";
import { realPathOf } from "../../system/lookups.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import { judgeRoot } from "../../workspace/path-policy.ts";
import type { Context } from "../command.ts";
import type { ReadLine } from "../config/key-entry.ts";
import { envFlag } from "../flags.ts";

/** What asking a server with the user's keys takes. */
export type Asking = Pick<Base, "context" | "places" | "settings" | "origins">;

export interface Base extends LoadedSettings {
  /** The context, with flags that settings add (`plain`). */
  readonly context: Context;
  readonly places: Places;
  /** Working folder as given; the workspace resolves and checks it. */
  readonly root: string;
  /** Nothing is changed and nothing is kept in the project: `pai ask`. */
  readonly asksOnly?: true;
}

/** The working folder as given. Throws usage if `-C` names no folder. */
export function folderOf({ cwd, flags }: Pick<Context, "cwd" | "flags">): string {
  const folder = resolve(cwd, flags.cwd ?? ".");
  if (flags.cwd === undefined) return folder;
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return folder;
  throw new PaiError("usage", `-C ${flags.cwd}: ${found === undefined ? "no such folder" : "not a folder"}`);
}

export function composeBase(given: Context): Base {
  const places = openPlaces(given.env);
  const root = folderOf(given);
  const loaded = loadSettings({ flags: given.flags, env: given.env, places, root });
  return { ...loaded, places, root, context: given };
}

/** The working folder and the settings' path rules, for files that the command line names. */
export function projectOf(context: Context): { readonly root: string; readonly rules: Settings["policy"] } {
  const { root, settings } = composeBase(context);
  return { root, rules: settings.policy };
}

/** Real path of the working folder. Throws root_refused if it does not exist. */
export function findRoot({ cwd, flags }: Context): string {
  const folder = folderOf({ cwd, flags });
  try {
    return realpathSync(folder);
  } catch (cause) {
    throw new PaiError("root_refused", `${folder} cannot be opened as a folder`, {
      cause,
      hint: "start in the folder of a project",
    });
  }
}

/** `root`: the folder of the `.env` files. */
export function knownSecrets(base: Base, root: string): readonly string[] {
  const { context, settings, places } = base;
  const known = [...new Set(holdKeys({ env: context.env, places }, settings.providers))];
  const given = [...settings.commands.env, ...envFlag(context.flags)];
  return [...known, ...findNamedSecrets({ env: context.env, root, given, known })];
}

export const hideKnown = (base: Base, root: string, text: string): string =>
  createVeil({ known: knownSecrets(base, root) }).cover(text);

/** Why the working folder is no project, as a clause; null: it is one, or the user said so before. */
export function whyNoProject({ root, places, context }: Base, isForced = context.flags.forceRoot === true) {
  const real = realPathOf(root) ?? root;
  const home = places.home === null ? null : (realPathOf(places.home) ?? places.home);
  return isForced ? null : judgeRoot(real, home);
}

/** What the next command in this folder needs: a folder that pai worked in by force needs it again. */
export const rootFlag = (base: Base): string => (whyNoProject(base, false) === null ? "" : " --force-root");

const forced = (base: Base): Base => ({
  ...base,
  context: { ...base.context, flags: { ...base.context.flags, forceRoot: true } },
});

const maxTask = 200;

/**
 * The base to go on with where the folder is no project. `task`: what was typed, to be asked instead; null: a session.
 * Throws root_refused if nobody can be asked (`readLine` null), and declined.
 */
export async function settleRoot(
  base: Base,
  { task, readLine }: { readonly task: string | null; readonly readLine: ReadLine | null },
): Promise<Base> {
  const why = whyNoProject(base);
  if (why === null) return base;
  if (base.asksOnly === true) return forced(base);
  const where = `${visibleLine(base.root)} ${why}`;
  if (readLine === null) {
    const instead =
      task === null ? "" : `; to look and change nothing: pai ask ${quoteForShell(task.slice(0, maxTask))}`;
    throw new PaiError("root_refused", where, {
      hint: `start in the folder of a project, or pass --force-root${instead}`,
    });
  }
  const choices = task === null ? "y or n" : "y, n, or a: only look and answer, as pai ask does";
  const said = (await readLine(`${where}: work here all the same? ${choices}: `))?.trim().toLowerCase() ?? "";
  if (/^(?:y|yes)$/.test(said)) return forced(base);
  if (task !== null && /^(?:a|ask)$/.test(said)) return { ...forced(base), asksOnly: true };
  throw new PaiError("declined", "nothing was done", { hint: "start in the folder of a project" });
}
