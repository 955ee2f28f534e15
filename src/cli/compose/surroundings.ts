/** What requests are told of what lies around the project: the system with its tools, and instructions in folders above it. */
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ReadOptions } from "../../flows/briefing/reading.ts";
import { pathOutside, textOfSystem } from "../../system/lookups.ts";
import type { Context } from "../command.ts";

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
