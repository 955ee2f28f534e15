/** notify names a program and its arguments, and no line of a shell. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace } from "../harness.ts";

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
