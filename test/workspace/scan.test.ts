/** What a listing and a walk show: sorted, nothing denied or ignored, no link entered, no tree too strange. */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { PathRules } from "../../src/core/closed-names.ts";
import type { Root } from "../../src/workspace/confine.ts";
import { type Choose, inside, list, type WalkOptions, walk, walkAll, walkNow } from "../../src/workspace/scan.ts";
import { expectCpu } from "../core/cpu-time.ts";
import { makeDeep } from "../deep.ts";
import { needs, ordinaryUser } from "../needs.ts";
import { noRules, openFolder, p, refusalOf } from "./folder.ts";

async function walked(root: Root, folder = "", options: WalkOptions = {}, rules: PathRules = noRules) {
  const paths: string[] = [];
  for await (const entry of walk(root, p(folder), rules, options)) paths.push(entry.path);
  return paths;
}
const listed = (root: Root, folder = "") => list(root, p(folder), noRules).map(({ path }) => path as string);

test("walks depth first, siblings in code-point order", async () => {
  using at = openFolder();
  for (const name of ["b/z", "b/A", "b.txt", "a", "B", "\u{1f600}", "\uff5e", "ä"]) at.file(name);
  expect(await walked(at.root)).toEqual(["B", "a", "b", "b/A", "b/z", "b.txt", "ä", "\uff5e", "\u{1f600}"]);
  expect(listed(at.root)).toEqual(["B", "a", "b", "b.txt", "ä", "\uff5e", "\u{1f600}"]);
});

test("gives size, kind, target and, of a file, the time of an entry", () => {
  using at = openFolder();
  at.file("f", "12345");
  at.folder("d");
  at.link("l", "../secret");
  at.pipe("p");
  expect(list(at.root, p(""), noRules) as unknown).toEqual([
    { path: "d", kind: "folder", size: 0, target: null },
    { path: "f", kind: "file", size: 5, target: null, changed: expect.any(Number) },
    { path: "l", kind: "link", size: 0, target: "../secret" },
    { path: "p", kind: "special", size: 0, target: null },
  ]);
});

test("shows links and enters none, though a naive listing does", async () => {
  using at = openFolder();
  at.link("out", "../dir");
  at.folder("a");
  at.link("a/up", "..");
  expect(readdirSync(join(at.path, "out"))).toEqual(["f"]);
  expect(await walked(at.root)).toEqual(["a", "a/up", "out"]);
  expect(refusalOf(() => list(at.root, p("out"), noRules)).message).toContain("a link to ../dir");
});

test("leaves out denied names at any depth", async () => {
  using at = openFolder();
  for (const name of [".env", "sub/.git/config", "sub/x.pem", "sub/.docker/config.json", ".env.example"]) at.file(name);
  expect(await walked(at.root)).toEqual([".env.example", "sub", "sub/.docker"]);
  expect(listed(at.root, "sub")).toEqual(["sub/.docker"]);
  expect(await walked(at.root, "", {}, { allow: [], deny: ["sub"] })).toEqual([".env.example"]);
});

test("gives names that are not UTF-8, or look the same, as unusable", async () => {
  using at = openFolder();
  at.file("ok");
  const bad = (tail: number[]) => Buffer.concat([Buffer.from(`${at.path}/bad`), Buffer.from(tail)]);
  mkdirSync(bad([0xff]));
  mkdirSync(bad([0xfe]));
  mkdirSync(`${at.path}/bad\ufffd`);
  const omitted: string[] = [];
  const paths = await walked(at.root, "", { omitted: (path, why) => omitted.push(`${why} ${path}`) });
  expect(paths).toEqual([...Array(3).fill("bad\ufffd"), "ok"]);
  for await (const { path, kind } of walk(at.root, p(""), noRules)) if (path !== "ok") expect(kind).toBe("special");
  expect(omitted).toEqual(Array(3).fill("unnameable bad\ufffd"));
  expect(listed(at.root)).toEqual(["ok"]);
});

needs(ordinaryUser).test("goes on past a folder that cannot be read", async () => {
  using at = openFolder();
  at.folder("a");
  at.file("b");
  chmodSync(join(at.path, "a"), 0);
  const omitted: string[] = [];
  expect(await walked(at.root, "", { omitted: (path, why) => omitted.push(`${why} ${path}`) })).toEqual(["a", "b"]);
  expect(omitted).toEqual(["unreadable a"]);
  expect(refusalOf(() => inside(at.root, p(""))).message).toBe("a cannot be read");
  expect(refusalOf(() => list(at.root, p("a"), noRules)).code).toBe("permission_denied");
  chmodSync(join(at.path, "a"), 0o700);
});

test("walks a tree 3,000 folders deep", async () => {
  // In memory where there is such a place: some disks take seconds to make this tree.
  using at = openFolder("memory");
  makeDeep(at.path, 3000);
  expectCpu(1000, () => expect([...walkNow(at.root, p(""), noRules)].length).toBe(3000));
  Bun.spawnSync(["rm", "-rf", join(at.path, "d")]);
});

test("ends when aborted, and closes what it opened when left early", async () => {
  using at = openFolder();
  for (let n = 0; n < 50; n += 1) at.file(`a/b/${n}`);
  expect(walked(at.root, "", { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
  const open = () => readdirSync("/proc/self/fd").length;
  const before = open();
  for await (const entry of walk(at.root, p(""), noRules)) if (entry.path === "a/b/3") break;
  // Other tests of the process may close theirs meanwhile.
  expect(open()).toBeLessThanOrEqual(before);
});

test("says that a folder is not there", () => {
  using at = openFolder();
  at.file("f");
  expect(refusalOf(() => list(at.root, p("x"), noRules)).message).toBe("x does not exist");
  expect(refusalOf(() => list(at.root, p("f"), noRules)).message).toBe("f is not a folder");
});

test("names all that a removal or a move would take along, denied, ignored and linked things too", () => {
  using at = openFolder();
  for (const name of ["d/.gitignore", "d/sub/.git/hooks/x", "d/node_modules/.env", "d/ok"]) at.file(name);
  at.link("d/link", "../../dir");
  expect(inside(at.root, p("d")) as unknown).toEqual([
    "d/.gitignore",
    "d/link",
    "d/node_modules",
    "d/node_modules/.env",
    "d/ok",
    "d/sub",
    "d/sub/.git",
    "d/sub/.git/hooks",
    "d/sub/.git/hooks/x",
  ]);
});

test("takes along nothing whose name it cannot keep", () => {
  using at = openFolder();
  at.folder("d");
  mkdirSync(Buffer.concat([Buffer.from(`${at.path}/d/bad`), Buffer.from([0xff])]));
  expect(refusalOf(() => inside(at.root, p("d"))).message).toBe("d/bad\ufffd has a name that is not UTF-8");
});

test("gives a chance to pause at each name that it leaves out, and no entry for it", () => {
  using at = openFolder();
  for (let n = 0; n < 20; n++) at.file(`${n}.log`);
  at.file(".gitignore", "*.log\n");
  at.file("z");
  const choose: Choose<null> = ({ path }) => (path.endsWith(".log") ? null : { mark: null, enters: true });
  const found = [...walkAll(at.root, null, choose, () => {})];
  expect(found.filter((each) => each === null)).toHaveLength(20);
  expect(found.flatMap((each) => (each === null ? [] : [`${each.entry.path}`]))).toEqual([".gitignore", "z"]);
  expect([...walkNow(at.root, p(""), noRules)].map(({ path }) => String(path))).toEqual([".gitignore", "z"]);
});
