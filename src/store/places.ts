/** The user's folders for pai: from the environment, following the XDG rules. */
import { isAbsolute, join } from "node:path";
import { registeredHome } from "../system/homes.ts";

/** Absolute folders; null: the environment names none, so nothing can be kept. */
export interface Places {
  readonly home: string | null;
  readonly configDir: string | null;
  readonly stateDir: string | null;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads HOME, XDG_CONFIG_HOME, XDG_STATE_HOME and PAI_STATE_DIR. Relative values are ignored. `homeOf`: the home of the
 * password database, for an environment without HOME; null or "": none.
 */
export function openPlaces(env: Environment, homeOf: () => string | null = registeredHome): Places {
  const home = absolute(env["HOME"] ?? homeOf() ?? undefined);
  const config = absolute(env["XDG_CONFIG_HOME"]) ?? (home === null ? null : join(home, ".config"));
  const state = absolute(env["XDG_STATE_HOME"]) ?? (home === null ? null : join(home, ".local/state"));
  return {
    home,
    configDir: config === null ? null : join(config, "pai-code"),
    stateDir: absolute(env["PAI_STATE_DIR"]) ?? (state === null ? null : join(state, "pai-code")),
  };
}

const absolute = (folder: string | undefined): string | null =>
  folder !== undefined && isAbsolute(folder) ? folder : null;
