/** --commit in a run: what goes wrong with a commit ends the run and takes nothing back, but an interrupt does. */
import { expect, test } from "bun:test";
import { PaiError } from "../../../src/core/error.ts";
import type { Commits, PreparedCommit } from "../../../src/core/ports.ts";
import { finish, modify, plan, talk } from "../plans.ts";
import { play } from "../scripted.ts";

const files = { "a.txt": "one\n" };
const lines = [plan({ steps: ["MODIFY a.txt"] }), modify("a.txt", ["one\n", "two\n"]) + finish()];
const options = { checks: ["true"], commit: { message: null, unverified: false } };

const prepared: PreparedCommit = { files: 1, others: 0, hooks: [], make: async () => "c0ffee", close: () => {} };

const playWith = (commits: Partial<Commits>) =>
  play({ files, lines, options, commits: { require: async () => {}, prepare: async () => prepared, ...commits } });

test("the outcome names the commit", async () => {
  const ran = await playWith({});
  expect(ran.outcome).toMatchObject({ code: 0, status: "verified", commit: "c0ffee" });
});

test.each([
  ["prepared", { prepare: async () => Promise.reject(Object.assign(new Error("no"), { code: "EACCES", path: "x" })) }],
  [
    "made",
    { prepare: async () => ({ ...prepared, make: async () => Promise.reject(new PaiError("io_failed", "no")) }) },
  ],
])("whatever keeps it from being %s is commit_failed, and the work stays", async (_when, commits) => {
  const ran = await playWith(commits as Partial<Commits>);
  expect(ran.outcome).toMatchObject({ ok: false, code: 1, error: { code: "commit_failed" } });
  expect(ran.outcome).toMatchObject({ text: expect.stringMatching(/^kept, but /), claimed: "Done." });
  expect(ran.outcome.error?.message).toMatch(/^not committed: .*; the changes stay$/);
  expect([ran.files["a.txt"], ran.outcome.changes.length, ran.outcome.commit]).toEqual(["two\n", 1, undefined]);
});

test("an interrupt while a hook runs takes the work back", async () => {
  const stop = new AbortController();
  const hooks = [{ name: "pre-commit", command: "sleep 5" }];
  const commits = {
    require: async () => {},
    async prepare() {
      setTimeout(() => stop.abort(new PaiError("interrupted", "interrupted")), 50);
      return { ...prepared, hooks };
    },
  };
  const ran = await play({ files, lines, options, commits, signal: stop.signal });
  expect([ran.outcome.code, ran.files]).toEqual([130, files]);
});

test("a run that changed nothing says nothing of a commit", async () => {
  const ran = await play({
    files,
    lines: [talk("It says one.")],
    options: { ...options, interactive: true },
    commits: { require: async () => {}, prepare: async () => prepared },
  });
  expect(ran.eventsOf("notice").filter(({ code }) => code === "nothing_committed")).toEqual([]);
  expect(ran.outcome.status).toBe("answered");
});
