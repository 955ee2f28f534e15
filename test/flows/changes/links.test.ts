/** Links: a plan that reaches through one is refused before a call is spent on it, and hard links are reported. */
import { expect, test } from "bun:test";
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { finish, modify, plan, write } from "../plans.ts";
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
  ["MODIFY in/a.txt", "in is a link to real"],
  ["MKDIR out/x/y", "out is a link to"],
  ["RM in/a.txt", "in is a link to real"],
  ["MV real/a.txt -> out/a.txt", "out is a link to"],
  ["MODIFY note", 'note is a link to "real/a.txt"'],
  ["WRITE out", "out is a link to"],
];

for (const [step, message] of refused) {
  test(`${step} is refused with the plan, by one call`, async () => {
    const place = makeLinks();
    const ran = await playIn(place, { lines: [plan({ steps: [step] })], options: { allowDelete: true } });
    expect([ran.outcome.error?.code, ran.purposes]).toEqual(["path_refused", "plan"]);
    expect(ran.outcome.error?.message).toContain(message);
    expect(readdirSync(join(dirname(place.root), "outside"))).toEqual([]);
    place.remove();
  });
}

test("a plan that removes a link, and one that puts a file in its place, are carried out", async () => {
  const place = makeLinks();
  const steps = ["RM out", "RM note", "WRITE note"];
  const script = `RM::out\nRM::note\n${write("note", "mine\n")}${finish()}`;
  const ran = await playIn(place, { lines: [plan({ steps }), script], options: { allowDelete: true } });
  expect(ran.outcome.error).toBeNull();
  expect([ran.files["note"], readdirSync(place.root).sort()]).toEqual(["mine\n", ["in", "note", "real"]]);
  place.remove();
});

test("below the diff of a file with several names a warning says that the others keep the old content", async () => {
  const place = makeFolder({ "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" });
  const twin = join(dirname(place.root), "twin");
  linkSync(join(place.root, "a.txt"), twin);
  linkSync(join(place.root, "c.txt"), join(dirname(place.root), "third"));
  const steps = ["MODIFY a.txt", "MODIFY b.txt", "RM c.txt"];
  const script = `${modify("a.txt", ["a\n", "A\n"])}${modify("b.txt", ["b\n", "B\n"])}RM::c.txt\n${finish()}`;
  const ran = await playIn(place, { lines: [plan({ steps }), script], options: { allowDelete: true } });
  const told = ran.events.slice(ran.events.findIndex(({ type }) => type === "changes.proposed") + 1);
  expect(told[0]).toMatchObject({ type: "notice", level: "warning", code: "other_names" });
  expect(ran.eventsOf("notice").map(({ text }) => text)).toEqual([
    "a.txt has another name (hard link), which keeps the old content",
  ]);
  expect([ran.files["a.txt"], readFileSync(twin, "utf8")]).toEqual(["A\n", "a\n"]);
  place.remove();
});
