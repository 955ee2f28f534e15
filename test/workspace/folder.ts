/** A fresh folder for tests that build links: a root to confine, and a secret beside it that must never be read. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PaiError } from "../../src/core/error.ts";
import type { RelPath } from "../../src/core/path.ts";
import { openRoot, type Root } from "../../src/workspace/confine.ts";
import { type Ground, newFolder, removeFolder } from "../grounds.ts";

export const canary = "CANARY-7f3a";
export const p = (path: string) => path as RelPath;
export const noRules = { allow: [], deny: [] };

export interface Folder extends Disposable {
  /** Of the folder that holds everything, outside the root. */
  readonly outside: string;
  readonly path: string;
  readonly root: Root;
  file(path: string, content?: string | Uint8Array): void;
  folder(path: string): void;
  link(path: string, target: string): void;
  pipe(path: string): void;
}

/** `outside` holds `secret` (the canary), `dir/f` (the canary) and the root `proj`. */
export function openFolder(on: Ground = "disk"): Folder {
  const outside = newFolder(on, "folder");
  const path = join(outside, "proj");
  mkdirSync(join(outside, "dir"));
  writeFileSync(join(outside, "secret"), canary);
  writeFileSync(join(outside, "dir/f"), canary);
  mkdirSync(path);
  const root = openRoot(path, { force: false, home: null });
  const place = (name: string) => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    return join(path, name);
  };
  return {
    outside,
    path,
    root,
    file: (name, content = "") => writeFileSync(place(name), content),
    folder: (name) => mkdirSync(place(name), { recursive: true }),
    link: (name, target) => symlinkSync(target, place(name)),
    pipe: (name) => {
      Bun.spawnSync(["mkfifo", place(name)]);
    },
    [Symbol.dispose]() {
      root.close();
      removeFolder(outside);
    },
  };
}

/** What a call is refused with; a call that succeeds fails the test. */
export function refusalOf(call: () => unknown): PaiError {
  let result: unknown;
  try {
    result = call();
  } catch (thrown) {
    if (thrown instanceof PaiError) return thrown;
    throw thrown;
  }
  throw new Error(`not refused: ${Bun.inspect(result)}`);
}
