/** notify: a run of more than ten seconds starts the user's program at its end; a project cannot name one. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { comesTrue } from "../../processes.ts";
import { openPlace } from "../harness.ts";
import { done, planned, write } from "../replies.ts";

const work = [planned([["WRITE", "a.txt"]]), done(write("a.txt", "one\n"))];

test.concurrent("the end of a long run is notified, in words that no shell reads", async () => {
  await using place = openPlace(work, { "pai.json": '{"notify": ["touch", "../spare/by-project"]}' });
  const program = join(place.spare, "tell");
  writeFileSync(program, `#!/bin/sh\nprintf '%s|' "$@" >${place.spare}/told\n`, { mode: 0o755 });
  expect((await place.pai(["config", "set", "notify", `${program} -x`])).code).toBe(0);
  await place.pai(["trust"]);
  const { code } = await place.pai(["run", "-y", "--no-baseline", "--check", "sleep 10.2", "write; touch evil"]);
  await comesTrue(() => existsSync(join(place.spare, "told")));
  expect([code, readFileSync(join(place.spare, "told"), "utf8")]).toEqual([
    0,
    expect.stringMatching(/^-x\|pai: verified after \d+ s: write; touch evil\|$/),
  ]);
  expect([existsSync(join(place.spare, "by-project")), place.read("evil")]).toEqual([false, null]);
});

test.concurrent("shell syntax is not accepted as a command", async () => {
  await using place = openPlace();
  for (const text of ["a; b", "echo $HOME", 'say "two words"', "", "  "]) {
    const { code } = await place.pai(["config", "set", "notify", text]);
    expect([text, code]).toEqual([text, 2]);
  }
  mkdirSync(join(place.home, ".config/pai-code"), { recursive: true, mode: 0o700 });
  writeFileSync(join(place.home, ".config/pai-code/config.json"), '{"notify": "notify-send -u low"}', { mode: 0o600 });
  expect((await place.pai(["config", "get", "notify"])).stdout).toBe('["notify-send","-u","low"]\n');
});
