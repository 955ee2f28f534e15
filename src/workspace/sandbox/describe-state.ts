/** Describes in one line what the sandbox of a workspace protects, and why it does not protect more. */

import { homedir } from "node:os";
import type { SandboxLevel, SandboxState } from "../../core/command/sandbox.ts";
import { nameSome } from "../../core/suggest.ts";
import type { ClosedPaths } from "./closed-paths.ts";
import { isIsolated } from "./confinement.ts";
import type { SandboxSettings } from "./settings.ts";

export interface StateParts {
  readonly settings: SandboxSettings;
  readonly level: SandboxLevel | null;
  readonly overlay: boolean;
  readonly reasons: readonly string[];
  readonly landlock: number;
  readonly closed: ClosedPaths;
  readonly workspace: string;
  readonly home: string | null;
}

const maxNamed = 4;

export function describeState(parts: StateParts): SandboxState {
  const { settings, level, overlay, reasons } = parts;
  const proposes = level === "L3" && overlay;
  const why = proposes || settings.choice === "off" || reasons.length === 0 ? null : reasons.join("; ");
  return { level, choice: settings.choice, text: describe(parts), why, proposes };
}

function describe({ settings, level, overlay, landlock, closed, workspace, home }: StateParts): string {
  if (level === null) return settings.choice === "off" ? "off: commands run with your rights" : "none";
  const means = {
    L3: `namespaces, ${landlock > 0 ? `Landlock ${landlock}, ` : ""}seccomp`,
    L3b: `bubblewrap, ${landlock > 0 ? "Landlock, " : ""}seccomp`,
    L2: `Landlock ${landlock}, seccomp`,
    L1: "seccomp only: files are not protected",
  }[level];
  const off = settings.checkNetwork ? "network off (on for your own checks)" : "network off";
  const network = settings.network ? "network on, local services too" : off;
  const names = closed.hidden.filter(({ path }) => level !== "L2" || !path.startsWith(`${workspace}/`));
  const named = names.map(({ path }) => shorten(path, workspace, home));
  const hidden = level === "L1" || names.length === 0 ? [] : [`hidden: ${nameSome(named, maxNamed)}`];
  const partial = closed.partial ? [describePartial(level)] : [];
  const git = settings.git && level !== "L1" ? [".git can be written"] : [];
  const open = level === "L2" ? ["not protected: .git and secrets of the project"] : [];
  const place = level === "L3" && !overlay ? ["no copies: commands work on the project itself"] : [];
  return [`${level} (${means})`, network, ...place, ...hidden, ...open, ...git, ...partial].join("; ");
}

const describePartial = (level: SandboxLevel): string =>
  `too many names here to search all for secrets${isIsolated(level) ? ": folders beyond the limit are hidden" : ""}`;

function shorten(path: string, workspace: string, home: string | null): string {
  if (path.startsWith(`${workspace}/`)) return path.slice(workspace.length + 1);
  const folder = home ?? homedir();
  return path.startsWith(`${folder}/`) ? `~${path.slice(folder.length)}` : path;
}
