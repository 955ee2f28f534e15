/** The effort of a run reaches the calls that it is meant for: those that plan, and all others. */
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Effort } from "../../../src/core/model.ts";
import type { RunOptions } from "../../../src/flows/run.ts";
import { finish, planTo, write } from "../plans.ts";
import { makeFolder, openCache, play, playIn } from "../scripted.ts";

const steps = ["WRITE a.txt"];
const lines = ["no plan at all", planTo(...steps), write("a.txt", "a\n") + finish("Done.")];

const sent = async (effort: RunOptions["effort"]) => {
  const { requests } = await play({ lines, options: effort === undefined ? {} : { effort } });
  return requests.map(({ purpose, effort: level = null, job = "work" }) => [purpose, job, level]);
};

test("plans and their repairs have one effort, all other calls the other", async () => {
  expect(await sent({ plan: "high", work: "low" })).toEqual([
    ["plan", "plan", "high"],
    ["repair", "plan", "high"],
    ["execute", "work", "low"],
  ]);
});

test("where none is wanted no request names one", async () => {
  const { requests } = await play({ lines, options: { effort: { plan: null, work: null } } });
  expect(requests.filter((request) => "effort" in request)).toEqual([]);
  expect((await sent(undefined)).map(([, , level]) => level)).toEqual([null, null, null]);
});

test("a plan that was made with another effort is not used again", async () => {
  const [planCache, place] = [openCache(), makeFolder()];
  const asked = async (level: Effort, replies: readonly string[]) => {
    rmSync(join(place.root, "a.txt"), { force: true });
    const options = { effort: { plan: level, work: null } };
    return (await playIn(place, { lines: replies, options, planCache })).purposes;
  };
  const [, made = "", work = ""] = lines;
  expect(await asked("high", [made, work])).toBe("plan execute");
  expect(await asked("high", [work])).toBe("execute");
  expect(await asked("low", [made, work])).toBe("plan execute");
});
