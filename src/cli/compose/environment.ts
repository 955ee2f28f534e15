/** Describes the system, its tools and the package manager for the model, without running a program. */

import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { textOfSystem } from "../../system/lookups.ts";
import { pathOutside } from "../../workspace/system/search-path.ts";

const longest = 300;

const tools = "python3 node bun deno go cargo java ruby php gcc clang make cmake docker git".split(" ");

/** Files at the root that identify the project's package manager. */
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
export function describeEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  root: string,
  status = "/var/lib/dpkg/status",
): string {
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
    .slice(0, longest);
}
