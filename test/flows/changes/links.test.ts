/** Links: those that stay in the project are followed before the plan is shown, others are refused; hard links are reported. */
import { expect, test } from "bun:test";
import { linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { finish, modify, planTo, write } from "../plans.ts";
import { makeFolder, type Place, playIn } from "../scripted.ts";

/** `out` leads out of the root, `in` to `real` inside it, `note` to a file. */
function makeLinks(): Place {
  const place = makeFolder({ "real/a.txt": "a\n" });
  const outside = join(dirname(place.root), "outside");
  mkdirSync(outside);
  symlinkSync(outside, join(place.root, "out"));
  symlinkSync("real", join(place.root, "in"));
  symlinkSync("real/a.txt", join(place.root, "note"));
  return place;
}

const refused: readonly (readonly [step: string, message: string])[] = [
  ["WRITE out/new.txt", "out is a link to"],
  ["MKDIR out/x/y", "out is a link to"],
  ["MV real/a.txt -> out/a.txt", "out is a link to"],
  ["WRITE out", "out is a link to"],
  ["MODIFY round/a.txt", "round is a link to"],
];

for (const [step, message] of refused) {
  test(`${step} is refused once to the model, which may mend its plan, and then to the run`, async () => {
    const place = makeLinks();
    symlinkSync("round", join(place.root, "round"));
    const mended = [planTo(step), planTo("WRITE b.txt"), write("b.txt", "b\n") + finish()];
    const ran = await playIn(place, { lines: mended, options: { allowDelete: true } });
    expect([ran.outcome.error, ran.purposes, ran.files["b.txt"]]).toEqual([null, "plan plan execute", "b\n"]);
    expect(ran.asked(2)).toMatch(
      /That plan is refused: \w+ is a link to [\s\S]*Send the whole plan again, without that\.$/,
    );
    const again = await playIn(place, { lines: [planTo(step), planTo(step)], options: { allowDelete: true } });
    expect([again.outcome.error?.code, again.purposes]).toEqual(["path_refused", "plan plan"]);
    expect(again.outcome.error?.message).toContain(message);
    expect(readdirSync(join(dirname(place.root), "outside"))).toEqual([]);
  });
}

test("links that stay in the project lead to what the plan works on, also where the reply names the link", async () => {
  const place = makeLinks();
  mkdirSync(join(place.root, "deep"));
  symlinkSync("../in", join(place.root, "deep/again"));
  const steps = ["MODIFY note", "WRITE in/new.txt", "WRITE deep/again/sub/other.txt"];
  const script =
    modify("note", ["a\n", "A\n"]) + write("in/new.txt", "n\n") + write("real/sub/other.txt", "o\n") + finish();
  const ran = await playIn(place, { lines: [planTo(...steps), script] });
  expect(ran.outcome.error).toBeNull();
  expect(ran.planned()).toEqual(["MODIFY real/a.txt", "WRITE real/new.txt", "WRITE real/sub/other.txt"]);
  expect(ran.notices()).toContain("note leads to real/a.txt by a link: that is what the plan works on");
  const changed = ran.outcome.changes.map(({ path }) => path).sort();
  expect(changed).toEqual(["real/a.txt", "real/new.txt", "real/sub", "real/sub/other.txt"]);
  expect(lstatSync(join(place.root, "note")).isSymbolicLink()).toBe(true);
  expect(ran.asked(1)).toContain("note -> real/a.txt");
});

test("a link that is swapped between plan and work is not followed anywhere else", async () => {
  const place = makeLinks();
  const swap = () => {
    rmSync(join(place.root, "in"));
    symlinkSync(join(dirname(place.root), "outside"), join(place.root, "in"));
  };
  const script = { text: write("in/new.txt", "n\n") + finish(), before: swap };
  const ran = await playIn(place, { lines: [planTo("WRITE in/new.txt"), script, finish()] });
  expect(ran.outcome.ok).toBe(false);
  expect(readdirSync(join(dirname(place.root), "outside"))).toEqual([]);
});

test("what a link leads to is judged by its own name", async () => {
  const place = makeFolder({ ".env": "A=1\n", Makefile: "all:\n" });
  symlinkSync(".env", join(place.root, "settings"));
  const lines = [planTo("WRITE settings"), planTo("WRITE settings")];
  const ran = await playIn(place, { lines });
  expect(ran.outcome.error).toMatchObject({ code: "path_refused", message: expect.stringContaining(".env") });
});

test("a plan that removes a link, and one that puts a file in its place, are carried out", async () => {
  const place = makeLinks();
  const steps = ["RM out", "RM note", "WRITE note"];
  const script = `RM::out\nRM::note\n${write("note", "mine\n")}${finish()}`;
  const ran = await playIn(place, { lines: [planTo(...steps), script], options: { allowDelete: true } });
  expect(ran.outcome.error).toBeNull();
  expect([ran.files["note"], readdirSync(place.root).sort()]).toEqual(["mine\n", ["in", "note", "real"]]);
});

test("below the diff of a file with several names a warning says that the others keep the old content", async () => {
  const place = makeFolder({ "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" });
  const twin = join(dirname(place.root), "twin");
  linkSync(join(place.root, "a.txt"), twin);
  linkSync(join(place.root, "c.txt"), join(dirname(place.root), "third"));
  const steps = ["MODIFY a.txt", "MODIFY b.txt", "RM c.txt"];
  const script = `${modify("a.txt", ["a\n", "A\n"])}${modify("b.txt", ["b\n", "B\n"])}RM::c.txt\n${finish()}`;
  const ran = await playIn(place, { lines: [planTo(...steps), script], options: { allowDelete: true } });
  const told = ran.events.slice(ran.events.findIndex(({ type }) => type === "changes.proposed") + 1);
  expect(told[0]).toMatchObject({ type: "notice", level: "warning", code: "other_names" });
  expect(ran.notices()).toEqual(["a.txt has another name (hard link), which keeps the old content"]);
  expect([ran.files["a.txt"], readFileSync(twin, "utf8")]).toEqual(["A\n", "a\n"]);
});
