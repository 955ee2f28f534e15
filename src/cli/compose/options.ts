/** The flow of a run and its options: what flags and settings say, its id and time limit, and what is found of the system and of instructions outside of the project. */

import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { PaiError } from "../../core/error.ts";
import type { ReadOptions } from "../../flows/briefing/reading.ts";
import type { CheckRights } from "../../flows/checks/checking.ts";
import type { Flow, RunOptions } from "../../flows/run.ts";
import { singleShot } from "../../flows/single-shot.ts";
import { isSystemFolder } from "../../store/audit.ts";
import { openPlaces } from "../../store/places.ts";
import { settingTable } from "../../store/setting-table.ts";
import { type LoadedSettings, projectFile, type Settings } from "../../store/settings.ts";
import { pathOutside, realPathOf, textOfSystem } from "../../system/lookups.ts";
import type { SandboxSettings } from "../../workspace/sandbox/settings.ts";
import type { Context } from "../command.ts";
import { version } from "../commands/version.ts";
import { allowFlag, commitFlag, onlyFlag, runFlag } from "../flags.ts";

/** The folder .git of the project, whose content can run code later. */
const isGit = (path: string) => /^(?:\.\/)?\.git\/?$/.test(path);

export function composeSandbox({ flags }: Context, settings: Settings): SandboxSettings {
  const written = flags.allowWrite ?? [];
  return {
    choice: settings.sandbox,
    network: flags.allowNet === true,
    writable: [...settings.commands.writable, ...written].filter((path) => !isGit(path)),
    readable: flags.allowRead ?? [],
    git: written.some(isGit),
  };
}

/** UTC time to the millisecond and 16 random bits, so that ids sort by time. */
export function makeRunId(now: Date): string {
  const digits = now.toISOString().replaceAll("-", "").replaceAll(":", "");
  const stamp = `${digits.slice(0, 8)}-${digits.slice(9, 15)}${digits.slice(16, 19)}`;
  return `${stamp}-${Buffer.from(crypto.getRandomValues(new Uint8Array(2))).toString("hex")}`;
}

/** Aborts with `timeout` at the time limit, or with the process's signal. */
export function limitTime(signal: AbortSignal, seconds: number | null) {
  if (seconds === null) return { signal, end: () => {} };
  const controller = new AbortController();
  const stop = () => controller.abort(new PaiError("timeout", `the time limit of ${seconds} s is over`));
  const timer = setTimeout(stop, seconds * 1000);
  return { signal: AbortSignal.any([signal, controller.signal]), end: () => clearTimeout(timer) };
}

/** Of the user's checks in the working folder; of `checks.sandbox` the entry of the nearest folder counts. */
function checkRightsOf(folder: string, { checkSandbox }: Settings, origins: LoadedSettings["origins"]): CheckRights {
  const root = realPathOf(folder) ?? folder;
  const above = Object.keys(checkSandbox).filter((each) =>
    `${root}/`.startsWith(each.endsWith("/") ? each : `${each}/`),
  );
  const nearest = above.sort((a, b) => b.length - a.length)[0];
  return {
    weakest: nearest === undefined ? null : (checkSandbox[nearest] ?? null),
    byProject: origins[settingTable.checks.name] === projectFile,
    inSystem: isSystemFolder(root),
  };
}

export function composeOptions(
  context: Context,
  { settings, origins }: Pick<LoadedSettings, "settings" | "origins">,
  command: string,
  interactive: boolean,
): RunOptions {
  const { flags } = context;
  const { configDir } = openPlaces(context.env);
  const root = resolve(context.cwd, flags.cwd ?? ".");
  return {
    command,
    mode: settings.mode,
    version,
    temperature: settings.temperature,
    effort: settings.effort,
    caps: { calls: settings.limits.calls, tokens: settings.limits.tokens, cost: settings.limits.cost },
    guard: settings.guard,
    maxActions: 15,
    environment: describeEnvironment(context.env, root),
    guides: readOuterGuides(configDir, root),
    only: [onlyFlag(flags)].filter((globs) => globs.length > 0),
    checks: settings.checks,
    formats: flags.format ?? [],
    checkTimeoutMs: 600_000,
    baseline: flags.noBaseline !== true,
    checkWaitMs: 20_000,
    noWorse: flags.noWorse === true,
    commandTimeoutMs: settings.commands.timeout * 1000,
    interactive,
    allowDelete: flags.allowDelete === true,
    allowRun: runFlag(flags),
    commit: commitFlag(flags),
    after: { commands: flags.then ?? [], unverified: flags.thenUnverified === true, again: flags.thenAgain === true },
    allow: allowFlag(context, root),
    strict: settings.strict,
    dryRun: flags.dryRun === true,
    checkRights: checkRightsOf(root, settings, origins),
    keep: flags.keep === true,
    review: flags.review === true ? "change" : false,
    planOnly: false,
    atOnce: flags.planFirst === true ? "never" : settings.atOnce,
  };
}

const tools = "python3 node bun deno go cargo java ruby php gcc clang make cmake docker git".split(" ");

const managers: readonly (readonly [file: string, manager: string])[] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["package-lock.json", "npm"],
  ["uv.lock", "uv"],
  ["poetry.lock", "poetry"],
  ["Pipfile.lock", "pipenv"],
  ["Cargo.lock", "cargo"],
  ["go.sum", "go modules"],
  ["Gemfile.lock", "bundler"],
  ["composer.lock", "composer"],
];

