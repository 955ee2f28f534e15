/** Finds the tasks of an evaluation: folders with a `task.json` beside `files/`. */
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { digest } from "../../core/digest.ts";
import { PaiError } from "../../core/error.ts";
import { readTaskFile, type TaskFile } from "../../core/eval/task.ts";

export interface EvalTask extends TaskFile {
  /** Its path below the named folder; with several folders, preceded by the folder's name. */
  readonly id: string;
  readonly folder: string;
  /** Of `task.json` and of every file, names and modes included. */
  readonly sha256: string;
}

const maxDepth = 6;
const maxTasks = 10_000;
const maxTaskBytes = 64 * 1024 * 1024;

function unusable(path: string, why: string): PaiError {
  return new PaiError("usage", `${path} cannot be used as a task: ${why}`, { hint: "see: docs/evaluation.md" });
}

/** Every file below a folder in order, paths relative to it. Throws usage for what is neither file nor folder. */
export function listFiles(folder: string): readonly string[] {
  const found: string[] = [];
  const visit = (below: string) => {
    for (const entry of readdirSync(join(folder, below), { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      const path = join(below, entry.name);
      if (entry.isDirectory()) visit(path);
      else if (entry.isFile()) found.push(path);
      else throw unusable(join(folder, path), "a task holds files and folders only, no links or devices");
    }
  };
  visit("");
  return found;
}

function hashTask(folder: string): string {
  let bytes = 0;
  const parts = ["task.json", "files", "start"].flatMap((part) => {
    const path = join(folder, part);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    const files = stat.isDirectory() ? listFiles(path).map((file) => join(part, file)) : [part];
    return files.map((file) => {
      const { mode, size } = lstatSync(join(folder, file));
      bytes += size;
      if (bytes > maxTaskBytes) throw unusable(folder, "it holds more than 64 MiB");
      return `${file}\0${mode & 0o111}\0${digest(readFileSync(join(folder, file)))}`;
    });
  });
  return digest(parts.join("\n"));
}

function loadTask(folder: string, id: string): EvalTask {
  const file = join(folder, "task.json");
  if (lstatSync(file).isFile() !== true) throw unusable(folder, "task.json is not a regular file");
  const task = readTaskFile(readFileSync(file, "utf8"));
  if (typeof task === "string") throw unusable(file, task);
  const files = join(folder, "files");
  if (lstatSync(files, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw unusable(folder, "it has no folder files/");
  for (const path of [...task.hidden, ...task.solution])
    if (!existsSync(join(files, path))) throw unusable(file, `files/${path} does not exist`);
  return { ...task, id, folder, sha256: hashTask(folder) };
}

/** The folders below one that hold a task; a task is not looked into. */
function* findFolders(folder: string, depth = 0): Generator<string> {
  if (existsSync(join(folder, "task.json"))) {
    yield folder;
    return;
  }
  if (depth === maxDepth) return;
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory() && !entry.name.startsWith(".")) yield* findFolders(join(folder, entry.name), depth + 1);
}

/** The tasks of one folder: it is one, or holds some at any depth. Throws usage for a folder without any. */
function loadFolder(cwd: string, given: string, isNamed: boolean): readonly EvalTask[] {
  const top = resolve(cwd, given);
  if (lstatSync(top, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new PaiError("usage", `${given} is not a folder`, { hint: "name folders that hold tasks" });
  const tasks = Array.from(findFolders(top), (folder) => {
    const below = relative(top, folder);
    return loadTask(folder, below === "" || isNamed ? join(basename(top), below) : below);
  });
  if (tasks.length > 0) return tasks;
  throw new PaiError("usage", `${given} holds no task`, { hint: "a task is a folder with task.json and files/" });
}

/** The tasks of these folders by name; of several, names begin with the folder's own. Throws usage for two of a name. */
export function loadTasks(cwd: string, folders: readonly string[]): readonly EvalTask[] {
  const tasks = folders.flatMap((given) => loadFolder(cwd, given, folders.length > 1));
  const found = new Map<string, EvalTask>();
  for (const task of tasks) {
    const other = found.get(task.id);
    if (other !== undefined)
      throw new PaiError("usage", `two tasks are named ${task.id}: ${other.folder} and ${task.folder}`);
    found.set(task.id, task);
  }
  if (tasks.length > maxTasks) throw new PaiError("usage", `more than ${maxTasks} tasks`);
  return tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
