/** Whose a file is once it was changed without a plan, or made again by undo. */
import { expect } from "bun:test";
import { statSync } from "node:fs";
import { needs, otherUser } from "../../needs.ts";
import { readOutcome } from "../contract.ts";
import { openPlace } from "../harness.ts";
import { done, modify, planned } from "../replies.ts";

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

needs(otherUser).test.concurrent(
  "a member of its group changes another user's file where it is, and takes that back: owner and group stay",
  async () => {
    const answers = [planned([["MODIFY", "a.txt"]]), done(modify("a.txt", "one\n", "two\n"))];
    await using place = openPlace(answers, { "a.txt": "one\n" });
    const as = 'HOME=/tmp/none setpriv --reuid=65534 --regid=65534 --groups=33 "$PAI"';
    const own = "chmod 755 ..; chown 1234:33 . a.txt; chmod 2775 .; chmod 664 a.txt";
    const whose = () => {
      const { uid, gid } = statSync(`${place.root}/a.txt`);
      return [uid, gid, place.read("a.txt")];
    };
    const ran = readOutcome(await place.shell(`${own}; ${as} run -y --json "change it"`));
    expect([ran.code, ran.error, whose()]).toEqual([0, null, [1234, 33, "two\n"]]);
    expect([(await place.shell(`${as} undo -y`)).code, whose()]).toEqual([0, [1234, 33, "one\n"]]);
  },
);
