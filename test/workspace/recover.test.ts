/** A process that dies anywhere, in a commit or in the recovery of one, leaves before or after and never between. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { noEffects } from "../../src/core/change.ts";
import { finish } from "../../src/core/steps.ts";
import type { Root } from "../../src/workspace/confine.ts";
import { takeLook } from "../../src/workspace/effects/look.ts";
import { noUndo } from "../../src/workspace/effects/watch.ts";
import { openDisk } from "../../src/workspace/system/disk.ts";
import type { TransactionParts } from "../../src/workspace/transaction.ts";
import { needs, strace } from "../needs.ts";
import { bothEnds, recoverHere, startCommitter } from "./cut.ts";
import { noRules } from "./folder.ts";
import { countCalls, inject, pointsOf } from "./inject.ts";
import { change, deadProcess, dyingDisk, file, makePlace, openPlace, type Place, treeOf } from "./tree.ts";
import { renewTwelve } from "./twelve.ts";

const start = { "a.txt": "a", "b.txt": "b", "old/c.txt": "c" };
const batch = () => [
  change("a.txt", file("a"), file("A")),
  change("b.txt", file("b"), null),
  change("old", { kind: "folder", mode: 0o755 }, null),
  change("old/c.txt", file("c"), null),
  change("new/c.txt", null, file("c"), "old/c.txt"),
  change("link", null, { kind: "link", target: "a.txt" }),
];

function renew(made: Place): void {
  for (const folder of [made.work, made.state]) rmSync(folder, { recursive: true, force: true });
  for (const [name, text] of Object.entries(start)) {
    mkdirSync(join(made.work, name, ".."), { recursive: true });
    writeFileSync(join(made.work, name), text);
  }
}

/** Runs a batch as a process that dies at its n-th effect; whether it lived. */
async function dieAt(made: Place, n: number): Promise<boolean> {
  const { disk, effects } = dyingDisk(n);
  const opened = openPlace(made, disk, deadProcess());
  await opened
    .begin("r1")
    .apply(batch())
    .catch(() => {});
  opened.root.close();
  return effects() <= n;
}

const recoverWith = (made: Place, disk = openDisk()) => openPlace(made, disk, deadProcess()).recover();

const openMarkers = (made: Place) => {
  const folder = join(made.state, "open");
  return existsSync(folder) ? readdirSync(folder) : [];
};

test("dying at every effect of a commit: recovery brings back the start", async () => {
  const made = makePlace();
  for (let n = 0; ; n++) {
    renew(made);
    const before = treeOf(made.work);
    const lived = await dieAt(made, n);
    await recoverWith(made);
    expect(treeOf(made.work)).toEqual(before);
    expect(openMarkers(made)).toEqual([]);
    if (lived) break;
  }
});

test("dying at every effect of a recovery: the next one ends it", async () => {
  const made = makePlace();
  renew(made);
  let effects = 0;
  const counting = openDisk(() => void effects++);
  await openPlace(made, counting, deadProcess()).begin("r1").apply(batch());
  for (const died of [effects - 1, effects - 4, effects - 9, effects - 14]) {
    for (let n = 0; ; n++) {
      renew(made);
      const before = treeOf(made.work);
      await dieAt(made, died);
      const dying = dyingDisk(n);
      await recoverWith(made, dying.disk).catch(() => {});
      await recoverWith(made);
      expect(treeOf(made.work)).toEqual(before);
      expect(openMarkers(made)).toEqual([]);
      if (dying.effects() <= n) break;
    }
  }
});

test("recovery leaves and names what somebody else changed since", async () => {
  const made = makePlace(start);
  await openPlace(made, openDisk(), deadProcess()).begin("r1").apply(batch());
  writeFileSync(join(made.work, "a.txt"), "theirs");
  const messages = await recoverWith(made);
  expect(messages).toEqual([expect.stringContaining("a.txt")]);
  // An undo would write over what is theirs, so it refuses, and none is promised.
  expect(messages[0]).not.toContain("pai undo");
  expect(treeOf(made.work)).toMatchObject({ "a.txt": "file 644 theirs", "b.txt": "file 644 b" });
  expect(await recoverWith(made)).toEqual([]);
});

test.each([
  ["whose batch was applied", 0],
  ["that died within its batch", 1],
])("what a run %s has left in a file that somebody changed is named, and undone", async (_, missing) => {
  const lines = { "a.txt": "a\n1\n2\nlast\n" };
  const edit = change("a.txt", file(lines["a.txt"]), file("A\n1\n2\nlast\n"));
  let effects = 0;
  await openPlace(
    makePlace(lines),
    openDisk(() => void effects++),
    deadProcess(),
  )
    .begin("r1")
    .apply([edit]);
  const made = makePlace(lines);
  const { disk } = dyingDisk(effects - missing);
  await openPlace(made, disk, deadProcess())
    .begin("r1")
    .apply([edit])
    .catch(() => {});
  expect(readFileSync(join(made.work, "a.txt"), "utf8")).toBe("A\n1\n2\nlast\n");
  writeFileSync(join(made.work, "a.txt"), "A\n1\n2\nmine\n");
  expect((await recoverWith(made)).at(-1)).toMatch(/left as they are: a\.txt; pai undo r1 takes these back too$/);
  const { root, history } = openPlace(made);
  expect(history.list()).toMatchObject([{ status: "rolled_back", left: ["a.txt"] }]);
  const undone = await history.undo(null, { dryRun: false, merge: true });
  expect(undone).toMatchObject({ merged: ["a.txt"], run: { id: "r1", status: "undone", left: [] } });
  expect(readFileSync(join(made.work, "a.txt"), "utf8")).toBe("a\n1\n2\nmine\n");
  root.close();
});

