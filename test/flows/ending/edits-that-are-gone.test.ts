/** An edit that somebody deletes, replaces or writes otherwise while the run works is told as that. */
import { expect, test } from "bun:test";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { becameOf } from "../../../src/core/session/became.ts";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { call, calling, calls, playLoopIn, resultsOf } from "../loop.ts";
import { finish, modify, plan, planTo, write } from "../plans.ts";
import { makeFolder, playIn, type Setup } from "../scripted.ts";

const before = "1\n2\n3\n4\n5\n";
const edit = modify("a.txt", ["1\n", "one\n"]);
const gone = "edits that are no longer there, by somebody else or a check: a.txt";

/** Plays a run in a folder with two files; `setup` gets the full path of the first one. */
function playHere(setup: (path: string) => Setup) {
  const place = makeFolder({ "a.txt": before, "b.txt": "b\n" });
  return playIn(place, setup(join(place.root, "a.txt")));
}

const linkInstead = (path: string) => {
  rmSync(path);
  symlinkSync("b.txt", path);
};

test.each([
  ["deletes", rmSync],
  ["replaces by a link", linkInstead],
])("a file of the run that somebody %s while it works is told, and not kept", async (_, remove) => {
  const ran = await playHere((path) => ({
    flow: toolLoop,
    options: { mode: "tool-loop", interactive: true },
    answers: "yes",
    lines: [
      calls(
        call("edit", { path: "a.txt", old_str: "1\n", new_str: "one\n" }),
        call("edit", { path: "b.txt", old_str: "b\n", new_str: "B\n" }),
      ),
      { text: "Both are done.", before: () => remove(path) },
    ],
  }));
  expect(ran.outcome).toMatchObject({ ok: true, changes: [{ path: "b.txt" }], lost: ["a.txt"] });
  expect(becameOf(ran.outcome)).toContain(`changed: b.txt; ${gone}`);
});

test("a new file of the run that somebody writes anew as a whole is told as that, and its lines are not counted", async () => {
  const ran = await playHere((path) => ({
    lines: [
      plan({ steps: ["WRITE n.txt", "WRITE c.txt"], complexity: "complex" }),
      write("n.txt", "n\n") + finish(),
      { text: write("c.txt", "c\n") + finish(), before: () => writeFileSync(join(path, "..", "n.txt"), "theirs\n") },
    ],
  }));
  expect(becameOf(ran.outcome)).toStartWith("kept: 2 files, unverified");
  expect(becameOf(ran.outcome)).toContain("somebody else changed lines of these edits, or all of them: n.txt");
});

test("a line of the run that somebody writes otherwise is told as theirs", async () => {
  const ran = await playHere((path) => ({
    lines: [
      plan({ steps: ["MODIFY a.txt", "WRITE c.txt"], complexity: "complex" }),
      edit + finish(),
      { text: write("c.txt", "c\n") + finish(), before: () => writeFileSync(path, before.replace("1", "uno")) },
      finish(),
    ],
    options: { checks: ["test -e c.txt"] },
  }));
  expect(ran.outcome).toMatchObject({ ok: true, merged: ["a.txt"], overwritten: ["a.txt"] });
  const became = becameOf(ran.outcome);
  expect(became).toStartWith("kept: 2 files, verified");
  expect(became).toContain("somebody else changed lines of these edits, or all of them: a.txt");
  expect(became).not.toContain("changed meanwhile");
});

test.each([
  ["takes back", (path: string) => writeFileSync(path, before)],
  ["deletes with its file", rmSync],
])("an edit that somebody %s while the check runs is told as gone", async (_, meddle) => {
  const ran = await playHere((path) => ({
    lines: [planTo("MODIFY a.txt", "MODIFY b.txt"), edit + modify("b.txt", ["b\n", "B\n"]) + finish("It says one.")],
    options: { checks: ["sleep 0.3"] },
    onEvent: (event) => {
      if (event.type === "check.started" && event.when === "after") meddle(path);
    },
  }));
  expect(ran.outcome.lost).toEqual(["a.txt"]);
  expect(becameOf(ran.outcome)).toContain(gone);
});

test("what the model was told of a file that the run then did not change is told with the run's end, so not once more", async () => {
  const place = makeFolder({ "a.txt": "1\n2\n3\n" });
  const change = call("edit", { path: "a.txt", old_str: "1\n", new_str: "one\n" });
  const byHand = () => writeFileSync(join(place.root, "a.txt"), "1\n2\n3\nmine\n");
  const makes = calling("write", { path: "b.txt", content: "b\n" });
  const lines = [{ ...calls(change), before: byHand }, makes, "Done."];
  const ran = await playLoopIn(place, lines, { options: { interactive: true }, answers: ["no", "yes"] });
  expect(resultsOf(ran, 2).at(-1)?.text).toContain("changed since it was shown, and not by you: a.txt");
  expect([ran.outcome.changes.map(({ path }) => path), ran.outcome.merged]).toEqual([["b.txt"], ["a.txt"]]);
  expect(becameOf(ran.outcome)).toContain("somebody else changed meanwhile, too: a.txt");
});

test.each([
  ["this very edit", before.replace("1\n", "one\n"), "the edit is in it already"],
  ["it and more", `${before.replace("1\n", "one\n")}mine\n`, "the edit is in it already"],
  ["other lines", `${before}mine\n`, "merged with this edit"],
])("somebody else wrote %s: the screen says what became of the edit", async (_, text, told) => {
  const ran = await playHere((path) => ({
    lines: [planTo("MODIFY a.txt"), { text: edit + finish(), before: () => writeFileSync(path, text) }],
  }));
  expect(ran.notices("merged")).toEqual([`a.txt was changed by someone else meanwhile: ${told}`]);
});
