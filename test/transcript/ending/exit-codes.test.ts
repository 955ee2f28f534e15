/** Every way to fail as a document, each code in text and as events; and every command ends by itself. */
import { describe, expect, test } from "bun:test";
import { commands } from "../../../src/cli/command-table.ts";
import { expectPlain, readLast, readOutcome } from "../contract.ts";
import { type Failing, failures, task } from "../failures.ts";
import { openPlace, type Place } from "../harness.ts";

/** What belongs on standard error. */
const progress = /^(planning|working) with|^calls {2}expected|^phase |^pai: /m;

async function prepare({ files, answers = [], prepare }: Failing): Promise<Place> {
  const place = openPlace(answers, files);
  await prepare?.(place);
  return place;
}

for (const failing of failures) {
  const { name, code, error, args = task, calls } = failing;
  describe(`${name} ends with ${code}`, () => {
    const optionsFor = (place: Place) => failing.options?.(place) ?? {};

    test.concurrent("as one document (R02, R08)", async () => {
      await using place = await prepare(failing);
      const before = place.tree();
      const result = await place.pai([...args.slice(0, 1), "--json", ...args.slice(1)], optionsFor(place));
      const outcome = readOutcome(result);
      expect([result.code, outcome.error?.code]).toEqual([code, error]);
      if (calls !== undefined) expect(place.gemini.requests).toHaveLength(calls);
      if (failing.changesTree !== true) expect(place.tree()).toEqual(before);
      failing.check?.(outcome);
    });

    // Each code once.
    if (failures.find((other) => other.code === code) !== failing) return;

    test.concurrent("in words, on standard error (R01, R08)", async () => {
      await using place = await prepare(failing);
      const result = await place.pai(args, optionsFor(place));
      expectPlain(result);
      expect([result.code, result.stderr.trim() === ""]).toEqual([code, false]);
      if (code !== 10) expect(result.stdout).not.toMatch(progress);
    });

    test.concurrent("as events, of which the last is the document (R03, R08)", async () => {
      await using place = await prepare(failing);
      const result = await place.pai([...args.slice(0, 1), "--jsonl", ...args.slice(1)], optionsFor(place));
      const outcome = readLast(result);
      expect([result.code, outcome.error?.code]).toEqual([code, error]);
    });
  });
}

test("at least 25 kinds of failure are tried (R08)", () => {
  expect(failures.length).toBeGreaterThanOrEqual(25);
});

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
const forever = 30_000;

test("every command without words, and early errors of all kinds, end", async () => {
  await using place = openPlace();
  // A server of its own: it ends when it is told to.
  const ending = commands.filter(({ name }) => name !== "dashboard");
  const lines = [[], ...ending.map(({ name }) => [name]), ...early];
  const hung: string[] = [];
  const end = async (args: readonly string[]) => {
    const running = place.start(args, { env: { GEMINI_API_KEY: null, PAI_BASE_URL: null } });
    const clock = setTimeout(() => {
      hung.push(args.join(" "));
      running.kill("SIGKILL");
    }, forever);
    const { stderr } = await running.done;
    clearTimeout(clock);
    expect([args.join(" "), /\n\s+at .+:\d+/.test(stderr)]).toEqual([args.join(" "), false]);
  };
  for (let at = 0; at < lines.length; at += 4) await Promise.all(lines.slice(at, at + 4).map(end));
  expect(hung).toEqual([]);
});
