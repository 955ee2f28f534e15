/** Runs that go well, or well enough: status, calls, what is kept, and what is shown on the way. */
import { expect, test } from "bun:test";
import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { readOutcome } from "../contract.ts";
import { configure, openPlace } from "../harness.ts";
import { called, done, hello, planned, talked, write, writeCall } from "../replies.ts";

const task = ["run", "-y", "--json", "make hello.txt"] as const;

test.concurrent("a task takes two calls, is verified by its check, and says what it used", async () => {
  await using place = openPlace(hello);
  const outcome = readOutcome(await place.pai([...task, "--check", "grep -q hello hello.txt"]));
  expect(outcome).toMatchObject({
    status: "verified",
    text: "Done.",
    calls: { made: 2, expected: 2, at_most: 3 },
    usage: { input: 200, output: 40 },
    model: { requested: "gemini:gemini-3.5-flash-lite", served: ["gemini-test"], key: "env" },
    checks: [{ by: "user", exit: 0, passed: true }],
    changes: [{ path: "hello.txt", op: "create", added: 1, deleted: 0, before: null, by: "plan" }],
  });
});

test.concurrent("a proxy in the environment is not used for a model on this machine (R48)", async () => {
  await using place = openPlace([talked("Hello.")]);
  const proxy = "http://127.0.0.1:9";
  const env = { HTTP_PROXY: proxy, http_proxy: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy };
  expect((await place.pai(["run", "say hello"], { env })).code).toBe(0);
});

test.concurrent("a folder everybody may write to is warned about, and worked in", async () => {
  await using place = openPlace(hello);
  chmodSync(place.root, 0o777);
  const { code, stderr } = await place.pai(["run", "-y", "make hello.txt"]);
  expect([code, /written by everybody/.test(stderr)]).toEqual([0, true]);
});

test.concurrent("-o and --file belong to the caller's folder, not to -C", async () => {
  await using place = openPlace(hello, { "sub/a.txt": "", "t.txt": "make hello.txt\n" });
  expect((await place.pai(["plan", "-C", "sub", "-f", "t.txt", "-o", "p.json"])).code).toBe(0);
  expect(place.read("p.json")).toContain('"kind": "pai-plan"');
  expect((await place.pai(["apply", "-y", "-C", "sub", "p.json"])).code).toBe(0);
  expect(place.read("sub/hello.txt")).toBe("hello\n");
});

test.concurrent("-o where no file can be written is refused before anything is paid for, and so is a link of the project", async () => {
  await using place = openPlace(hello, { "p.json": "old\n" });
  symlinkSync("p.json", join(place.root, "link.json"));
  for (const name of ["none/p.json", "p.json/x", ".", "/dev/null"]) {
    const { code, stderr } = await place.pai(["plan", "-o", name, "make hello.txt"]);
    expect([name, code, stderr]).toEqual([name, 14, expect.stringContaining("not a ")]);
  }
  expect((await place.pai(["plan", "-o", "link.json", "make hello.txt"])).code).toBe(12);
  expect(place.gemini.requests).toHaveLength(0);
  expect(place.read("p.json")).toBe("old\n");
});

test.concurrent("--only takes a folder as a shell completes it, and the folder that it stands for", async () => {
  const steps = ["MKDIR src", "WRITE src/a.txt"] as const;
  for (const glob of ["src/", "./src"]) {
    const globs = ["--only", glob, "--only", "./src/a.txt"];
    await using place = openPlace([planned(steps), done(`MKDIR::src\n${write("src/a.txt", "a\n")}`)]);
    const { code, stderr } = await place.pai(["run", "-y", ...globs, "make src/a.txt"]);
    expect([glob, code, stderr.includes("outside")]).toEqual([glob, 0, false]);
    expect(place.tree()).toEqual({ "src/a.txt": "a\n" });
  }
  await using place = openPlace([planned(["WRITE srcs/a.txt"])]);
  expect((await place.pai(["run", "-y", "--only", "src/", "make srcs/a.txt"])).code).toBe(12);
});

test.concurrent("pai plan -n saves nothing", async () => {
  await using place = openPlace(hello);
  const { code, stdout } = await place.pai(["plan", "-n", "-o", "p.json", "make hello.txt"]);
  expect([code, stdout, place.tree()]).toEqual([0, expect.stringContaining("WRITE hello.txt"), {}]);
});

test.concurrent("a plan is single-shot's: another --mode is refused, a setting is not a wish for it", async () => {
  await using place = openPlace(hello);
  for (const args of [
    ["plan", "--mode", "eight-step", "make hello.txt"],
    ["apply", "-y", "--mode", "tool-loop", "p.json"],
  ]) {
    expect([args, (await place.pai(args)).code]).toEqual([args, 2]);
  }
  configure(place, { mode: "tool-loop" });
  expect((await place.pai(["plan", "make hello.txt"])).code).toBe(0);
  expect((await place.pai(["apply", "p.json"])).code).toBe(2);
});

test.concurrent("history says of a plan that it was made, saved or not, with edits or without; an answer is none", async () => {
  await using place = openPlace([...hello.slice(0, 1), ...hello.slice(0, 1), ...hello, talked("It says hello.")]);
  const ask = async (...args: readonly string[]) => readOutcome(await place.pai(["plan", "--json", ...args]));
  const made = [
    await ask("make hello.txt"),
    await ask("-o", "a.json", "make hello.txt"),
    await ask("--full", "-o", "b.json", "make hello.txt"),
    await ask("what does it say?"),
  ];
  expect(made.map(({ status, planned }) => [status, planned])).toEqual([
    ["answered", true],
    ["answered", true],
    ["unverified", true],
    ["answered", undefined],
  ]);
  for (const args of [[], ["--all"]]) {
    const { stdout } = await place.pai(["history", ...args]);
    expect([args, stdout.trim().split("\n").length, stdout.match(/ {2}planned\b/g)?.length]).toEqual([args, 4, 3]);
    expect(stdout).not.toContain("unverified");
  }
});

test.concurrent("a change that needs a yes is exit 10, not a success that changed nothing", async () => {
  await using place = openPlace([called(writeCall("a.txt", "x"))]);
  const outcome = readOutcome(await place.pai(["run", "--json", "--mode", "tool-loop", "make a.txt"]));
  expect(outcome).toMatchObject({ ok: false, code: 10, status: "declined", changes: [], calls: { made: 1 } });
  expect([outcome.error?.code, place.tree()]).toEqual(["approval_needed", {}]);
});
