/** A second name (hard link) of a file stops no way back: each way restores the names it knows, and no other. */
import { expect, test } from "bun:test";
import { linkSync, mkdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { beginBare, quick } from "./bare.ts";
import { change, file, makePlace, openPlace, treeOf } from "./tree.ts";

/** A run that works on a fresh place whose file `0` has six names. */
async function begin() {
  const place = makePlace({ "0": "old\n", "a.txt": "old\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/config": "" });
  mkdirSync(join(place.work, ".git/hooks"));
  mkdirSync(join(place.work, ".git/objects"));
  for (const name of ["1", "2", "3", "4", "5"]) linkSync(join(place.work, "0"), join(place.work, name));
  return { place, before: treeOf(place.work), ...(await beginBare(place.work, place.state)) };
}

const commands = {
  "a file that already had more": "echo new >0",
  "a new file": "echo new >b.txt; ln b.txt c.txt; ln b.txt d.txt",
  "a changed file": "echo new >a.txt; ln a.txt c.txt",
};

for (const [what, command] of Object.entries(commands)) {
  test(`what a command made of ${what} is taken back, undone and redone`, async () => {
    const { place, before, tx, history } = await begin();
    await tx.run(command, quick);
    const after = treeOf(place.work);
    expect(after).not.toEqual(before);
    await tx.close();
    expect((await history.undo(null, { dryRun: false })).clashes).toEqual([]);
    expect(treeOf(place.work)).toEqual(before);
    expect((await history.redo(null, { dryRun: false })).clashes).toEqual([]);
    expect(treeOf(place.work)).toEqual(after);

    const again = await begin();
    await again.tx.run(command, quick);
    expect((await again.tx.rollback()).left).toEqual([]);
    expect(treeOf(again.place.work)).toEqual(before);
  });
}

test("a hook that a command gave a second name does not stay", async () => {
  const { place, before, tx } = await begin();
  const hook = ".git/hooks/pre-commit";
  await tx.run(`echo evil >${hook}; chmod +x ${hook}; ln ${hook} .git/objects/zz`, quick);
  expect((await tx.rollback()).left).toEqual([]);
  expect(Object.keys(treeOf(place.work)).filter((path) => !(path in before))).toEqual([".git/objects/zz"]);
});

test("undo takes back the name it knows, whoever gave the file one more since or took one", async () => {
  const { place, tx, history } = await begin();
  await tx.run("echo new >0; echo new >a.txt; ln a.txt twin", quick);
  await tx.close();
  linkSync(join(place.work, "a.txt"), join(place.base, "third"));
  unlinkSync(join(place.work, "5"));
  const { clashes } = await history.undo(null, { dryRun: true });
  expect(clashes.map(({ path }) => String(path))).toEqual(["5"]);
});

test("many names of one file are changed in one batch", async () => {
  const place = makePlace({ a: "old" });
  for (const name of ["b", "c", "d"]) linkSync(join(place.work, "a"), join(place.work, name));
  const names = ["a", "b", "c", "d"];
  await openPlace(place)
    .begin("r1")
    .apply([...names.map((name) => change(name, file("old"), name === "d" ? null : file("new")))]);
  expect(treeOf(place.work)).toEqual({ a: "file 644 new", b: "file 644 new", c: "file 644 new" });
});
