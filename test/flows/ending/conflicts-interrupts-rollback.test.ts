/** Conflicts, interrupts and what is taken back, in long work too. */
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PaiError } from "../../../src/core/error.ts";
import { breathe, listen } from "../../../src/core/steps.ts";
import type { RunOptions } from "../../../src/flows/run.ts";
import { singleShot } from "../../../src/flows/single-shot.ts";
import { needs, ordinaryUser } from "../../needs.ts";
import { finish, modify, plan, planTo, write } from "../plans.ts";
import { capOf, filesIn, makeFolder, play, playIn } from "../scripted.ts";

describe("a file that somebody else changes during call 2", () => {
  const steps = ["MODIFY a.txt", "MODIFY b.txt"];
  const files = { "a.txt": "one\n", "b.txt": "two\n" };
  const edit = modify("b.txt", ["two\n", "2\n"]) + modify("a.txt", ["one\n", "1\n"]);
  const make = write("c.txt", "ours\n");
  const put = (name: string, text: string) => (root: string) => writeFileSync(join(root, name), text);
  const putFolder = (root: string) => mkdirSync(join(root, "c.txt"));
  const theirs = { ...files, "a.txt": "mine\n" };

  test.each([
    ["is never overwritten", put("a.txt", "one\nmine\n"), edit, steps, { ...files, "a.txt": "one\nmine\n" }],
    ["nor where the edit no longer fits", put("a.txt", "mine\n"), edit, steps, theirs],
    ["or deletes", (root: string) => rmSync(join(root, "a.txt")), edit, steps, { "b.txt": "two\n" }],
    ["or makes", put("c.txt", "mine\n"), make, ["WRITE c.txt"], { ...files, "c.txt": "mine\n" }],
    ["as a folder", putFolder, make, ["WRITE c.txt"], { ...files, "c.txt/": "" }],
    ["is not deleted", put("a.txt", "mine\n"), "RM::a.txt\n", ["READ a.txt", "RM a.txt"], theirs],
  ])("%s: 11, nothing of the batch applied", async (_, change, script, parts, left) => {
    const place = makeFolder(files);
    const second = { text: script + finish(), before: () => change(place.root) };
    const ran = await playIn(place, { lines: [plan({ steps: parts }), second], options: { allowDelete: true } });
    expect([ran.outcome.code, ran.outcome.error?.code, ran.files]).toEqual([11, "conflict", left as typeof ran.files]);
    expect(ran.outcome.error?.message).toMatch(
      /^[abc]\.txt was (?:changed|deleted|made) by someone else while pai worked on it$/,
    );
  });

  test("does no harm when nothing of it is touched", async () => {
    const place = makeFolder(files);
    const second = { text: edit + finish(), before: () => put("c.txt", "mine\n")(place.root) };
    const ran = await playIn(place, { lines: [planTo(...steps), second] });
    expect([ran.outcome.error, ran.files]).toEqual([null, { "a.txt": "1\n", "b.txt": "2\n", "c.txt": "mine\n" }]);
  });

  test("deleted while the plan is made or the question is open: 11 before call 2", async () => {
    const place = makeFolder(files);
    const meddled = { text: planTo(...steps), before: () => rmSync(join(place.root, "a.txt")) };
    const ran = await playIn(place, { lines: [meddled] });
    expect([ran.outcome.code, ran.purposes]).toEqual([11, "plan"]);
    expect(ran.outcome.error?.message).toStartWith("a.txt was deleted by someone else while pai worked on it");
    expect(filesIn(place.root)).toEqual({ "b.txt": "two\n" });
  });

  test("a folder that the run made stays with somebody's lines in its file, and is not named as changed", async () => {
    const place = makeFolder(files);
    const last = { text: finish(), before: () => put("bin/slug", "one\nmine\n")(place.root) };
    const lines = [planTo("WRITE bin/slug"), write("bin/slug", "one\n") + finish(), last];
    const options = { checks: ["false"], ...capOf(3) };
    const ran = await playIn(place, { lines, options });
    expect(filesIn(place.root)["bin/slug"]).toBe("one\nmine\n");
    expect(ran.outcome.left).toEqual(["bin/slug"]);
    const told = "bin/slug was changed by someone else meanwhile and was left as it is";
    expect(ran.notices("left_in_place")).toEqual([told]);
  });

  test("between two phases: the first phase is taken back, what is theirs is left and named", async () => {
    const place = makeFolder(files);
    const last = {
      text: modify("a.txt", ["1\n", "uno\n"]) + finish(),
      before: () => put("a.txt", "mine\n")(place.root),
    };
    const lines = [planTo(...steps), modify("a.txt", ["one\n", "1\n"]) + finish(), last];
    const ran = await playIn(place, { lines });
    expect(ran.outcome).toMatchObject({ code: 11, changes: [{ path: "a.txt" }] });
    expect(filesIn(place.root)).toEqual({ "a.txt": "mine\n", "b.txt": "two\n" });
    expect(ran.eventsOf("notice").map(({ code }) => code)).toContain("left_in_place");
  });
});

