/** What somebody else does in the worst moment, such as a save, is never lost, and what fails leaves nothing behind. */
import { describe, expect, test } from "bun:test";
import { closeSync, linkSync, openSync, readFileSync, renameSync, unlinkSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { RelPath } from "../../src/core/path.ts";
import { putBack, takeBack } from "../../src/workspace/journal/take-back.ts";
import { type Disk, openDisk } from "../../src/workspace/system/disk.ts";
import { at, change, deadProcess, dyingDisk, file, makePlace, openPlace, treeOf } from "./tree.ts";

const saves = {
  "over a rename": (path: string, text: string) => {
    writeFileSync(`${path}~`, text);
    renameSync(`${path}~`, path);
  },
  "in place": (path: string, text: string) => writeFileSync(path, text),
  "by removing it first": (path: string, text: string) => {
    unlinkSync(path);
    writeFileSync(path, text);
  },
} as const;

/** A disk on which `save` happens right before the n-th effect of this name, after all checks. */
function interrupted(effect: string, save: () => void, n = 1): Disk {
  let seen = 0;
  return openDisk((name) => {
    if (name === effect && ++seen === n) save();
  });
}

for (const [how, save] of Object.entries(saves)) {
  test(`a save ${how} between the last check and the exchange keeps its name`, async () => {
    const made = makePlace({ "a.txt": "a", "b.txt": "old" });
    const disk = interrupted("exchange", () => save(join(made.work, "b.txt"), "save"), 2);
    const run = openPlace(made, disk).begin("r1");
    const changes = [change("a.txt", file("a"), file("A")), change("b.txt", file("old"), file("new"))];
    await expect(run.apply(changes)).rejects.toMatchObject({ code: "conflict" });
    expect(treeOf(made.work)).toEqual({ "a.txt": "file 644 a", "b.txt": "file 644 save" });
  });

  test(`a save ${how} between the last check and the removal keeps its name`, async () => {
    const made = makePlace({ "a.txt": "old" });
    const disk = interrupted("rename", () => save(join(made.work, "a.txt"), "save"));
    const run = openPlace(made, disk).begin("r1");
    await expect(run.apply([change("a.txt", file("old"), null)])).rejects.toMatchObject({ code: "conflict" });
    expect(treeOf(made.work)).toEqual({ "a.txt": "file 644 save" });
  });
}

test("two saves faster than pai can give the name back: the newest has the name, the other is a copy", async () => {
  const made = makePlace({ "a.txt": "old" });
  const path = join(made.work, "a.txt");
  let saved = 0;
  const disk = openDisk((effect) => {
    if (effect === "exchange" && saved < 2) saves["over a rename"](path, `save ${++saved}`);
  });
  const failure = openPlace(made, disk)
    .begin("r1")
    .apply([change("a.txt", file("old"), file("new"))]);
  await expect(failure).rejects.toMatchObject({ code: "conflict", hint: expect.stringContaining("a.txt.conflict-") });
  expect(readFileSync(path, "utf8")).toBe("save 2");
  expect(Object.values(treeOf(made.work)).sort()).toEqual(["file 644 save 1", "file 644 save 2"]);
});

test("a file that somebody has open for writing is not replaced under him", async () => {
  const made = makePlace({ "a.txt": "old" });
  const fd = openSync(join(made.work, "a.txt"), "r+");
  const run = openPlace(made).begin("r1");
  await expect(run.apply([change("a.txt", file("old"), file("new"))])).rejects.toMatchObject({ code: "conflict" });
  writeSync(fd, "OLD");
  closeSync(fd);
  expect(treeOf(made.work)).toEqual({ "a.txt": "file 644 OLD" });
});

test("a save during a take-back is left, and the rest is taken back", async () => {
  const made = makePlace({ "a.txt": "a", "b.txt": "b" });
  let saved = false;
  let armed = false;
  const disk = openDisk((effect) => {
    if (!armed || saved || effect !== "exchange") return;
    saved = true;
    writeFileSync(join(made.work, "a.txt"), "save");
  });
  const run = openPlace(made, disk).begin("r1");
  await run.apply([change("a.txt", file("a"), file("A")), change("b.txt", file("b"), file("B"))]);
  armed = true;
  const report = await run.rollback();
  expect<readonly string[]>(report.left).toEqual(["a.txt"]);
  expect(treeOf(made.work)).toEqual({ "a.txt": "file 644 save", "b.txt": "file 644 b" });
});

test("a crash while somebody's save stands aside: the next start gives it its name back", async () => {
  const start = { "a.txt": "old" };
  const failures: string[] = [];
  for (let n = 0; n < 40; n++) {
    const made = makePlace(start);
    const dying = dyingDisk(n);
    let saved = false;
    const disk: Disk = {
      ...dying.disk,
      exchange(path, other) {
        if (!saved) saves["over a rename"](join(made.work, "a.txt"), "save");
        saved = true;
        return dying.disk.exchange(path, other);
      },
    };
    await openPlace(made, disk, deadProcess())
      .begin("r1")
      .apply([change("a.txt", file("old"), file("new"))])
      .catch(() => {});
    await openPlace(made).recover();
    const tree = treeOf(made.work);
    if (JSON.stringify(tree) !== JSON.stringify({ "a.txt": `file 644 ${saved ? "save" : "old"}` })) {
      failures.push(`${n}: ${JSON.stringify(tree)}`);
    }
  }
  expect(failures).toEqual([]);
});

test("a commit that fails takes its folders and files away again", async () => {
  const place = makePlace({ "a.txt": "a", "b.txt": "b" });
  const before = treeOf(place.work);
  const disk = openDisk();
  let failures = 1;
  const failing = {
    ...disk,
    removeFile(path: string) {
      if (path.startsWith("/proc/self/fd/") && failures-- > 0) throw Object.assign(new Error("EIO"), { code: "EIO" });
      disk.removeFile(path);
    },
  };
  const tx = openPlace(place, failing).begin("r1");
  const edits = [change("a.txt", file("a"), null), change("b.txt", file("b"), file("B"))];
  await expect(tx.apply([change("new/c.txt", null, file("c")), ...edits])).rejects.toMatchObject({ code: "io_failed" });
  expect(treeOf(place.work)).toEqual(before);
});

describe("taking back", () => {
  test("of a file that got a second name meanwhile changes only its own name", async () => {
    const place = makePlace({ "a.txt": "old" });
    const tx = openPlace(place).begin("r1");
    await tx.apply([change("a.txt", file("old"), file("new")), change("c.txt", null, file("c"))]);
    linkSync(join(place.work, "a.txt"), join(place.work, "b.txt"));
    linkSync(join(place.work, "c.txt"), join(place.work, "d.txt"));
    expect((await tx.rollback()).left).toEqual([]);
    const rest = { "b.txt": "file 644 new", "d.txt": "file 644 c" };
    expect(treeOf(place.work)).toEqual({ "a.txt": "file 644 old", ...rest });
  });

  test("leaves what the system lets nobody look at, and takes back the rest", () => {
    const place = makePlace({ "a.txt": "new", "d/b.txt": "new" });
    const { root } = openPlace(place);
    const refusing = {
      ...root,
      stat(path: RelPath) {
        if (path.startsWith("d/")) throw Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
        return root.stat(path);
      },
    };
    const changes = [change("a.txt", file("old"), file("new")), change("d/b.txt", file("old"), file("new"))];
    const { restored, left } = takeBack(refusing, openDisk(), null, { changes, traits: new Map() });
    expect([restored.map(({ path }) => String(path)), left.map(String)]).toEqual([["a.txt"], ["d/b.txt"]]);
    expect(treeOf(place.work)).toMatchObject({ "a.txt": "file 644 old", "d/b.txt": "file 644 new" });
  });

  test("touches no name that is not a temporary one, whatever a record says", () => {
    const place = makePlace({ "a.txt": "new", "victim.txt": "mine", "twin.txt": "old" });
    const before = treeOf(place.work);
    const { root } = openPlace(place);
    const changes = [change("a.txt", file("old"), file("new"))];
    const forged = ["victim.txt", "twin.txt"].map((name) => [at("a.txt"), name] as const);
    expect(putBack(root, openDisk(), changes, forged)).toEqual([]);
    expect(treeOf(place.work)).toEqual(before);
  });

  test("leaves no temporary file behind that cannot be read for a moment: the next start tidies it", () => {
    const temp = ".pai-0123456789abcdef.tmp";
    const place = makePlace({ "a.txt": "new", [temp]: "old" });
    const { root } = openPlace(place);
    const readBytes = () => {
      throw Object.assign(new Error("EACCES"), { code: "EACCES" });
    };
    const tidy = (through: typeof root) =>
      putBack(through, openDisk(), [change("a.txt", file("old"), file("new"))], [[at("a.txt"), temp]]);
    expect(() => tidy({ ...root, readBytes })).toThrow(`${temp} cannot be read`);
    expect(tidy(root)).toEqual([]);
    expect(Object.keys(treeOf(place.work))).toEqual(["a.txt"]);
    expect(readFileSync(join(place.work, "a.txt"), "utf8")).toBe("old");
  });
});
