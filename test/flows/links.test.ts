/** A plan that reaches through a link is refused as soon as it is known: no call is spent on carrying it out (S17, S18). */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { finish, plan, write } from "./plans.ts";
import { makeFolder, type Place, playIn } from "./scripted.ts";

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
