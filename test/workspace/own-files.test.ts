/** pai's own files are no files of a workspace, whatever name leads to them. */
import { afterEach, expect, test } from "bun:test";
import { linkSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openRoot } from "../../src/workspace/confine.ts";
import { search } from "../../src/workspace/search/search.ts";
import { noRules } from "./folder.ts";
import { at, makePlace, type Place } from "./tree.ts";

let place: Place = makePlace();
afterEach(() => place.remove());

test("a second name of a key file is not read, a second name of any other file is", () => {
  place = makePlace({ "a.txt": "a" });
  const own = join(place.base, "pai-code");
  mkdirSync(join(own, "deep"), { recursive: true });
  writeFileSync(join(own, "deep", "credentials"), "secret");
  linkSync(join(own, "deep", "credentials"), join(place.work, "notes.txt"));
  linkSync(join(place.work, "a.txt"), join(place.work, "b.txt"));
  const root = openRoot(place.work, { force: false, home: null, own: [own] });
  expect(() => root.readBytes(at("notes.txt"), 100)).toThrow(expect.objectContaining({ code: "path_refused" }));
  expect(root.readBytes(at("b.txt"), 100)?.bytes).toEqual(new TextEncoder().encode("a"));
  root.close();
});

test("a folder of pai's own is not a root, a folder beside it that shares the prefix is one", () => {
  place = makePlace();
  const own = join(place.base, "pai");
  for (const folder of ["pai/deep", "pai-project"]) mkdirSync(join(place.base, folder), { recursive: true });
  for (const folder of ["pai", "pai/deep"]) {
    expect(() => openRoot(join(place.base, folder), { force: true, home: null, own: [own] })).toThrow(
      expect.objectContaining({ code: "root_refused" }),
    );
  }
  openRoot(join(place.base, "pai-project"), { force: false, home: null, own: [own] }).close();
});

test("a second name of a denied file of the root is not read or found, unless the settings allow its first one", async () => {
  place = makePlace({ ".env": "TOKEN=1", "a.txt": "TOKEN=2" });
  linkSync(join(place.work, ".env"), join(place.work, "notes.txt"));
  linkSync(join(place.work, "a.txt"), join(place.work, "b.txt"));
  const open = (allow: readonly string[]) =>
    openRoot(place.work, { force: false, home: null, rules: { allow, deny: [] } });
  const [strict, free] = [open([]), open([".env"])];
  expect(() => strict.readBytes(at("notes.txt"), 100)).toThrow("notes.txt is a second name of .env, which is denied");
  expect(strict.readBytes(at("b.txt"), 100)?.bytes).toEqual(new TextEncoder().encode("TOKEN=2"));
  expect(free.readBytes(at("notes.txt"), 100)?.bytes).toEqual(new TextEncoder().encode("TOKEN=1"));
  const query = { pattern: "TOKEN", ignoreCase: false, under: at(""), include: null, maxHits: 9, staged: new Map() };
  const { hits, skipped } = await search(strict, query, noRules);
  expect([hits.map(({ path }) => path as string), skipped]).toEqual([["a.txt", "b.txt"], 1]);
  for (const root of [strict, free]) root.close();
});

test("nor is that of one far below the root, or in a denied folder", () => {
  place = makePlace({
    "packages/a/.env": "TOKEN=1",
    "deploy/.aws/credentials": "key",
    "b/c/x.pem": "pem",
    "d.txt": "d",
  });
  for (const [at, name] of ["packages/a/.env", "deploy/.aws/credentials", "b/c/x.pem", "d.txt"].entries())
    linkSync(join(place.work, name), join(place.work, `name${at}`));
  const root = openRoot(place.work, { force: false, home: null });
  for (const name of ["name0", "name1", "name2"])
    expect(() => root.readBytes(at(name), 100)).toThrow(expect.objectContaining({ code: "path_refused" }));
  expect(root.readBytes(at("name3"), 100)?.bytes).toEqual(new TextEncoder().encode("d"));
  root.close();
});
