/** Says what the sandbox of a workspace protects, why a level does not work, and what would help. */

import { homedir } from "node:os";
import type { SandboxState } from "../../core/command/sandbox.ts";
import { nameSome } from "../../core/suggest.ts";
import { textOfSystem } from "../../system/lookups.ts";
import type { ClosedPaths } from "./closed-paths.ts";
import { levelOf, type Way } from "./confinement.ts";
import { contains } from "./folders.ts";
import type { SandboxSettings } from "./settings.ts";
import type { SetupFailure } from "./write-tape.ts";

interface Reason {
  readonly why: string;
  readonly mend: string | null;
}

const because = (why: string, mend: string | null = null): Reason => ({ why, mend });
const kernelTooOld = (what: string, version: string): Reason => because(`this kernel has no ${what} (${version})`);

const options = ["seccomp", "apparmor", "systempaths"].map((each) => `--security-opt ${each}=unconfined`).join(" ");
const inContainer = (why: string): Reason =>
  because(why, `run pai outside the container, or start the container with ${options}`);
const noPrograms = because("programs in memory may not be run", "sysctl vm.memfd_noexec=0");

function explainNamespaces({ isCloneOff, isFiltered }: Knobs): Reason {
  if (isFiltered) return inContainer("a filter of system calls refuses namespaces (container)");
  if (!isCloneOff) return inContainer("namespaces are refused (container)");
  return because("ordinary users may not create namespaces", "sysctl kernel.unprivileged_userns_clone=1");
}

/** Ubuntu's restriction, or a container's profile. */
function explainProfile({ isRestricted, profile }: Knobs): Reason {
  if (isRestricted && (profile === null || profile === "unprivileged_userns")) {
    const mend = "give pai a profile (docs/safety.md), or: sysctl kernel.apparmor_restrict_unprivileged_userns=0";
    return because("AppArmor removes the capabilities in a user namespace", mend);
  }
  if (profile === null) return inContainer("the capabilities in a user namespace are removed");
  return inContainer(`AppArmor's profile ${profile} refuses it`);
}

/** The first rule applies whose step begins the failed one and whose errors include its; "" is any error. */
const rules: readonly (readonly [step: string, errnos: string, reason: Reason | ((knobs: Knobs) => Reason)])[] = [
  ["memfd_create", "ENOSYS", because("programs in memory are not possible here (memfd, FFI)")],
  ["memfd_create", "EPERM", inContainer("a filter of system calls refuses programs in memory (container)")],
  ["memfd_create", "EACCES", noPrograms],
  ["start", "EACCES EPERM", noPrograms],
  ["unshare", "ENOSPC", because("no more user namespaces are allowed", "sysctl user.max_user_namespaces=10000")],
  ["unshare", "EACCES", explainProfile],
  ["unshare", "EPERM", explainNamespaces],
  ["unshare", "EINVAL ENOSYS", kernelTooOld("user namespaces", "CONFIG_USER_NS")],
  ["/proc/self/", "EACCES EPERM", explainProfile],
  ["private mounts", "EACCES EPERM", explainProfile],
  ["take ", "ENOSYS", kernelTooOld("open_tree", "Linux 5.2")],
  ["read-only disk", "ENOSYS", kernelTooOld("mount_setattr", "Linux 5.12")],
  ["read-only disk", "EINVAL EPERM EBUSY", because("a mount of this machine cannot be made read-only (autofs?)")],
  ["proc", "EPERM EACCES", inContainer("/proc is masked (container)")],
  ["bubblewrap", "", because("bubblewrap could not set it up")],
  ["overlay over ", "", because("a mount in the project cannot be shown on a copy")],
  [
    "overlay of the workspace",
    "",
    because("no copy of the project can be laid over it", "keep pai's state on an ordinary disk (XDG_STATE_HOME)"),
  ],
  ["cache ", "", because("no overlay can be laid on a cache")],
  ["landlock_create_ruleset", "ENOSYS", explainNoLandlock],
  [
    "landlock_create_ruleset",
    "ENOTSUP EOPNOTSUPP",
    because("Landlock is switched off", "add it to the kernel's parameter lsm=landlock,…"),
  ],
  ["landlock_create_ruleset", "EPERM EACCES", inContainer("a filter of system calls refuses Landlock (container)")],
  ["seccomp", "EINVAL ENOSYS", kernelTooOld("seccomp filters", "CONFIG_SECCOMP_FILTER")],
];

function explainNoLandlock({ isFiltered }: Knobs): Reason {
  const none = kernelTooOld("Landlock", "Linux 5.13, CONFIG_SECURITY_LANDLOCK");
  return isFiltered ? { ...none, why: `${none.why}, or the filter of a container hides it` } : none;
}

export function findReason({ step, errno, said = "" }: SetupFailure, knobs: Knobs = readKnobs()): Reason {
  const isMeant = ([start, errnos]: (typeof rules)[number]) =>
    step.startsWith(start) && (errnos === "" || errnos.split(" ").includes(errno));
  const found = rules.find(isMeant)?.[2];
  const what = `${step}: ${said === "" ? errno : said}`;
  if (found === undefined) return because(what);
  const { why, mend } = typeof found === "function" ? found(knobs) : found;
  return because(`${why} (${what})`, mend);
}

export function explainFailure(failure: SetupFailure, knobs: Knobs = readKnobs()): string {
  const { why, mend } = findReason(failure, knobs);
  return mend === null ? why : `${why}; ${mend}`;
}

export type Knobs = ReturnType<typeof readKnobs>;

/** `isFiltered`: pai itself runs under a filter, as in containers. */
function readKnobs() {
  const isOn = (name: string, value: string) => read(`/proc/sys/kernel/${name}`) === value;
  const [, profile = null] = /^(\S.*) \(\w+\)$/.exec(read("/proc/self/attr/current")) ?? [];
  return {
    isCloneOff: isOn("unprivileged_userns_clone", "0"),
    isRestricted: isOn("apparmor_restrict_unprivileged_userns", "1"),
    profile,
    isFiltered: /^Seccomp:\s*2$/m.test(read("/proc/self/status")),
  };
}

const read = (path: string): string => textOfSystem(path).replace(/\0/g, "").trim();

interface StateParts {
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
  const git = settings.git ? [".git can be written"] : [];
  const open = way === "landlock" ? ["not protected: .git and secrets of the project"] : [];
  const place = way === "namespaces" && !overlay ? ["no copies: commands work on the project itself"] : [];
  return [means, ...own, ...place, ...homes, ...hidden, ...open, ...git].join("; ");
}

function shorten(path: string, workspace: string, home: string | null): string {
  if (path.startsWith(`${workspace}/`)) return path.slice(workspace.length + 1);
  const folder = home ?? homedir();
  return path.startsWith(`${folder}/`) ? `~${path.slice(folder.length)}` : path;
}
