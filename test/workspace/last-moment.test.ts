/** What somebody else does in the worst moment is never lost, and what fails leaves nothing behind. */
import { afterEach, describe, expect, test } from "bun:test";
import { linkSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RelPath } from "../../src/core/path.ts";
import { putBack, takeBack } from "../../src/workspace/journal/take-back.ts";
import { openDisk } from "../../src/workspace/system/disk.ts";
import { at, change, file, makePlace, openPlace, type Place, treeOf } from "./tree.ts";

let place: Place = makePlace();
afterEach(() => place.remove());

describe("a commit", () => {
  test("that fails takes its folders and files away again", async () => {
    place = makePlace({ "a.txt": "a", "b.txt": "b" });
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
    const changes = [
      change("new/c.txt", null, file("c")),
      change("a.txt", file("a"), null),
      change("b.txt", file("b"), file("B")),
    ];
    await expect(tx.apply(changes)).rejects.toMatchObject({ code: "io_failed" });
    expect(treeOf(place.work)).toEqual(before);
  });
});

describe("taking back", () => {
  test("of a file that got a second name meanwhile changes only its own name", async () => {
    place = makePlace({ "a.txt": "old" });
    const tx = openPlace(place).begin("r1");
    await tx.apply([change("a.txt", file("old"), file("new")), change("c.txt", null, file("c"))]);
    linkSync(join(place.work, "a.txt"), join(place.work, "b.txt"));
    linkSync(join(place.work, "c.txt"), join(place.work, "d.txt"));
    expect((await tx.rollback()).left).toEqual([]);
    const rest = { "b.txt": "file 644 new", "d.txt": "file 644 c" };
    expect(treeOf(place.work)).toEqual({ "a.txt": "file 644 old", ...rest });
  });

  test("leaves what the system lets nobody look at, and takes back the rest", () => {
    place = makePlace({ "a.txt": "new", "d/b.txt": "new" });
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
    place = makePlace({ "a.txt": "new", "victim.txt": "mine", "twin.txt": "old" });
    const before = treeOf(place.work);
    const { root } = openPlace(place);
    const changes = [change("a.txt", file("old"), file("new"))];
    const forged = [
      [at("a.txt"), "victim.txt"],
      [at("a.txt"), "twin.txt"],
    ] as const;
    expect(putBack(root, openDisk(), changes, forged)).toEqual([]);
    expect(treeOf(place.work)).toEqual(before);
  });

  test("leaves no temporary file behind that cannot be read for a moment: the next start tidies it", () => {
    const temp = ".pai-0123456789abcdef.tmp";
    place = makePlace({ "a.txt": "new", [temp]: "old" });
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