function nameSystem(): string {
  const name = /^PRETTY_NAME="?([^"\n]*)/m.exec(textOfSystem("/etc/os-release"))?.[1] ?? "Linux";
  return `${name}, ${process.arch}`;
}

/** A version in the name of a program's file or folder: python3.11, java-17-openjdk. */
const versioned =
  /(?:python|java|jdk|jre|node|go|ruby|php|gcc|clang)[-_]?v?(\d+(?:\.\d+)*)(?=[^/]*(?:\/|$)(?!.*\d\.\d))/;

/** The tools in PATH, with the version if the program's name tells it: gcc 12, python 3.11. */
function nameTools(path: string): readonly string[] {
  const folders = path.split(":").filter((folder) => folder.startsWith("/"));
  return tools.flatMap((name) => {
    const at = folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
    if (at === undefined) return [];
    const version = versioned.exec(realpathSync(at))?.[1];
    return [version === undefined ? name : `${name.replace(/\d+$/, "")} ${version}`];
  });
}

/** What starts services, and with which rights pai runs: no name of a user leaves the machine. */
function nameRights(): string {
  const first = existsSync("/run/systemd/system") ? "systemd" : textOfSystem("/proc/1/comm").trim();
  const init = /^(?:systemd|init|openrc-init|runit|s6-svscan|dinit)$/.test(first) ? `init ${first}` : "no init system";
  return `${init}, run by ${process.geteuid?.() === 0 ? "root" : "an ordinary user"}`;
}

const packages: Readonly<Record<string, string>> = { ssh: "openssh-server", mysql: "mysql-server" };

/** The server whose settings a folder holds, with the version of its package: nginx 1.22.1-9. `status`: dpkg's list. */
function nameServer(root: string, status: string): string | null {
  const [, folder] = /^\/etc\/([a-z0-9][a-z0-9.+-]*)/.exec(root) ?? [];
  if (folder === undefined) return null;
  const name = packages[folder] ?? folder;
  const at = `\n${textOfSystem(status)}`.split(`\nPackage: ${name}\n`)[1]?.split("\n\n")[0] ?? "";
  const version = /^Version: (?:\d+:)?(\S+)/m.exec(at)?.[1];
  return version === undefined || !/^Status: .* installed$/m.test(at) ? null : `${name} ${version}`;
}

/** One line of at most 300 characters. `status`: the list of installed packages. */
export function describeEnvironment(env: Context["env"], root: string, status = "/var/lib/dpkg/status"): string {
  const manager = managers.find(([file]) => existsSync(join(root, file)))?.[1];
  const server = nameServer(root, status);
  return [
    ...(server === null ? [] : [server]),
    nameSystem(),
    nameTools(pathOutside(env["PATH"] ?? "", root)).join(", "),
    ...(manager === undefined ? [] : [`packages by ${manager}`]),
    nameRights(),
  ]
    .filter((part) => part !== "")
    .join("; ")
    .slice(0, 300);
}

type OuterGuide = NonNullable<ReadOptions["guides"]>[number];

const names = ["AGENTS.md", "CLAUDE.md"] as const;
/** Bytes of one file; of all together a request shows 8 KB. */
const maxBytes = 16 * 1024;
/** Folders above the project that are looked at for the root of its repository. */
const maxAbove = 16;

/** The text of a regular file that is the user's or the system's; null: there is none. `follows`: a link may lead to it. */
function readText(path: string, follows: boolean): string | null {
  let file: number | null = null;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | (follows ? 0 : constants.O_NOFOLLOW));
    const stat = fstatSync(file);
    if (!stat.isFile() || !isOwn(stat)) return null;
    const bytes = Buffer.alloc(maxBytes);
    return bytes.toString("utf8", 0, readSync(file, bytes, 0, maxBytes, 0)).replace(/\uFFFD$/, "");
  } catch {
    // Missing or unreadable: there are no instructions.
    return null;
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** Whether it is this user's or the system's: nobody else may give an agent instructions. */
const isOwn = ({ uid }: { readonly uid: number }) => uid === 0 || uid === process.getuid?.();

/** The folders above `root` up to that of its repository, outermost first; none: it is that folder, or in no repository. */
function foldersAbove(root: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = root, count = 0; count <= maxAbove; count += 1) {
    if (folder !== root) folders.unshift(folder);
    const stat = lstatSync(join(folder, ".git"), { throwIfNoEntry: false });
    if (stat !== undefined) return isOwn(stat) ? folders : [];
    if (dirname(folder) === folder) break;
    folder = dirname(folder);
  }
  return [];
}

/** The user's own guide first, then from the root of the repository down to the folder above `root`. */
export function readOuterGuides(configDir: string | null, root: string): readonly OuterGuide[] {
  const own = configDir === null ? null : join(configDir, names[0]);
  const ownText = own === null ? null : readText(own, true);
  const above = foldersAbove(root).flatMap((folder): OuterGuide[] => {
    for (const name of names) {
      const path = join(folder, name);
      const text = readText(path, false);
      if (text !== null) return [{ path, text }];
    }
    return [];
  });
  return [...(own === null || ownText === null ? [] : [{ path: own, text: ownText }]), ...above];
}

export async function flowFor(mode: Settings["mode"]): Promise<Flow> {
  switch (mode) {
    case "single-shot":
      return singleShot;
    case "eight-step":
      return (await import("../../flows/eight-step.ts")).eightStep;
    case "auto":
      return (await import("../../flows/auto.ts")).hybrid;
    case "tool-loop":
      return (await import("../../flows/tool-loop/tool-loop.ts")).toolLoop;
  }
}
