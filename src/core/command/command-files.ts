/** Which files a command may run, by its words alone: its approval holds while these files are unchanged. Pure. */

const scripted = ["package.json"];
/** By command: the files that say what it runs. */
const filesOf: ReadonlyMap<string, readonly string[]> = new Map([
  ["npm", scripted],
  ["pnpm", scripted],
  ["yarn", scripted],
  ["bun", scripted],
  ["make", ["Makefile", "makefile", "GNUmakefile"]],
]);

/** What Python and Node add to a name: `python -m a.b`, `node x`. */
const endings = [".py", "/__main__.py", ".js", ".mjs", ".cjs", ".ts", "/index.js"];

/** Words that are followed by the folder in which the command, or the rest of the line, runs. */
const folderMarks: ReadonlySet<string> = new Set(["cd", "-C", "--cwd", "--dir", "--directory", "--prefix"]);

/** How many folders, and how many names in each, are considered at most. */
const limits = { folders: 8, names: 2000 } as const;

/** Names that may be files of the workspace: the command's words (also with endings), quoted texts, tools' files. */
export function filesOfCommand(command: string): readonly string[] {
  const words = command.split(/[\s;&|()<>"'`=]+/).filter((word) => word !== "");
  const quoted = [...command.matchAll(/"([^"]+)"|'([^']+)'/g)].map(([, double, single]) => double ?? single ?? "");
  const modules = words.map((word, at) => (words[at - 1] === "-m" ? word.replaceAll(".", "/") : word));
  const ended = modules.flatMap((name) => endings.map((ending) => name + ending));
  const names = [...words, ...quoted, ...ended, ...words.flatMap((word) => filesOf.get(word) ?? [])];
  const entered = words.filter((_, at) => folderMarks.has(words[at - 1] ?? ""));
  const folders = [...new Set([...entered, entered.join("/")].filter((folder) => folder !== ""))];
  // Each folder with each name: without limits, a command full of folders would exhaust the memory.
  const below = folders
    .slice(0, limits.folders)
    .flatMap((folder) => names.slice(0, limits.names).map((name) => `${folder}/${name}`));
  return [...new Set([...names, ...below])];
}
