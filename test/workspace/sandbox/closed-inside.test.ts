/** What is closed inside a project, and the layers of a copy. */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, linkSync, mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { findClosedHomes, findInside } from "../../../src/workspace/sandbox/closed-paths.ts";
import { removeTree } from "../../../src/workspace/sandbox/find-level.ts";
import { newFolder, removeFolder } from "../../grounds.ts";
import { needs, rootUser } from "../../needs.ts";
import { type Folder, noRules, openFolder } from "../folder.ts";
import { makePlace } from "../tree.ts";

function search(at: Folder, maxNames = 1000) {
  const found = findInside({ workspace: at.path, rules: noRules }, maxNames);
  const names = (paths: readonly string[]) => paths.map((path) => path.slice(at.path.length + 1)).sort();
  return { hidden: names(found.hidden), repositories: names(found.repositories) };
}

test("a folder that is not searched to its end is hidden, with the repositories in it", () => {
  using at = openFolder();
  for (const name of ["data/f", "y/z/.env", "y/z/sub/deploy.pem", "y/.git/HEAD", ".git/HEAD"]) at.file(name);
  expect(search(at, 3)).toEqual({ hidden: ["data", "y"], repositories: [".git"] });
  expect(search(at, 5)).toEqual({ hidden: ["y"], repositories: [".git"] });
  expect(search(at, 9)).toEqual({ hidden: ["y/z/.env", "y/z/sub/deploy.pem"], repositories: [".git", "y/.git"] });
});

test("other names of a hidden file are hidden too", () => {
  using at = openFolder();
  at.file(".env", "A=1");
  at.file("d/e/f");
  linkSync(join(at.path, ".env"), join(at.path, "d/e/other"));
  linkSync(join(at.path, ".env"), join(at.path, ".env.local"));
  expect(search(at).hidden).toEqual([".env", ".env.local", "d/e/other"]);
});

test("what cannot be reached in a home stops nothing", () => {
  const home = newFolder("checkout", "home");
  symlinkSync(".cargo", join(home, ".cargo"));
  mkdirSync(join(home, "project"));
  const found = findClosedHomes({ workspace: join(home, "project"), home, isRoot: false, open: [] });
  // The checkout may lie in a home that is closed itself.
  expect(found.covered.some((folder) => home.startsWith(folder))).toBe(true);
  removeFolder(home);
});

needs(rootUser).test(
  "a folder that its owner may not enter is removed; a file with a name elsewhere keeps its rights",
  () => {
    const place = makePlace({ kept: "the user's" });
    const [kept, top] = [join(place.work, "kept"), join(place.work, "left")];
    chmodSync(kept, 0o400);
    mkdirSync(top);
    linkSync(kept, join(top, "k"));
    chmodSync(top, 0o500);
    Bun.spawnSync(["chown", "-R", "65534:65534", place.work]);
    const layers = join(import.meta.dir, "../../../src/workspace/sandbox/find-level.ts");
    const code = `(await import(${JSON.stringify(layers)})).removeTree("left")`;
    const as = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", process.execPath, "-e", code];
    const { exitCode, stderr } = Bun.spawnSync(as, { cwd: place.work, stderr: "pipe" });
    expect([exitCode, stderr.toString()]).toEqual([0, ""]);
    expect(existsSync(top)).toBe(false);
    expect(statSync(kept).mode & 0o777).toBe(0o400);
  },
);

test("what cannot be removed is an error that names it", () => {
  expect(() => removeTree("/proc/self/task")).toThrow("/proc/self/task cannot be removed: ");
});

test("a process that swaps folders for links while they are removed does not lead pai out of them", async () => {
  const place = makePlace();
  const victim = join(place.work, "victim");
  for (let index = 0; index < 100; index += 1) mkdirSync(join(victim, `of-the-user-${index}`), { recursive: true });
  for (let round = 0; round < 4; round += 1) {
    const top = join(place.work, `left-${round}`);
    const deep = join(top, ...Array.from({ length: 31 }, () => "d"));
    mkdirSync(deep, { recursive: true });
    for (let index = 0; index < 40; index += 1) {
      mkdirSync(join(deep, `f${index}`));
      symlinkSync(victim, join(deep, `l${index}`));
    }
    const swapper = Bun.spawn([process.execPath, join(import.meta.dir, "swap-folders.ts"), deep], { stdout: "pipe" });
    await swapper.stdout.getReader().read();
    try {
      removeTree(top);
    } catch {
      // What changes its kind in the very moment stays for the next time.
    }
    swapper.kill();
    await swapper.exited;
    removeTree(top);
    expect(existsSync(top)).toBe(false);
  }
  expect(readdirSync(victim)).toHaveLength(100);
});