test("a torn or damaged last line is not a promise, and nothing is lost by it", async () => {
  const made = makePlace(start);
  await openPlace(made, openDisk(), deadProcess()).begin("r1").apply(batch());
  const record = join(made.state, "journal/r1/record");
  const whole = readFileSync(record);
  const applied = treeOf(made.work);
  const firstLine = whole.indexOf("\n", 1);
  for (let cut = firstLine + 1; cut < whole.length; cut += 19) {
    rmSync(made.work, { recursive: true });
    renew(made);
    await dieAt(made, Number.POSITIVE_INFINITY);
    expect(treeOf(made.work)).toEqual(applied);
    writeFileSync(record, whole.subarray(0, cut));
    await recoverWith(made);
    expect([JSON.stringify(applied), JSON.stringify(treeOf(makePlace(start).work))]).toContain(
      JSON.stringify(treeOf(made.work)),
    );
  }
});

test("recovery does not follow a link that took a folder's place", async () => {
  const made = makePlace(start);
  await openPlace(made, openDisk(), deadProcess())
    .begin("r1")
    .apply([change("old/c.txt", file("c"), file("C"))]);
  const outside = join(made.base, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "c.txt"), "C");
  rmSync(join(made.work, "old"), { recursive: true });
  symlinkSync(outside, join(made.work, "old"));
  expect(await recoverWith(made)).toEqual([expect.stringContaining("old/c.txt")]);
  expect(readFileSync(join(outside, "c.txt"), "utf8")).toBe("C");
});

test("kill -9 at any moment, again and again, leaves before or after", async () => {
  const made = makePlace();
  const ends = await bothEnds(made);
  const until = performance.now() + 1500;
  let kills = 0;
  for (; kills < 3 || (kills < 25 && performance.now() < until); kills++) {
    renewTwelve(made);
    const child = await startCommitter(made, "commit");
    child.go();
    await Bun.sleep((kills * 7) % 31);
    child.kill();
    await child.end();
    await recoverHere(made, ends);
  }
});

needs(strace).test("the system refuses or kills in the middle of a commit: before or after", async () => {
  const made = makePlace();
  const ends = await bothEnds(made);
  const calls = await countCalls(made, "commit");
  const naming = new Map([...calls].filter(([name]) => /^(rename|unlink|fsync|mkdir)/.test(name)));
  const until = performance.now() + 1500;
  for (const point of pointsOf(naming, 19)) {
    if (performance.now() > until) break;
    renewTwelve(made);
    const said = await inject(made, "commit", point);
    const end = await recoverHere(made, ends);
    if (said === "done") expect({ ...point, end }).toEqual({ ...point, end: "after" });
  }
});

test("dying at every effect around a command: what it changed is taken back, or reported and undone", async () => {
  const made = makePlace();
  let root: Root | null = null;
  const command: TransactionParts["perform"] = async (_command, _options, { begun }) => {
    if (root === null) throw new Error("no root");
    const look = { root, rules: noRules, isWalled: true, git: false, keepsIgnored: true };
    begun(finish(takeLook({ ...look, own: new Set(), known: null })), { git: false, isWalled: true });
    writeFileSync(join(made.work, "b.txt"), "B");
    const changes = [{ ...change("b.txt", file("b"), file("B")), isIgnored: false }];
    const held = { level: null, network: true, isCopy: false, withheld: [], hidden: [], wall: null };
    const result = { exit: 0, timedOut: false, output: "", ms: 0, held, effects: { ...noEffects, changes } };
    return { result, copy: null, undo: noUndo };
  };
  for (let n = 0, lived = false; !lived; n++) {
    renew(made);
    const { disk, effects } = dyingDisk(n);
    const opened = openPlace(made, disk, deadProcess());
    root = opened.root;
    const run = opened.begin("r1", "t", command);
    const options = { by: "plan", timeoutMs: 1, signal: new AbortController().signal } as const;
    lived = await run.run("", options).then(
      () => effects() <= n,
      () => false,
    );
    opened.root.close();
    const told = (await recoverWith(made)).join();
    const isLeft = readFileSync(join(made.work, "b.txt"), "utf8") === "B";
    expect([n, isLeft && !told.includes("and left: b.txt;")]).toEqual([n, false]);
    if (!isLeft) continue;
    const again = openPlace(made);
    expect(again.history.list()).toMatchObject([{ status: "applied", ...(!lived && { cut: true }) }]);
    again.root.close();
  }
});

/** A batch that was applied, on a state disk that fails from `break` on. */
async function applyThenFail(made: Place, code: string) {
  renew(made);
  const before = treeOf(made.work);
  let broken = false;
  const stateDisk = openDisk(() => {
    if (broken) throw Object.assign(new Error("it failed"), { code });
  });
  const opened = openPlace(made, openDisk(), deadProcess(), stateDisk);
  const run = opened.begin("r1");
  await run.apply(batch());
  return {
    run,
    before,
    close: () => opened.root.close(),
    setBroken(now: boolean) {
      broken = now;
    },
  };
}

test.each(["ENOSPC", "EROFS", "EIO"])("%s of pai's own state does not hold up taking a run back", async (code) => {
  const made = makePlace();
  const { run, before, setBroken, close } = await applyThenFail(made, code);
  setBroken(true);
  expect((await run.rollback()).left).toEqual([]);
  close();
  expect(treeOf(made.work)).toEqual(before);
  setBroken(false);
  await recoverWith(made);
  expect([treeOf(made.work), openMarkers(made)]).toEqual([before, []]);
  const again = await applyThenFail(made, code);
  again.setBroken(true);
  // A run whose end cannot be written down can still be taken back.
  await expect(again.run.close()).rejects.toThrow("it failed");
  expect((await again.run.rollback()).left).toEqual([]);
  again.close();
  expect(treeOf(made.work)).toEqual(before);
});
