/** The check of `pai doctor` for the sandbox of commands. */

import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import { holdsUnasked, isEnough } from "../core/command/sandbox.ts";
import { toPaiError } from "../core/error.ts";
import type { LoadedSettings } from "../store/settings.ts";
import { openRoot } from "../workspace/confine.ts";
import { openSandbox } from "../workspace/sandbox/open-sandbox.ts";
import { composeSandbox } from "./compose/compose.ts";
import type { Finding, Patient } from "./finding.ts";

const said = (level: Finding["level"], text: string, hint: string | null = null): Finding => ({
  name: "sandbox",
  level,
  text,
  hint,
});

/** The folder for copies: the state folder, or its nearest existing parent. */
function nearestFolder(path: string | null): string | null {
  if (path === null) return null;
  if (!existsSync(path)) return nearestFolder(dirname(path));
  try {
    accessSync(path, constants.W_OK);
    return path;
  } catch {
    return null;
  }
}

/** The sandbox level that works here, found by trying; why no stronger one does, and what would help. */
export async function examineSandbox({ root, places, context }: Patient, loaded: LoadedSettings): Promise<Finding> {
  try {
    const { settings } = loaded;
    const opened = openRoot(root, { force: settings.forceRoot, home: places.home });
    const own = [places.configDir, places.stateDir].filter((folder) => folder !== null);
    const sandbox = openSandbox({
      settings: composeSandbox(context, settings),
      workspace: opened.path,
      workspaceFd: opened.lent.fd,
      rules: settings.policy,
      home: places.home,
      own,
      stateFolder: nearestFolder(places.stateDir),
    });
    const { level, choice, text, why, proposes } = await sandbox.state();
    opened.close();
    if (choice === "off") return said("ok", text);
    const copies = proposes ? "; what commands change comes back as a proposal" : "";
    if (holdsUnasked(level, choice) && isEnough(level, choice)) {
      return said("ok", text + copies, why);
    }
    return said("warning", `${text}: commands of a model do not run without a terminal`, why);
  } catch (thrown) {
    const { message, hint } = toPaiError(thrown);
    return said("warning", message, hint);
  }
}
