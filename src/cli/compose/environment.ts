/** What is here, in a few words for the model: system, tools, package manager, git branch. Nothing is run to find it. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { readBranch } from "../../workspace/context/find-repository.ts";

const longest = 300;

/** Tools that a plan may count on, by the name they are called by. */
const tools = "python3 node bun deno go cargo java ruby php gcc clang make cmake docker git".split(" ");

/** Files at the root that tell the package manager of the project. */
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

const readText = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

function nameSystem(): string {
  const name = /^PRETTY_NAME="?([^"\n]*)/m.exec(readText("/etc/os-release"))?.[1] ?? "Linux";
  return `${name}, ${process.arch}`;
}

/** A tool with its version in the name of a file or of the folder it was installed in: python3.11, java-17-openjdk. */
const versioned =
  /(?:python|java|jdk|jre|node|go|ruby|php|gcc|clang)[-_]?v?(\d+(?:\.\d+)*)(?=[^/]*(?:\/|$)(?!.*\d\.\d))/;

/** The tools on the path, with the version where the name of the real file tells it: gcc-12, python3.11. */
function nameTools(path: string): readonly string[] {
  const folders = path.split(":").filter((folder) => folder.startsWith("/"));
  return tools.flatMap((name) => {
    const at = folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
    if (at === undefined) return [];
    const version = versioned.exec(realpathSync(at))?.[1];
    return [version === undefined || name.endsWith(version) ? name : `${name.replace(/\d+$/, "")} ${version}`];
  });
}

/** One line of at most 300 characters. */
export function describeEnvironment(env: Readonly<Record<string, string | undefined>>, root: string): string {
  const manager = managers.find(([file]) => existsSync(join(root, file)))?.[1];
  const branch = readBranch(root);
  const parts = [
    nameSystem(),
    nameTools(env["PATH"] ?? "").join(", "),
    manager === undefined ? "" : `packages by ${manager}`,
    branch === null ? "" : `git branch ${branch}`,
  ];
  return parts
    .filter((part) => part !== "")
    .join("; ")
    .slice(0, longest);
}
