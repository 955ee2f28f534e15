/** Describes in one line what the sandbox of a workspace protects, and why it does not protect more. */

import { homedir } from "node:os";
import type { SandboxState } from "../../core/command/sandbox.ts";
import { nameSome } from "../../core/suggest.ts";
import type { ClosedPaths } from "./closed-paths.ts";
import { isIsolated, levelOf, type Way } from "./confinement.ts";
import { contains } from "./folders.ts";
import type { SandboxSettings } from "./settings.ts";

export interface StateParts {
  readonly settings: SandboxSettings;
  readonly way: Way | null;
  readonly overlay: boolean;
  readonly reasons: readonly string[];
  readonly landlock: number;
  readonly closed: ClosedPaths;
  readonly workspace: string;
  readonly home: string | null;
}

const maxNamed = 4;

export function describeState(parts: StateParts): SandboxState {
  const { settings, way, overlay, reasons } = parts;
  const proposes = way === "namespaces" && overlay;
  const why = proposes || settings.choice === "off" || reasons.length === 0 ? null : reasons.join("; ");
  const { choice, network } = settings;
  const known = { level: way && levelOf(way), choice, why, proposes };
  if (way === null)
    return { ...known, text: choice === "off" ? "off: commands run with your rights" : "off: none works here" };
  const text = `${levelOf(way)}, ${network ? "network on, local services too" : "network off"}`;
  return { ...known, text, details: describe(parts, way) };
}

function describe({ settings, overlay, landlock, closed, workspace, home }: StateParts, way: Way): string {
  const means = {
    namespaces: `namespaces, ${landlock > 0 ? `Landlock ${landlock}, ` : ""}seccomp`,
    bubblewrap: `bubblewrap, ${landlock > 0 ? "Landlock, " : ""}seccomp`,
    landlock: `Landlock ${landlock}, seccomp`,
  }[way];
  const own = !settings.network ? ["your own checks have the network"] : [];
  const homes = closed.homes.covered.length === 0 ? [] : ["the home is closed but for tools and caches"];
  const isTold = (path: string) =>
    contains(workspace, path) ? way !== "landlock" : !closed.homes.covered.some((each) => contains(each, path));
  const names = closed.hidden.filter(({ path }) => isTold(path));
  const named = names.map(({ path }) => shorten(path, workspace, home));
  const hidden = names.length === 0 ? [] : [`hidden: ${nameSome(named, maxNamed)}`];
  const partial = closed.partial ? [describePartial(way)] : [];
  const git = settings.git ? [".git can be written"] : [];
  const open = way === "landlock" ? ["not protected: .git and secrets of the project"] : [];
  const place = way === "namespaces" && !overlay ? ["no copies: commands work on the project itself"] : [];
  return [means, ...own, ...place, ...homes, ...hidden, ...open, ...git, ...partial].join("; ");
}

const describePartial = (way: Way): string =>
  `too many names here to search all for secrets${isIsolated(way) ? ": folders beyond the limit are hidden" : ""}`;

function shorten(path: string, workspace: string, home: string | null): string {
  if (path.startsWith(`${workspace}/`)) return path.slice(workspace.length + 1);
  const folder = home ?? homedir();
  return path.startsWith(`${folder}/`) ? `~${path.slice(folder.length)}` : path;
}
