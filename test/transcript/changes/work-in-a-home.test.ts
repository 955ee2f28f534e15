/** Work in a home, which also holds pai's own settings and state. */
import { expect, test } from "bun:test";
import { readOutcome } from "../contract.ts";
import { openPlace } from "../harness.ts";
import { done, modify, planned } from "../replies.ts";

test.concurrent("what pai itself writes into its state while a check runs is not taken for the check's work", async () => {
  const answers = [planned([["MODIFY", "a.txt"]]), done(modify("a.txt", "one\n", "two\n"))];
  await using place = openPlace([...answers, ...answers], { "a.txt": "one\n" });
  const run = (check: string) =>
    place.shell(`HOME=$PWD "$PAI" run -y --json --force-root --check '${check}' "change it"`);
  const kept = await run("grep -q two a.txt");
  expect([readOutcome(kept).code, place.read("a.txt")]).toEqual([0, "two\n"]);
  expect(kept.stdout).not.toContain("closed to pai");
  expect(kept.stdout).not.toContain(".local/state");
  expect((await place.shell('HOME=$PWD "$PAI" undo -y --force-root')).code).toBe(0);
  const failed = await run("false");
  expect(failed.stdout).not.toContain(".local/state");
  expect([place.read("a.txt"), (await place.shell('HOME=$PWD "$PAI" history --force-root')).stdout]).toEqual([
    "one\n",
    expect.stringMatching(/rolled_back[\s\S]*undone/),
  ]);
});
