/** The end of a proved run: its commit, and what the user wants done then. */
import { expect, test } from "bun:test";
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PaiError } from "../../../src/core/error.ts";
import type { Commits, PreparedCommit } from "../../../src/core/ports.ts";
import { commitMessage } from "../../../src/flows/ending/afterwards.ts";
import { newFolder } from "../../grounds.ts";
import { comesTrue, ends } from "../../processes.ts";
import { openBare } from "../../workspace/bare.ts";
import { finish, modify, planTo, talk } from "../plans.ts";
import { makeFolder, play, playIn, type Setup, stopper } from "../scripted.ts";

const files = { "a.txt": "one\n" };
const lines = [planTo("MODIFY a.txt"), modify("a.txt", ["one\n", "two\n"]) + finish()];
const options = { checks: ["true"], commit: { message: null, unverified: false } };

const prepared: PreparedCommit = { files: 1, others: 0, hooks: [], make: async () => "c0ffee", close: () => {} };

const playWith = (commits: Partial<Commits>, more: Partial<Setup> = {}) => {
  const all = { require: async () => {}, prepare: async () => prepared, ...commits };
  return play({ files, lines, options, commits: all, ...more });
};

test("the outcome names the commit", async () => {
  const ran = await playWith({});
  expect(ran.outcome).toMatchObject({ code: 0, status: "verified", commit: "c0ffee" });
});

test.each([
  ["prepared", { prepare: async () => Promise.reject(Object.assign(new Error("no"), { code: "EACCES", path: "x" })) }],
  ["made", { prepare: async () => ({ ...prepared, make: () => Promise.reject(new PaiError("io_failed", "no")) }) }],
])("whatever keeps it from being %s is commit_failed, and the work stays", async (_when, commits) => {
  const ran = await playWith(commits as Partial<Commits>);
  expect(ran.outcome).toMatchObject({ ok: false, code: 1, error: { code: "commit_failed" } });
  expect(ran.outcome).toMatchObject({ text: expect.stringMatching(/^kept, but /), claimed: "Done." });
  expect(ran.outcome.error?.message).toMatch(/^not committed: .*; the changes stay$/);
  expect([ran.files["a.txt"], ran.outcome.changes.length, ran.outcome.commit]).toEqual(["two\n", 1, undefined]);
});

test("of a file that somebody deleted or moved while the check ran nothing is committed", async () => {
  const place = makeFolder({ ...files, "b.txt": "b\n" });
  const paths: string[] = [];
  const ran = await playIn(place, {
    lines: [
      planTo("MODIFY a.txt", "MODIFY b.txt"),
      modify("a.txt", ["one\n", "two\n"]) + modify("b.txt", ["b\n", "B\n"]) + finish(),
    ],
    options: { ...options, checks: ["sleep 0.3"] },
    onEvent: (event) => {
      if (event.type !== "check.started" || event.when !== "after") return;
      renameSync(join(place.root, "a.txt"), join(place.root, "c.txt"));
    },
    commits: {
      require: async () => {},
      async prepare(all) {
        paths.push(...all);
        return prepared;
      },
    },
  });
  expect([ran.outcome.commit, paths]).toEqual(["c0ffee", ["b.txt"]]);
});

test("an interrupt while a hook runs takes the work back", async () => {
  const { signal, stop } = stopper();
  const hooks = [{ name: "pre-commit", command: "sleep 5" }];
  const prepare = async () => {
    setTimeout(stop, 50);
    return { ...prepared, hooks };
  };
  const ran = await playWith({ prepare }, { signal });
  expect([ran.outcome.code, ran.files]).toEqual([130, files]);
});

test("a run that changed nothing says nothing of a commit", async () => {
  const ran = await playWith({}, { lines: [talk("It says one.")], options: { ...options, interactive: true } });
  expect(ran.notices("nothing_committed")).toEqual([]);
  expect(ran.outcome.status).toBe("answered");
});

const mark = `/var/tmp/pai-then-${process.pid}`;
const wasRun = () => {
  const was = existsSync(mark);
  rmSync(mark, { force: true });
  return was;
};
const then = (command: string, more = {}) => ({ commands: [command], unverified: false, again: false, ...more });

test("it runs with the user's rights after the change was verified, and the outcome tells how it ended", async () => {
  const options = { checks: ["grep -q two a.txt"], after: then(`grep -q two a.txt && touch ${mark}`) };
  const { outcome } = await play({ files, lines, options });
  expect(outcome).toMatchObject({ code: 0, status: "verified" });
  expect(outcome.then).toMatchObject([{ command: options.after.commands[0], exit: 0 }]);
  expect(wasRun()).toBe(true);
});

