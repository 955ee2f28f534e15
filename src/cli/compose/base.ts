/** The settings, the folders of the user and the folder to work in, of one call of pai. */

import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { PaiError } from "../../core/error.ts";
import { openPlaces, type Places } from "../../store/places.ts";
import { type LoadedSettings, loadSettings, type Settings } from "../../store/settings.ts";
import type { Context } from "../command.ts";

export interface Base extends LoadedSettings {
  /** The call, with flags that settings supply (`plain`). */
  readonly context: Context;
  readonly places: Places;
  /** Folder to work in, as given; the workspace resolves and judges it. */
  readonly root: string;
}

/** The folder to work in, as given. Throws usage for `-C` with one that is not there. */
function folderOf({ cwd, flags }: Pick<Context, "cwd" | "flags">): string {
  const folder = resolve(cwd, flags.cwd ?? ".");
  if (flags.cwd === undefined) return folder;
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return folder;
  throw new PaiError("usage", `-C ${flags.cwd}: ${found === undefined ? "no such folder" : "not a folder"}`);
}

/** Reads the settings of this call and finds its folders. */
export function composeBase(given: Context): Base {
  const places = openPlaces(given.env);
  const root = folderOf(given);
  const loaded = loadSettings({ flags: given.flags, env: given.env, places, root });
  const context = { ...given, flags: { ...given.flags, plain: loaded.settings.plain } };
  return { ...loaded, places, root, context };
}

/** The folder to work in and what the user says of paths in it, for files that the command line names. */
export function projectOf(context: Context): { readonly root: string; readonly rules: Settings["policy"] } {
  const { root, settings } = composeBase(context);
  return { root, rules: settings.policy };
}

/** Its real path. Throws root_refused when it is not there. */
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
