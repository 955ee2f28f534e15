/** What others left for pai: a project's settings, a plan file, a state folder, a lock. None of it widens what pai does. */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { needs, rootUser } from "../../needs.ts";
import { configure, openPlace } from "../harness.ts";
import { done, planned, talked, write } from "../replies.ts";

// F4
test.concurrent("a project's settings choose no way of working with more rights than the user's", async () => {
  await using place = openPlace([talked("Hello.")], { "pai.json": '{"mode": "tool-loop"}' });
  const result = await place.pai(["run", "-y", "hello"]);
  expect(result.stderr).toContain("pai.json: ignored mode (may only be narrowed)");
  expect(place.gemini.requests[0]?.body).not.toContain("functionDeclarations");
});

test.concurrent("a mode that a project chose is reported", async () => {
  await using place = openPlace([talked("Hello.")], { "pai.json": '{"mode": "single-shot"}' });
  configure(place, { mode: "tool-loop" });
  const result = await place.pai(["run", "-y", "hello"]);
  expect(result.stderr).toContain("pai.json sets the mode of this project: single-shot");
});

/** The state folder of the only project that has run here. */
const stateOf = (home: string) => {
  const all = join(home, ".local/state/pai-code");
  const name = readdirSync(all).find((each) => each.startsWith("project-"));
  return join(all, name ?? "none");
};
const make = [planned(["WRITE a.txt"]), done(write("a.txt", "a\n"))];

// F9, F15
test.concurrent("what others could have written into the state folder is not trusted, and a warning says so", async () => {
  await using place = openPlace([...make, talked("Hello.")]);
  await place.pai(["run", "-y", "make a.txt"]);
  chmodSync(stateOf(place.home), 0o777);
  const history = await place.pai(["history"]);
  expect(history.stdout).toBe("no runs are kept for this folder\n");
  expect(history.stderr).toContain("can be written by others (chmod go-w");
  expect((await place.pai(["undo", "-y"])).code).not.toBe(0);
  expect((await place.pai(["run", "-y", "hello"])).stderr).toContain("undo is off");
  chmodSync(stateOf(place.home), 0o700);
  expect((await place.pai(["undo", "-y"])).code).toBe(0);
});

needs(rootUser).test.concurrent("a journal that somebody else planted writes nothing", async () => {
  await using place = openPlace(make);
  await place.pai(["run", "-y", "make a.txt"]);
  const state = stateOf(place.home);
  const { status } = Bun.spawnSync(["chown", "-R", "65534", state]) as unknown as { status: number | null };
  expect(status ?? 0).toBe(0);
  const before = place.tree();
  const history = await place.pai(["history"]);
  expect(history.stderr).toContain("belongs to somebody else");
  expect(place.tree()).toEqual(before);
});

// F14
test.concurrent("a lock that somebody else holds on the project stops nothing", async () => {
  await using place = openPlace([...make, done(""), done("")]);
  const holder = Bun.spawn(["flock", place.root, "sleep", "600"]);
  try {
    const result = await place.pai(["run", "-y", "--check", "test ! -e a.txt", "make a.txt"]);
    expect([result.code, place.tree()]).toEqual([9, {}]);
  } finally {
    holder.kill();
  }
});

test.concurrent("a folder of state that leads elsewhere is not followed", async () => {
  await using place = openPlace(make);
  await place.pai(["run", "-y", "make a.txt"]);
  const state = stateOf(place.home);
  mkdirSync(join(place.spare, "elsewhere"));
  chmodSync(join(place.spare, "elsewhere"), 0o777);
  Bun.spawnSync(["rm", "-rf", state]);
  symlinkSync(join(place.spare, "elsewhere"), state);
  await place.pai(["history"]);
  expect(readdirSync(join(place.spare, "elsewhere"))).toEqual([]);
  expect(readFileSync(join(place.root, "a.txt"), "utf8")).toBe("a\n");
});
