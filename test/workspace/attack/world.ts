/** A small world to attack: a project, and beside it what must never be read or changed. Built with names that are new. */
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { newFolder } from "../../grounds.ts";

/** Stands in everything that is forbidden, and in nothing else. */
export const canary = "CANARY-7f3a";

export interface World {
  /** Holds everything: `secret`, `dir/`, `proj-secrets/key`, `config/`, `state/` and the project. */
  readonly outside: string;
  readonly project: string;
  /** Made with its folders; refuses to go through a link or over a file. */
  file(path: string, content?: string): void;
  folder(path: string): void;
  link(path: string, target: string): void;
  /** Where a name of the project really is, for layouts that need more. */
  place(path: string): string;
  remove(): void;
}

/** In memory where there is such a place. */
export function buildWorld(): World {
  const outside = realpathSync(newFolder("memory", "attack"));
  const project = join(outside, "proj");
  const createAt = (folder: string, path: string, content: string) => {
    const real = join(folder, path);
    makeFolders(folder, dirname(path));
    const fd = openSync(real, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o644);
    writeSync(fd, content);
    closeSync(fd);
  };
  mkdirSync(project);
  createAt(outside, "secret", canary);
  createAt(outside, "plain", "fine ANARY-7f3\n");
  createAt(outside, `dir/f`, canary);
  createAt(outside, `dir/${canary}`, canary);
  createAt(outside, "proj-secrets/key", canary);
  createAt(outside, "config/credentials.json", canary);
  createAt(outside, "state/audit", canary);
  createAt(project, "ok", "fine\n");
  return {
    outside,
    project,
    file: (path, content = canary) => createAt(project, path, content),
    folder: (path) => makeFolders(project, path),
    link(path, target) {
      makeFolders(project, dirname(path));
      symlinkSync(target, join(project, path));
    },
    place: (path) => join(project, path),
    remove: () => rmSync(outside, { recursive: true, force: true }),
  };
}

/** Folder by folder, so that a link on the way is noticed and not followed. */
function makeFolders(from: string, path: string): void {
  let at = from;
  for (const part of path.split("/").filter((name) => name !== "" && name !== ".")) {
    at = join(at, part);
    const stat = lstatSync(at, { throwIfNoEntry: false });
    if (stat === undefined) mkdirSync(at);
    else if (!stat.isDirectory()) throw new Error(`${at} is not a folder: this layout is wrong`);
  }
}

export interface Picture {
  /** Everything but the project and pai's state: must never differ. */
  readonly outside: string;
  /** The project. */
  readonly inside: string;
  /** Files of the project that hold the canary. */
  readonly hot: string;
}

/** What stands where, with kind, mode, identity and content; no link is followed, nothing special is opened. */
export function picture({ outside, project }: World): Picture {
  const hot: string[] = [];
  const describe = (folder: string, prefix: string): string[] =>
    readdirSync(folder)
      .sort()
      .flatMap((name) => {
        const real = join(folder, name);
        const stat = lstatSync(real);
        const line = `${prefix}${name} ${stat.mode.toString(8)} ${stat.ino}`;
        if (stat.isSymbolicLink()) return [`${line} -> ${readlinkSync(real)}`];
        if (stat.isDirectory()) return [line, ...describe(real, `${prefix}${name}/`)];
        const text = stat.isFile() && stat.size < 10_000 ? readable(real) : "";
        if (text.includes(canary)) hot.push(prefix + name);
        return [`${line} ${stat.size} ${text}`];
      });
  const inside = describe(project, "").join("\n");
  const around = readdirSync(outside)
    .filter((name) => name !== "proj" && name !== "kept")
    .flatMap((name) => {
      const real = join(outside, name);
      return lstatSync(real).isDirectory() ? [name, ...describe(real, `${name}/`)] : [`${name} ${readable(real)}`];
    });
  const place = lstatSync(project).ino;
  return { inside, outside: `${place}\n${around.join("\n")}`, hot: hot.join("\n") };
}

function readable(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "?";
  }
}