test("what changed while a check ran goes back with a failed run, and is named and shown, also in a file of the run", async () => {
  const files = { "a.txt": "one\n", "b.txt": "two\n" };
  const place = makeFolder(files);
  const lines = [planTo("MODIFY a.txt"), modify("a.txt", ["one\n", "1\n"]) + finish()];
  const checks = ["echo mine >b.txt; echo 2 >>a.txt; ! grep -q 1 a.txt"];
  const ran = await playIn(place, { lines, options: { checks, baseline: false, ...capOf(2) } });
  expect(filesIn(place.root)).toEqual(files);
  expect(ran.notices("check_changes_back")).toEqual([
    "what changed in a.txt, b.txt while your own checks ran went back with the run; pai redo brings it back, too",
  ]);
  expect(ran.outcome).toMatchObject({ changes: [], checked: ["a.txt"], rolled_back: { paths: ["a.txt"] } });
  expect(ran.outcome.rolled_back?.diff).toContain("-one\n+1\n+2\n");
});

test("a file that the plan changed and a check after it is the plan's; what the check made alone is not", async () => {
  const place = makeFolder({ "a.txt": "one\n" });
  const lines = [planTo("MODIFY a.txt"), modify("a.txt", ["one\n", "1\n"]) + finish()];
  const checks = ["echo 2 >>a.txt; echo made >b.txt"];
  const { outcome } = await playIn(place, { lines, options: { checks, baseline: false } });
  expect(outcome.changes.map(({ path, by }) => `${path} ${by}`)).toEqual(["a.txt plan", "b.txt command"]);
});

describe("what ends a later phase takes everything back:", () => {
  const files = { "a.txt": "one\n" };
  const first = [planTo("MODIFY a.txt", "WRITE b.txt"), modify("a.txt", ["one\n", "1\n"]) + finish()];

  test.each(Object.entries({ interrupted: 130, terminated: 143, timeout: 124 }))("%s, %d", async (code, exit) => {
    const stop = new AbortController();
    const last = {
      text: write("b.txt", "2\n") + finish(),
      before: () => stop.abort(new PaiError(code as "timeout", code)),
    };
    const ran = await play({ files, signal: stop.signal, lines: [...first, last] });
    expect(ran.outcome).toMatchObject({ ok: false, status: "interrupted", code: exit, changes: [] });
    expect(ran.files).toEqual(files);
  });

  test("a broken provider, with its code", async () => {
    const fail = new PaiError("quota", "no more today", { retryAfter: 12 });
    const ran = await play({ files, lines: [...first, { text: "", fail }] });
    expect(ran.outcome).toMatchObject({ code: 6, changes: [], error: { code: "quota", retry_after: 12 } });
    expect(ran.files).toEqual(files);
  });
});

needs(ordinaryUser).test("a folder that cannot be written: 14, nothing changed", async () => {
  const place = makeFolder({ "dir/a.txt": "one\n" });
  chmodSync(join(place.root, "dir"), 0o500);
  const lines = [planTo("MODIFY dir/a.txt"), modify("dir/a.txt", ["one\n", "1\n"]) + finish()];
  const ran = await playIn(place, { lines });
  chmodSync(join(place.root, "dir"), 0o700);
  expect([ran.outcome.code, readFileSync(join(place.root, "dir/a.txt"), "utf8")]).toEqual([14, "one\n"]);
});

