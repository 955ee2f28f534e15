/** Somebody takes back work in a file between two edits of a run: the run counts its own, and its undo leaves theirs. */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { calling, playLoopIn, resultsOf } from "../loop.ts";
import { makeFolder, openHere } from "../scripted.ts";

/** `x = 2` is the work of an earlier turn. */
const start = "x = 2\ny = 1\nz = 1\n";
const committed = "x = 1\ny = 1\nz = 1\n";

interface Taken {
  /** The file as somebody leaves it after the first edit, which makes y 2. */
  readonly text: string;
  /** The line that the second edit replaces. */
  readonly old: string;
  /** The model is told that its first edit is gone. */
  readonly isTold: boolean;
  readonly lost?: readonly string[];
  /** The file after the undo of the run. */
  readonly undone: string;
}

const isTold = true;
const [beside, over] = ["x = 1\ny = 2\nz = 1\n", "x = 2\ny = 9\nz = 1\n"];
const cases: Readonly<Record<string, Taken>> = {
  "all that is not committed": { text: committed, old: "z = 1\n", isTold, lost: ["a.txt"], undone: committed },
  "all, and the run writes its line again": { text: committed, old: "y = 1\n", isTold, undone: committed },
  "what was done to the line beside": { text: beside, old: "y = 2\n", isTold: false, undone: committed },
  "nothing, but writes over the line": { text: over, old: "y = 9\n", isTold: false, undone: over },
};

test.each(Object.entries(cases))("somebody takes back %s", async (_, { text, old, lost, undone, ...wanted }) => {
  const place = makeFolder({ "a.txt": start });
  const file = join(place.root, "a.txt");
  const edit = (from: string, to: string) => calling("edit", { path: "a.txt", old_str: from, new_str: to });
  const look = { ...calling("read", { path: "a.txt" }), before: () => writeFileSync(file, text) };
  const lines = [edit("y = 1\n", "y = 2\n"), look, edit(old, "new = 3\n"), "Done."];
  const ran = await playLoopIn(place, lines, { options: { interactive: true }, answers: "yes" });
  expect(ran.files["a.txt"]).toBe(text.replace(old, "new = 3\n"));
  expect(ran.outcome).toMatchObject({ code: 0, merged: ["a.txt"], changes: [{ added: 1, deleted: 1 }] });
  expect(ran.outcome.lost).toEqual(lost as string[] | undefined);
  const gone = "and what you had changed in it by then is gone";
  expect(resultsOf(ran, 3).at(-1)?.text.includes(gone)).toBe(wanted.isTold);
  const { history } = await openHere(place);
  await history.undo(null, { dryRun: false });
  expect(readFileSync(file, "utf8")).toBe(undone);
});
