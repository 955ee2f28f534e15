/** `pai uninstall`: lists pai's files, asks, and removes them and nothing else. */

import { accessSync, constants, existsSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { commandWording } from "../../core/approval-wording.ts";
import { PaiError } from "../../core/error.ts";
import { findBelongings, findProjects, findUnfinished } from "../../store/belongings.ts";
import { openPlaces, type Places } from "../../store/places.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import { showResult } from "../answer-document.ts";
import type { Context } from "../command.ts";
import { askYes, isApproved } from "../compose/view.ts";

type Removal = ReturnType<typeof planRemoval>;

/** Further installed files beside bin/; each is removed only if it holds the text that pai's scripts write. */
const companions = [
  ["share/man/man1/pai.1", "Made by scripts/man.ts"],
  ["share/bash-completion/completions/pai", "bash completion for pai"],
  ["share/zsh/site-functions/_pai", "zsh completion for pai"],
  ["share/fish/vendor_completions.d/pai.fish", "fish completion for pai"],
] as const;

const dpkgList = "/var/lib/dpkg/info/pai.list";

function findManager(path: string): string | null {
  if (/\/lib\/node_modules\/(paicode\/node_modules\/)?@paicode\//.test(path)) return "npm uninstall -g paicode";
  if (path.includes("/node_modules/@paicode/")) return "npm uninstall paicode";
  if (!path.startsWith("/usr/bin/") && !path.startsWith("/bin/")) return null;
  return existsSync(dpkgList) && readFileSync(dpkgList, "utf8").split("\n").includes("/usr/bin/pai")
    ? "apt-get remove pai"
    : "the system's package manager";
}

function findCompanions(program: string): readonly string[] {
  if (basename(dirname(program)) !== "bin") return [];
  const prefix = dirname(dirname(program));
  return companions.flatMap(([name, sign]) => {
    const file = join(prefix, name);
    return existsSync(file) && readFileSync(file, "utf8").slice(0, 200).includes(sign) ? [file] : [];
  });
}

function planRemoval(places: Places, { cwd, env }: Context, purge: boolean) {
  const program = process.execPath;
  if (!Bun.main.startsWith("/$bunfs/")) throw new PaiError("usage", "pai runs from source here: nothing is installed");
  const manager = findManager(program);
  if (!purge && manager !== null)
    throw new PaiError("usage", `${program} was installed by a package manager`, {
      hint: `remove it with: ${manager}; settings and state with: pai uninstall --purge`,
    });
  const { own, foreign } = findBelongings(places, openPlaces({ ...env, PAI_STATE_DIR: undefined }).stateDir);
  const logs = [...new Set([...findProjects(places), cwd])]
    .map((root) => join(root, ".pai_history"))
    .filter((folder) => existsSync(folder));
  return {
    remove: [...(purge ? own : []), ...(manager === null ? [...findCompanions(program), program] : [])],
    folders: purge && places.configDir !== null ? [places.configDir] : [],
    keep: [
      ...(manager === null ? [] : [{ path: program, why: `remove it with: ${manager}` }]),
      ...(purge ? [] : own).map((path) => ({ path, why: "settings and state; --purge removes them" })),
      ...(purge ? foreign : []).map((path) => ({ path, why: "not pai's alone: yours to delete" })),
      ...logs.map((path) => ({ path, why: "the log in a project; yours to delete" })),
    ],
  };
}

/** Throws conflict when a run is unfinished: without its journal it could not be undone. */
function requireFinished(places: Places): void {
  const [unfinished] = findUnfinished(places);
  if (unfinished === undefined) return;
  throw new PaiError("conflict", `a run is under way or was cut off: ${unfinished}`, {
    hint: "wait for its end, or run pai history in its project, which takes it back",
  });
}

/** Removes links, not their targets. Throws permission_denied first where the program cannot be removed. */
function removeAll({ remove, folders }: Removal): void {
  for (const path of remove.slice(-1)) accessSync(dirname(path), constants.W_OK);
  for (const path of remove) rmSync(path, { recursive: true, force: true });
  for (const folder of folders) {
    try {
      rmdirSync(folder);
    } catch {}
  }
}

function render({ remove, keep }: Removal, title: string): string {
  const removed = remove.map((path) => `  ${visibleLine(path)}\n`).join("");
  const kept = keep.map(({ path, why }) => `  ${visibleLine(path)}  (${why})\n`).join("");
  return `${title}\n${removed}${kept === "" ? "" : `stays\n${kept}`}`;
}

export async function uninstallCommand(context: Context): Promise<number> {
  const { flags } = context;
  const [purge, dryRun] = [flags.purge === true, flags.dryRun === true];
  const places = openPlaces(context.env);
  const removal = planRemoval(places, context, purge);
  const { remove, keep } = removal;
  const data = { dry_run: dryRun, removed: remove, kept: keep };
  if (dryRun) return showResult(context, "uninstall", data, render(removal, "would be removed"));
  if (flags.yes !== true) context.err(render(removal, "to be removed"));
  if (purge) requireFinished(places);
  const line = `pai uninstall${purge ? " --purge" : ""} -y`;
  if (!isApproved(context, { needs: "pai uninstall needs a yes; nothing was removed", line }))
    await askYes(context, commandWording.uninstall, "nothing was removed");
  removeAll(removal);
  return showResult(context, "uninstall", data, render(removal, "removed"));
}
