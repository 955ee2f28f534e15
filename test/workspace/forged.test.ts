/** Records that this pai did not write, or that lead where no run may write: nothing is done by them, and nothing stops for them. */
import { expect, test } from "bun:test";
import { chmodSync, cpSync, lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Change } from "../../src/core/change.ts";
import { openJournal } from "../../src/workspace/journal/journal.ts";
import { openDisk } from "../../src/workspace/system/disk.ts";
import { at, change, deadProcess, file, makePlace, openPlace, type Place, treeOf } from "./tree.ts";

const dead = (made: Place) => openPlace(made, openDisk(), deadProcess());

/** A run that was cut off in the middle of these changes. */
function intend(made: Place, id: string, ...changes: readonly Change[]) {
  const journal = openJournal(dead(made).state, id);
  journal.begin("run", "forged");
  if (changes.length > 0) journal.intend({ changes, temps: new Map(), traits: new Map(), seen: new Map() }, "plan");
  return journal;
}

test("a record that this pai has not sealed is not carried out: nothing is touched, and one message says so", async () => {
  // F30: whole lines with the check of a version without seals, and lines that bear the seal of another run.
  const made = makePlace({ "a.txt": "a", "b.txt": "PWNED" });
  const before = treeOf(made.work);
  const sealed = intend(made, "r1", change("b.txt", file("planted"), file("PWNED")));
  const lines = readFileSync(join(made.state, "journal/r1/record"), "utf8");
  const unsealed = lines.replace(/^\S+ (?=\{)(.*)$/gm, (_, json) => `${Bun.hash.crc32(json).toString(36)} ${json}`);
  for (const [id, text] of Object.entries({ r2: unsealed, r3: lines })) {
    cpSync(join(made.state, "journal/r1"), join(made.state, "journal", id), { recursive: true });
    writeFileSync(join(made.state, "journal", id, "record"), text);
    writeFileSync(join(made.state, "open", id), "");
  }
  sealed.forget();

  const notBelieved = (id: string) =>
    expect.stringMatching(new RegExp(`^run ${id} .* is not taken back: .* somebody else`));
  expect(await dead(made).recover()).toEqual([notBelieved("r2"), notBelieved("r3")]);
  expect([treeOf(made.work), readdirSync(join(made.state, "open"))]).toEqual([before, []]);
  expect(await dead(made).recover()).toEqual([]);
  const { history } = dead(made);
  expect(history.list()).toEqual([]);
  expect(history.undo("r2", { dryRun: false })).rejects.toThrow("somebody else");
});

test("a key of the seal that others could have made is replaced, and what it sealed is foreign", async () => {
  const made = makePlace({ "a.txt": "a" });
  const run = dead(made).begin("r1");
  await run.apply([change("a.txt", file("a"), file("A"))]);
  await run.close();
  chmodSync(join(made.state, "seal"), 0o666);
  const idsKept = () =>
    openPlace(made)
      .history.list()
      .map(({ id }) => id);
  expect(idsKept()).toEqual([]);
  await openPlace(made)
    .begin("r2")
    .apply([change("a.txt", file("A"), file("b"))]);
  expect(lstatSync(join(made.state, "seal")).mode & 0o777).toBe(0o600);
  expect(idsKept()).toEqual(["r2"]);
});

test("a record that leads out of the root stops neither the start nor the recovery of others", async () => {
  const made = makePlace({ "b.txt": "b" });
  const journal = intend(made, "r1", change("b.txt", file("b"), file("B")));
  journal.promiseTemps(new Map([[at("../x"), ".pai-0000000000000000.tmp"]]));
  await dead(made)
    .begin("r2")
    .apply([change("b.txt", file("b"), file("B"))]);
  expect(await dead(made).recover()).toEqual([
    expect.stringMatching(/^run r1 was cut off and is not taken back: "\.\.\/x" is not a path below the root/),
    expect.stringContaining("run r2 was cut off and was taken back"),
  ]);
});

test("recovery refuses a record that names what the policy denies, and goes on with the others", async () => {
  // F30: written by hand into the state folder, as no run writes these paths.
  const made = makePlace({ "a.txt": "a", "b.txt": "b", ".git/hooks/pre-commit": "theirs" });
  const before = { ...treeOf(made.work), "b.txt": "file 644 b" };
  const hook = at(".git/hooks/pre-commit");
  const forged = [change("a.txt", file("PWNED"), file("a")), change(hook, file("echo PWNED"), file("theirs"))];
  intend(made, "r1", ...forged);
  const files = [{ path: at(".hg/hgrc"), blob: file("x"), owner: null }];
  intend(made, "r2").watch({ files, others: [], closed: null });
  await dead(made)
    .begin("r3")
    .apply([change("b.txt", file("b"), file("B"))]);

  const messages = await dead(made).recover();
  expect(messages).toEqual([
    expect.stringMatching(/^run r1 .* is not taken back: .*\.git\/hooks\/pre-commit \(/),
    expect.stringMatching(/^run r2 .* is not taken back: .*\.hg\/hgrc \(/),
    expect.stringContaining("run r3 was cut off and was taken back"),
  ]);
  expect(treeOf(made.work)).toEqual(before);
});
