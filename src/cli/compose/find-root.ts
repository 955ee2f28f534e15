/** The folder to work in, for what opens no workspace. */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { PaiError } from "../../core/error.ts";
import type { Context } from "../command.ts";
import { textFlag } from "../flags.ts";

/** Its real path. Throws root_refused when it is not there. */
export function findRoot({ cwd, flags }: Context): string {
  const folder = resolve(cwd, textFlag(flags, "cwd") ?? ".");
  try {
    return realpathSync(folder);
  } catch (cause) {
    throw new PaiError("root_refused", `${folder} is no folder that can be opened`, {
      cause,
      hint: "start in the folder of a project",
    });
  }
}
