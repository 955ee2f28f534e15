/** Whose a file is once it was changed without a plan, or made again by undo. */
import { expect } from "bun:test";
import { statSync } from "node:fs";
import { needs, otherUser } from "../../needs.ts";
import { readOutcome } from "../contract.ts";
import { openPlace } from "../harness.ts";
import { called, done, modify, planned, says } from "../replies.ts";

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
  "without a plan, too, a file that would lose its owner ends the run with 14, and one that may be written keeps it",
  async () => {
    const answers = [
      called(["edit", { path: "a.txt", old_str: "one", new_str: "two" }]),
      says("Done."),
      called(["mv", { from: "a.txt", to: "b.txt" }]),
      called(["edit", { path: "a.txt", old_str: "two", new_str: "three" }]),
    ];
    await using place = openPlace(answers, { "a.txt": "one\n" });
    const as =
      'HOME=/tmp/none setpriv --reuid=65534 --regid=65534 --clear-groups "$PAI" run -y --json --mode tool-loop';
    const own = "chmod 755 .. .; chown 65534:65534 .; chown 65534:33 a.txt";
    const edited = readOutcome(await place.shell(`${own}; ${as} "change it"`));
    expect([edited.code, statSync(`${place.root}/a.txt`).gid]).toEqual([0, 33]);
    const why = "a.txt belongs to a group that you are not in (gid 33), and would belong to you once it is changed";
    const moved = readOutcome(await place.shell(`${as} "rename it"`));
    const shut = readOutcome(await place.shell(`chmod 444 a.txt; ${as} --allow a.txt "change it"`));
    expect([moved, shut].map(({ code, error }) => [code, error?.message])).toEqual([
      [14, why],
      [14, why],
    ]);
    expect(place.tree()).toEqual({ "a.txt": "two\n" });
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
