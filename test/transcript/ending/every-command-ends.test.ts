/** Every command and every early error ends by itself: nothing keeps the process alive after its last word. */
import { expect, test } from "bun:test";
import { commands } from "../../../src/cli/command-table.ts";
import { openPlace } from "../harness.ts";

/** More of them are in exit-codes.test.ts, which ends only when each has ended. */
const early: readonly (readonly string[])[] = [
  ["hisory"],
  ["fix", "the", "bug"],
  ["run", "-C", "/nonexistent", "do it"],
  ["run", "-m", "replay:/nonexistent", "do it"],
  ["run", "do it", "--json"],
  ["undo", "zzz"],
  ["replay", "zzz"],
  ["schema", "nope"],
  ["completion", "nope"],
  ["help", "nope"],
  ["config", "set", "mode", "nope"],
];

/** Milliseconds until a process counts as one that never ends: they take 20 to 700, on a busy machine more. */
const forever = 10_000;

test("every command without words, and early errors of all kinds, end", async () => {
  await using place = openPlace();
  // A server of its own: it ends when it is told to.
  const ending = commands.filter(({ name }) => name !== "dashboard");
  const lines = [[], ...ending.map(({ name }) => [name]), ...early];
  const hung: string[] = [];
  for (const args of lines) {
    const running = place.start(args, { env: { GEMINI_API_KEY: null, PAI_BASE_URL: null } });
    const clock = setTimeout(() => {
      hung.push(args.join(" "));
      running.kill("SIGKILL");
    }, forever);
    const { stderr } = await running.done;
    clearTimeout(clock);
    expect([args.join(" "), /\n\s+at .+:\d+/.test(stderr)]).toEqual([args.join(" "), false]);
  }
  expect(hung).toEqual([]);
});
