/** What a program without any care would do with the same words: the proof that an attack works where it is tried. */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { World } from "./world.ts";

export type ActionName =
  | "READ"
  | "WRITE"
  | "MODIFY"
  | "TREE"
  | "LIST_PATH"
  | "SEARCH"
  | "GLOB"
  | "MKDIR"
  | "TOUCH"
  | "RM"
  | "MV from"
  | "MV to";

/**
 * Does the action as a careless program on a careless file system would; what it says. Throws when it cannot,
 * and when it would reach anything outside this world: that attack is then not tried.
 */
export function actNaively(world: World, action: ActionName, text: string): string {
  const path = readCarelessly(world, text);
  stayInside(world, path);
  if (opens.has(action) && hangs(path)) return "hangs for ever";
  switch (action) {
    case "READ":
      return readFileSync(path, "utf8");
    case "WRITE":
      mkdirSync(dirname(path), { recursive: true });
      overwrite(path, "attacked\n");
      return "";
    case "MODIFY":
      overwrite(path, `${readFileSync(path, "utf8")}attacked\n`);
      return "";
    case "TREE":
    case "LIST_PATH":
    case "GLOB":
      return listFollowing(path, 0).join("\n");
    case "SEARCH":
      return listFollowing(path, 0).map(contentOf).join("\n");
    case "MKDIR":
      mkdirSync(path, { recursive: true });
      return "";
    case "TOUCH":
      writeFileSync(path, "");
      return "";
    case "RM":
      removeFollowing(path, 0);
      return "";
    case "MV from":
      renameSync(path, join(world.project, "moved"));
      return "";
    case "MV to":
      mkdirSync(dirname(path), { recursive: true });
      renameSync(join(world.project, "ok"), path);
      return "";
  }
}

const opens = new Set<ActionName>(["READ", "WRITE", "MODIFY", "TOUCH"]);

/** Whether whoever opens it waits for ever: tried by another process, for a moment. */
function hangs(path: string): boolean {
  return (
    statSync(path, { throwIfNoEntry: false })?.isFIFO() === true &&
    Bun.spawnSync(["timeout", "0.02", "cat", path]).exitCode === 124
  );
}

/** Expands, decodes, trims and folds, as shells, browsers and old file systems do. */
function readCarelessly({ project, outside }: World, text: string): string {
  const plain = text.startsWith("file://") ? fileURLToPath(text) : text;
  const expanded = decode(plain)
    .replace(/^(~|\$HOME)(?=\/|$)/, outside)
    .replace(/^\$\{PWD\}/, project);
  const path = (expanded.split("\0")[0] ?? "")
    .replaceAll("\\", "/")
    .replace(/^\/\/\?\//, "")
    .trim();
  let at = path.startsWith("/") ? "/" : project;
  for (const part of path.split("/").filter((name) => name !== "" && name !== ".")) {
    at = part === ".." ? dirname(at) : join(at, findAlike(at, part));
  }
  return resolve(at);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The name that stands there and that a careless reader takes for this one. */
function findAlike(folder: string, name: string): string {
  try {
    const names = readdirSync(folder);
    if (names.includes(name)) return name;
    const short = /^(\w+)~1$/.exec(name)?.[1]?.toLowerCase();
    const alike = names.find((other) => foldCarelessly(other) === foldCarelessly(name));
    return alike ?? names.find((other) => short !== undefined && foldCarelessly(other).slice(1) === short) ?? name;
  } catch {
    return name;
  }
}

function foldCarelessly(name: string): string {
  const visible = name.normalize("NFKC").replace(/[\u00ad\u200b-\u200f\ufeff]/g, "");
  return (visible.toLowerCase().split(":")[0] ?? "").replace(/[ .]+$/, "").trim();
}

/** The jail of the naive program: where its path really leads must be in this world. */
function stayInside({ outside }: World, path: string): void {
  let at = path;
  for (;;) {
    try {
      const real = realpathSync(at);
      if (real === outside || real.startsWith(`${outside}/`)) return;
      throw new Error(`would leave the world: ${real}`);
    } catch (thrown) {
      if (!(thrown instanceof Error) || !("code" in thrown) || thrown.code !== "ENOENT") throw thrown;
      at = dirname(at);
    }
  }
}

/** Like most programs that replace a file safely: by a rename where writing is refused. */
function overwrite(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (thrown) {
    if (!(thrown instanceof Error) || !("code" in thrown) || thrown.code !== "EACCES") throw thrown;
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  }
}

function listFollowing(path: string, depth: number): string[] {
  if (depth > 4 || !isFolder(path)) return [path];
  return [path, ...readdirSync(path).flatMap((name) => listFollowing(join(path, name), depth + 1))];
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function contentOf(path: string): string {
  try {
    return statSync(path).isFile() ? readFileSync(path, "utf8") : "";
  } catch {
    return "";
  }
}

function removeFollowing(path: string, depth: number): void {
  if (depth > 4 || !isFolder(path)) {
    rmSync(path);
    return;
  }
  for (const name of readdirSync(path)) removeFollowing(join(path, name), depth + 1);
  try {
    rmdirSync(path);
  } catch {
    unlinkSync(path);
  }
}
