/** Whose a deleted file is once undo has made it again. */
import { expect } from "bun:test";
import { statSync } from "node:fs";
import { needs, otherUser } from "../../needs.ts";
import { readOutcome } from "../contract.ts";
import { openPlace } from "../harness.ts";
import { done, planned } from "../replies.ts";

needs(otherUser).test.concurrent(
  "a deleted file that comes back keeps its group where the user is in it; else it is said whose it was",
  async () => {
    const answers = [
      planned([
        ["RM", "a.txt"],
        ["RM", "b.txt"],
      ]),
      done("RM::a.txt\nRM::b.txt\n"),
    ];
    await using place = openPlace(answers, { "a.txt": "one\n", "b.txt": "two\n" });
    const as = 'HOME=/tmp/none setpriv --reuid=65534 --regid=65534 --groups=33 "$PAI"';
    const own = "chmod 755 .. .; chown 65534:65534 .; chown 65534:33 a.txt; chown 65534:34 b.txt";
    expect(readOutcome(await place.shell(`${own}; ${as} run -y --json --allow-delete "remove both"`)).code).toBe(0);
    const undone = await place.shell(`${as} undo -y`);
    expect([undone.code, place.tree()]).toEqual([0, { "a.txt": "one\n", "b.txt": "two\n" }]);
    expect(["a.txt", "b.txt"].map((name) => statSync(`${place.root}/${name}`).gid)).toEqual([33, 65534]);
    const why =
      "b.txt belonged to a group that you are not in (gid 34) and belongs to you now: only root gives it back";
    expect([undone.stdout.includes(why), undone.stdout.includes("a.txt belonged")]).toEqual([true, false]);
  },
);
