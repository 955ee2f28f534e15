/** Standard output and error in bad company: slow, gone, full or closed readers. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readEvents, readOutcome } from "../contract.ts";
import { openPlace, type Place } from "../harness.ts";
import { done, hello, planned, talked, write } from "../replies.ts";

const long = "A line that a slow reader takes its time for.\n".repeat(8000);

const codeIn = ({ spare }: Place) => readFileSync(join(spare, "code"), "utf8").trim();

test.concurrent("a slow reader gets more than 64 KiB whole, as text and as a document (R04)", async () => {
  await using place = openPlace([talked(long), talked(long)]);
  const text = await place.shell('"$PAI" run "tell me" | { sleep 0.5; cat; }');
  expect(text.stdout.trim()).toBe(long.trim());
  const json = await place.shell('"$PAI" run --json "tell me" | { sleep 0.5; cat; }');
  expect(readOutcome(json).text).toBe(long);
});

test.concurrent("a slow reader gets every event (R04)", async () => {
  await using place = openPlace([planned(["WRITE long.txt"]), done(write("long.txt", long))]);
  const result = await place.shell('"$PAI" run -y --jsonl "write it" | { sleep 0.5; cat; }');
  const last = readEvents(result).at(-1);
  expect(last?.type === "run.finished" && last.outcome.diff.length).toBeGreaterThan(65_536);
});

test.concurrent("a reader that leaves after a line changes neither the task nor its exit code (R05)", async () => {
  await using place = openPlace(hello);
  const piped = '{ "$PAI" run -y --jsonl "make hello.txt"; echo $? > ../spare/code; } | head -1';
  const { stdout, stderr } = await place.shell(piped);
  expect([codeIn(place), place.read("hello.txt"), stdout.split("\n").length]).toEqual(["0", "hello\n", 2]);
  expect(stderr).not.toMatch(/EPIPE|error/i);
});

test.concurrent("a full disk behind standard output is reported and ends with 14, the change stays (R06)", async () => {
  await using place = openPlace(hello);
  const { code, stderr } = await place.shell('"$PAI" run -y --json "make hello.txt" > /dev/full');
  expect([code, place.read("hello.txt")]).toEqual([14, "hello\n"]);
  expect(stderr).toContain("cannot write to standard output");
  expect((await place.shell('"$PAI" --version > /dev/full')).code).toBe(14);
});

for (const closed of ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]) {
  test.concurrent(`a run works with ${closed}, and no file becomes a standard stream (R07)`, async () => {
    await using place = openPlace(hello);
    const { code } = await place.shell(`"$PAI" run -y --check true "make hello.txt" ${closed}`);
    expect([code, place.tree()]).toEqual([0, { "hello.txt": "hello\n" }]);
  });
}

test.concurrent("a failure has its exit code even when every stream is closed (R07, R08)", async () => {
  await using place = openPlace([{ status: 401 }]);
  expect((await place.shell('"$PAI" run "hello there" <&- >&- 2>&-')).code).toBe(4);
});
