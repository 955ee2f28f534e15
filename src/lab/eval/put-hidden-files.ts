/** Restores a task's hidden files and writes the candidate's last message, following no link that it left. */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parentOf } from "../../core/path.ts";
import { openRoot, type Root } from "../../workspace/confine.ts";
import { parseKept } from "../../workspace/parse-path.ts";
import { type EvalTask, listFiles } from "./load-tasks.ts";

/** Inside the project, which is the only folder that a sandboxed check is certain to see. */
export const answerName = ".pai-eval-answer.txt";

type Path = ReturnType<typeof parseKept>;

/** Whether the path exists; true as well if a parent is a link or a file. */
function isThere(root: Root, path: Path): boolean {
  try {
    return root.stat(path) !== null;
  } catch {
    return true;
  }
}

const remove = (root: Root, path: Path) =>
  root.withParent(path, (at, name) => rmSync(`${at}/${name}`, { recursive: true, force: true }));

/** Creates the folder and its parents, replacing anything there that is not a folder. */
function makeFolder(root: Root, folder: Path): void {
  if (folder === "") return;
  makeFolder(root, parentOf(folder));
  if (root.stat(folder)?.kind === "folder") return;
  remove(root, folder);
  root.withParent(folder, (at, name) => mkdirSync(`${at}/${name}`));
}

function put(root: Root, path: Path, bytes: Uint8Array, mode: number): void {
  makeFolder(root, parentOf(path));
  remove(root, path);
  root.withParent(path, (at, name) => writeFileSync(`${at}/${name}`, bytes, { flag: "wx", mode }));
}

/** Restores the hidden files; returns those paths that the candidate had created. */
export function putHiddenFilesBack(task: EvalTask, folder: string, answer: string): readonly string[] {
  const root = openRoot(folder, { force: true, home: null });
  try {
    put(root, parseKept(answerName), Buffer.from(answer), 0o644);
    return task.hidden.filter((hidden) => {
      const wasThere = isThere(root, parseKept(hidden));
      const from = join(task.folder, "files");
      const isFolder = statSync(join(from, hidden)).isDirectory();
      makeFolder(root, parentOf(parseKept(hidden)));
      remove(root, parseKept(hidden));
      if (isFolder) makeFolder(root, parseKept(hidden));
      const paths = isFolder ? listFiles(join(from, hidden)).map((name) => join(hidden, name)) : [hidden];
      for (const path of paths) {
        const source = join(from, path);
        put(root, parseKept(path), readFileSync(source), statSync(source).mode & 0o777);
      }
      return wasThere;
    });
  } finally {
    root.close();
  }
}
