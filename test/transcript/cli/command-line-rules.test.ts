/** Rules of the command line that no other transcript shows: questions, names of flags, places, settings, keys (R15-R49). */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace } from "../harness.ts";
import { hello } from "../replies.ts";
import { inTerminal, openScreen } from "../screen.ts";

inTerminal("--no-input never asks, at a terminal either (R15)", async () => {
  await using place = openPlace(hello);
  using screen = openScreen(place, { columns: 80, rows: 24 });
  await screen.say('"$PAI" run --no-input "make hello.txt"; echo "ended with $?"', /ended with 10/);
  expect(place.tree()).toEqual({});
});

inTerminal("CI changes nothing: a terminal is asked, and in colour (R20)", async () => {
  await using place = openPlace(hello);
  using screen = openScreen(place, { columns: 80, rows: 24 });
  await screen.shell("true");
  screen.record(join(place.spare, "bytes"));
  await screen.say(
    'CI=true GITHUB_ACTIONS=true "$PAI" run "make hello.txt"; echo "ended with $?"',
    /or say what to change/,
  );
  await screen.say("y", /ended with 0/);
  expect(readFileSync(join(place.spare, "bytes"), "utf8")).toContain("\x1b[32m");
});

test.concurrent("TMPDIR is where temporary folders are made (R49)", async () => {
  await using place = openPlace();
  expect((await place.pai(["demo", "--keep"], { env: { TMPDIR: place.spare } })).code).toBe(0);
  expect(readdirSync(place.spare).filter((name) => name.startsWith("pai-demo-"))).toHaveLength(1);
});
