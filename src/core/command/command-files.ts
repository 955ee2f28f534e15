/** Which files a command may run or read, by its words alone. Pure. */

const scripted = ["package.json"];
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

const limits = { folders: 8, names: 2000 } as const;

const wordsOf = (command: string): readonly string[] => command.split(/[\s;&|()<>"'`=]+/).filter((word) => word !== "");
const quotedIn = (command: string): readonly string[] =>
  [...command.matchAll(/"([^"]+)"|'([^']+)'/g)].map(([, double, single]) => double ?? single ?? "");

function withFolders(words: readonly string[], names: readonly string[]): readonly string[] {
  const entered = words.filter((_, at) => folderMarks.has(words[at - 1] ?? ""));
  const folders = [...new Set([...entered, entered.join("/")].filter((folder) => folder !== ""))];
  // Each folder with each name: without limits, a command full of folders would exhaust the memory.
  const below = folders
    .slice(0, limits.folders)
    .flatMap((folder) => names.slice(0, limits.names).map((name) => `${folder}/${name}`));
  return [...new Set([...names, ...below])];
}

/** Files that a command may run: its words (also with endings), quoted texts, tools' files. */
export function filesOfCommand(command: string): readonly string[] {
  const [words, quoted] = [wordsOf(command), quotedIn(command)];
  const modules = words.map((word, at) => (words[at - 1] === "-m" ? word.replaceAll(".", "/") : word));
  const ended = modules.flatMap((name) => endings.map((ending) => name + ending));
  const names = [...words, ...quoted, ...ended, ...words.flatMap((word) => filesOf.get(word) ?? [])];
  return withFolders(words, names);
}

/** Names of files that a command may read, as it spells them: words, quoted texts, what follows `:` (`HEAD:a.txt`). */
export function namesInCommand(command: string): readonly string[] {
  const words = wordsOf(command);
  const parts = words.flatMap((word) => (word.includes(":") ? word.split(":") : []));
  return withFolders(words, [...words, ...quotedIn(command), ...parts.filter((part) => part !== "")]);
}

/** Programs that run what their words name: another program, or a file. */
const runners =
  /^(?:sudo|doas|env|nice|nohup|setsid|time|timeout|command|exec|eval|source|\.|xargs|find|(?:ba|da|z|k|fi)?sh|python[\d.]*|perl|ruby|node|bun|deno|php[\d.]*|make|npm|npx|pnpm|yarn|awk|ssh|su|runuser)$/;

const isRunner = (program: string): boolean => runners.test(program.slice(program.lastIndexOf("/") + 1));

/** The file that a command runs, such as `check.py` of `python3 -B ./check.py`, or else its first word. */
export function scriptOf(command: string): string {
  const [program = "", ...words] = wordsOf(command);
  const script = isRunner(program) ? words.find((word) => !word.startsWith("-")) : program;
  return (script ?? "").replace(/^\.\//, "");
}

/** What a command starts, by its words: `programs` as a shell finds them, `files` that one of these may run. */
export function startedBy(command: string): {
  readonly programs: readonly string[];
  readonly files: readonly string[];
} {
  const parts = command.split(/[;&|\n(){}`]/).map((part) => part.replace(/^(?:\s*\w+=\S*\s+)*/, ""));
  const programs = parts.flatMap((part) => wordsOf(part)[0] ?? []);
  return { programs, files: programs.some(isRunner) || command.includes("$") ? filesOfCommand(command) : [] };
}
