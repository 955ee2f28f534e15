/** The tasks of an evaluation: folders with a `task.json` beside `files/`, checked before anything is copied or paid for. */
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import * as z from "zod/mini";
import { digest } from "../../core/digest.ts";
import { PaiError } from "../../core/error.ts";
import { readAs } from "../../core/json.ts";

export interface EvalTask extends TaskFile {
  /** Path below the named folder; with several folders, after the folder's name. */
  readonly id: string;
  readonly folder: string;
  /** Hash of `task.json` and of every file, including names and modes. */
  readonly sha256: string;
}

const unusable = (path: string, why: string): PaiError =>
  new PaiError("usage", `${path} cannot be used as a task: ${why}`, { hint: "see: docs/evaluation.md" });

/** All files below a folder, sorted, with relative paths. Throws usage for anything but files and folders. */
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
  const parts = ["task.json", "files", "start"].flatMap((part) => {
    const path = join(folder, part);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    const files = stat.isDirectory() ? listFiles(path).map((file) => join(part, file)) : [part];
    return files.map((file) => {
      const { mode } = lstatSync(join(folder, file));
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

/** Folders below one that are tasks; does not look into a task. */
function* findFolders(folder: string): Generator<string> {
  if (existsSync(join(folder, "task.json"))) {
    yield folder;
    return;
  }
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory() && !entry.name.startsWith(".")) yield* findFolders(join(folder, entry.name));
}

/** The tasks of one folder, which is one or contains some at any depth. Throws usage if there is none. */
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

/** The tasks of these folders; with several folders, names begin with the folder's. Throws usage for equal names. */
export function loadTasks(cwd: string, folders: readonly string[]): readonly EvalTask[] {
  const tasks = folders.flatMap((given) => loadFolder(cwd, given, folders.length > 1));
  const found = new Map<string, EvalTask>();
  for (const task of tasks) {
    const other = found.get(task.id);
    if (other !== undefined)
      throw new PaiError("usage", `two tasks are named ${task.id}: ${other.folder} and ${task.folder}`);
    found.set(task.id, task);
  }
  return tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** A relative path in normal form, below the folder of the file that names it. */
export const insidePath = z
  .string()
  .check(
    z.refine(
      (path) => path !== "" && !/^\/|\\|\0|(^|\/)\.{0,2}(\/|$)/.test(path),
      "must be a relative path below its folder",
    ),
  );

const schema = z.object({
  prompt: z.string().check(z.minLength(1)),
  /** Paths of `files/` that the candidate never sees; put back before the check. */
  hidden: z._default(z.array(insidePath), []),
  /** Paths of `files/` that solve the task; only the control `oracle` has them. */
  solution: z._default(z.array(insidePath), []),
  check: z.string().check(z.minLength(1)),
  timeout: z._default(z.number().check(z.positive(), z.maximum(3600)), 60),
  /** Checks that the candidate may run itself, as `--check`. */
  checks: z._default(z.array(z.string()), []),
  /** The answer of the control `oracle`; the check finds a candidate's answer in $PAI_EVAL_ANSWER. */
  answer: z._default(z.string(), ""),
  licence: z.optional(z.string()),
  source: z.optional(z.string()),
});

export type TaskFile = z.infer<typeof schema>;

/** Reads the text of a `task.json`; a string in return says what is wrong with it. */
function readTaskFile(text: string): TaskFile | string {
  try {
    const reading = readAs(schema, JSON.parse(text), "task.json");
    return reading.ok ? reading.value : reading.why;
  } catch (thrown) {
    return `not JSON: ${(thrown as Error).message}`;
  }
}