/** Plays a run whose transaction fails where it ends. */
const playFailing = (what: "rollback" | "close", thrown: PaiError, options: Partial<RunOptions>) =>
  play({
    files: { "a.txt": "one\n" },
    lines: [planTo("WRITE new.txt"), write("new.txt", "new\n") + finish(), finish(), finish()],
    options,
    flow: async (run) => {
      Object.assign(await run.transaction(), { [what]: () => Promise.reject(thrown) });
      await singleShot(run);
    },
  });

test("what cannot be taken back is reported, beside why the run failed", async () => {
  const { outcome, notices, files } = await playFailing("rollback", new PaiError("disk_full", "no space left"), {
    checks: ["false"],
  });
  expect([outcome.code, outcome.changes.length, files["new.txt"]]).toEqual([9, 1, "new\n"]);
  const told = "what the run changed could not be taken back: no space left; the next pai here tries again";
  expect(notices()).toContain(told);
});

describe("what is not written down as the work of a run", () => {
  const why = "the disk is read-only: /state/record";
  const thrown = new PaiError("read_only", why, { hint: "mend it" });

  test("is taken back, and the run fails", async () => {
    const { outcome, files } = await playFailing("close", thrown, {});
    expect(outcome).toMatchObject({
      status: "failed",
      code: 14,
      changes: [],
      error: { code: "read_only", message: `what the run changed could not be kept: ${why}`, hint: "mend it" },
    });
    expect(files).toEqual({ "a.txt": "one\n" });
  });

  test("is taken back and reported beside another failure, also with --keep", async () => {
    const { outcome, files, notices } = await playFailing("close", thrown, { keep: true, checks: ["false"] });
    expect(outcome).toMatchObject({ code: 9, changes: [] });
    expect(files).toEqual({ "a.txt": "one\n" });
    expect(notices()).toContain(`what the run changed could not be kept: ${why}`);
  });
});

test("the time of a run is the time that pai worked: no question, and no step of the clock", async () => {
  let day = 0;
  const began = performance.now();
  const ran = await play({
    lines: [planTo("WRITE a.txt"), write("a.txt", "a\n") + finish()],
    now: () => {
      day += 1;
      return new Date(day * 86_400_000);
    },
    onQuestion: () => Bun.sleepSync(100),
  });
  expect(ran.outcome).toMatchObject({ ok: true, changes: [{ path: "a.txt" }] });
  expect(ran.outcome.ms).toBeWithin(1, performance.now() - began - 100 * ran.questions.length + 1);
});

function workFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test("a time limit that is over while the work never waits is heard at the next breath", async () => {
  const limit = new AbortController();
  setTimeout(() => limit.abort(new Error("over")), 1);
  workFor(40);
  await expect(breathe(limit.signal)).rejects.toThrow("over");
});

test("a signal that comes while the work never waits is heard at the next breath", async () => {
  const stop = new AbortController();
  const hear = () => stop.abort(new Error("stop"));
  process.once("SIGUSR2", hear);
  try {
    process.kill(process.pid, "SIGUSR2");
    workFor(5);
    await expect(listen(stop.signal)).rejects.toThrow("stop");
  } finally {
    process.off("SIGUSR2", hear);
  }
});

test("a signal that comes while the end of a finished run is summed up still takes it back", async () => {
  const stop = new AbortController();
  const files = { "a.txt": "one\n" };
  const { outcome, files: after } = await play({
    files,
    lines: [planTo("MODIFY a.txt"), modify("a.txt", ["one\n", "two\n"]) + finish()],
    signal: stop.signal,
    flow: async (run) => {
      await singleShot(run);
      const { hideChange } = run.veiled;
      const stopThen: typeof hideChange = (change) => {
        stop.abort(new PaiError("interrupted", "interrupted"));
        return hideChange(change);
      };
      Object.assign(run.veiled, { hideChange: stopThen });
    },
  });
  expect([outcome.code, outcome.changes, after]).toEqual([130, [], files]);
});