test("its failure takes the change back and ends with 9; with again it runs once more on the old files", async () => {
  const command = `if grep -q two a.txt; then echo no such unit; exit 3; fi; touch ${mark}`;
  const plain = await play({ files, lines, options: { checks: ["true"], after: then(command) } });
  expect(plain.outcome).toMatchObject({ code: 9, error: { code: "then_failed" }, changes: [] });
  expect(plain.outcome.then).toMatchObject([{ exit: 3 }]);
  expect(plain.outcome.error?.message).toContain("no such unit");
  expect([plain.files, wasRun()]).toEqual([files, false]);
  const again = await play({ files, lines, options: { checks: ["true"], after: then(command, { again: true }) } });
  expect([again.outcome.then?.map(({ exit }) => exit), again.files, wasRun()]).toEqual([[3, 0], files, true]);
});

test("it does not run unproved, without a change, or when nothing may stay", async () => {
  const touch = then(`touch ${mark}`);
  const unproved = await play({ files, lines, options: { allowRun: true, after: touch } });
  expect([unproved.outcome.status, unproved.outcome.then, wasRun()]).toEqual(["unverified", undefined, false]);
  expect(unproved.eventsOf("notice").map(({ code }) => code)).toContain("then_not_run");
  const forced = await play({ files, lines, options: { after: { ...touch, unverified: true } } });
  expect([forced.outcome.code, wasRun()]).toEqual([0, true]);
  await play({ files, lines: [talk("Hello.")], options: { checks: ["true"], after: touch } });
  await play({ files, lines, options: { checks: ["true"], after: touch, dryRun: true } });
  expect(wasRun()).toBe(false);
});

test("it is refused before any call where nothing can prove the work, or where the run may change its program", async () => {
  const unproved = await play({ files, lines: [], options: { after: then("true") } });
  expect(unproved.outcome).toMatchObject({ code: 2, calls: { made: 0 } });
  const refused = { "./r.sh": "starts", "sh r.sh": "names", "sudo -n ./r.sh": "names", "sh -c 'cat r.sh'": "names" };
  for (const [command, how] of Object.entries(refused)) {
    const refusing = { checks: ["true"], after: then(command) };
    const own = await play({ files: { ...files, "r.sh": "exit 0\n" }, lines: [], options: refusing });
    expect(own.outcome).toMatchObject({ code: 12, calls: { made: 0 }, error: { code: "command_refused" } });
    expect(own.outcome.error?.message).toMatch(new RegExp(`: it ${how} \\S*/r\\.sh, which this run may change$`));
  }
});

test("a service that it starts outlives it, and holds nothing up", async () => {
  const go = `${mark}-go`;
  const command = `(until [ -e ${go} ]; do sleep 0.05; done; rm ${go}; touch ${mark}) & true`;
  const { outcome } = await play({ files, lines, options: { checks: ["true"], after: then(command) } });
  expect([outcome.code, outcome.then?.[0]?.exit]).toEqual([0, 0]);
  writeFileSync(go, "");
  expect(await comesTrue(wasRun)).toBe(true);
});

test("one that hangs is ended with all that it started, and counts as a failure", async () => {
  const folder = newFolder("disk", "then");
  const { workspace, close } = await openBare(folder, null);
  const { signal } = new AbortController();
  const run = (timeoutMs: number) => workspace.runAfter("sleep 600 & echo $!; wait", { timeoutMs, signal });
  const first = await run(300);
  // A busy machine may not have begun the shell by then.
  const { exit, timedOut, output } = first.output === "" ? await run(10_000) : first;
  expect([exit, timedOut, Number(output)]).toEqual([null, true, expect.any(Number)]);
  expect(await ends(Number(output))).toBe(true);
  await close();
});

const made = (text: string, own: string | null = null) => commitMessage("r1", { text, task: "do it", own });

test("the first line is the subject, the rest the body, the run a trailer", () => {
  expect(made("# Adds a flag.\n\nTwo files.\n")).toBe("Adds a flag.\n\nTwo files.\n\nPai-Run: r1\n");
  expect(made("  \n ")).toBe("do it\n\nPai-Run: r1\n");
});

test("a long first line is cut at a word, and the body has all of it", () => {
  const long = `Adds ${"word ".repeat(30)}end.`;
  const [subject = "", empty, body] = made(long).split("\n");
  expect([subject.length <= 72, subject.endsWith("word…"), empty, body]).toEqual([true, true, "", long]);
  expect(made("x".repeat(100)).split("\n")[0]).toHaveLength(72);
});

test("control and invisible characters are left out, but not from the user's own words", () => {
  expect(made("Adds\u001b[2J a\u202e flag\r\nand\u0000 more")).toBe("Adds[2J a flag\n\nand more\n\nPai-Run: r1\n");
  expect(made("", "feat: x\n\nRefs: 1")).toBe("feat: x\n\nRefs: 1\n\nPai-Run: r1\n");
});
