/** "verified" means that checks judged what is on disk, also where a check, or somebody else, changes files meanwhile. */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { becameOf } from "../../../src/core/session/became.ts";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { singleShot } from "../../../src/flows/single-shot.ts";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { call, calling, calls } from "../loop.ts";
import { finish, modify, planTo, schedule, verdict, write } from "../plans.ts";
import { type Line, makeFolder, play, playIn } from "../scripted.ts";

const files = {
  "g.txt": "g\n",
  ".gitignore": "out.txt\n",
  "out.txt": "1\n",
  "target/report.xml": "1\n",
  "old.log": "1\n",
  ".github/workflows/ci.yml": "on: push\n",
};
const lines = [planTo("WRITE f.txt"), write("f.txt", "good \n") + finish(), finish("I give up."), finish("I give up.")];

/** Plays a run with these checks: how it ended, what was told of the checks, and two files as they are then. */
async function check(...checks: readonly string[]) {
  const ran = await play({ files, lines, options: { checks, baseline: false } });
  const told = ran.eventsOf("notice").flatMap(({ code }) => (code.startsWith("checks_") ? [code] : []));
  const { status, code, unsettled } = ran.outcome;
  return { status, code, unsettled, told, f: ran.files["f.txt"], g: ran.files["g.txt"] };
}

const settles = ["checks_again"];
const never = ["checks_again", "checks_change"];

test.each([
  [
    "breaks the file fails the run",
    ["grep -q good f.txt", "echo bad > f.txt"],
    { code: 9, told: settles, f: undefined },
  ],
  [
    "brings the file into its form is verified on the second round",
    ["sed -i 's/ $//' f.txt; grep -q good f.txt"],
    { status: "verified", told: settles, f: "good\n" },
  ],
  [
    "changes the file each time verifies nothing",
    ["grep -q good f.txt", "echo more >> f.txt"],
    { status: "unverified", unsettled: ["f.txt"], told: never, f: "good \nmore\nmore\n" },
  ],
  [
    "formats other files settles in the second round",
    ["grep -q good f.txt", "echo formatted > g.txt; date +%N > report.xml"],
    { status: "verified", told: settles, g: "formatted\n" },
  ],
  ["spoils another file fails the run", ["grep -q g g.txt", "echo bad > g.txt"], { code: 9, told: settles, g: "g\n" }],
  [
    "changes another file each time verifies nothing",
    ["grep -q good f.txt", "echo more >> g.txt"],
    { status: "unverified", unsettled: ["g.txt"], told: never },
  ],
] as const)("a check that %s", async (_, checks, ended) => {
  expect(await check(...checks)).toMatchObject(ended);
});

test.each([
  ["makes files", "echo x >> log.txt"],
  ["changes ignored files", "echo x >> out.txt"],
  ["changes what tools build", "echo x >> target/report.xml; echo x >> old.log"],
  ["writes what was there", "cat g.txt > copy.txt; cat copy.txt > g.txt"],
  ["changes what pai takes back", "echo x >> .github/workflows/ci.yml"],
])("a check that %s runs once", async (_, command) => {
  expect(await check(`grep -q good f.txt; ${command}`)).toMatchObject({ status: "verified", told: [] });
});

const flows = { "single-shot": singleShot, "eight-step": eightStep, "tool-loop": toolLoop };

/** Plays a run in which somebody saves g.txt while a reply is awaited: how it ended, and how often the check ran. */
const meddle = async (text: string, mode: keyof typeof flows, before: Line[], last: string, ...rest: string[]) => {
  const place = makeFolder(files);
  const put = () => writeFileSync(join(place.root, "g.txt"), text);
  const options = { mode, interactive: true, checks: ["grep -q good f.txt && grep -q g g.txt"], baseline: false };
  const lines = [...before, { text: last, before: put }, ...rest, "I give up.", "I give up."];
  const answers = (["yes", "yes", "no"] as const).slice(mode === "tool-loop" ? 1 : 0);
  const { outcome, eventsOf } = await playIn(place, { lines, flow: flows[mode], options, answers });
  return { status: outcome.status, code: outcome.code, ran: eventsOf("check.started").length };
};

test("what somebody changes after the check of a tool-loop ran is judged before the end", async () => {
  const work = calls(call("write", { path: "f.txt", content: "good\n" }), call("check", {}));
  expect(await meddle("g\nmore\n", "tool-loop", [work], "Done.")).toEqual({ status: "verified", code: 0, ran: 2 });
  expect(await meddle("bad\n", "tool-loop", [work], "Done.")).toMatchObject({ code: 9 });
  const looked = [calling("check", {})];
  expect(await meddle("g\nmore\n", "tool-loop", looked, "Red.")).toMatchObject({ ran: 2 });
});

test("what somebody changes while eight-step awaits its verdict is judged before the end", async () => {
  const before = [schedule({ create: ["f.txt"] }), write("f.txt", "good\n") + finish()];
  const ended = (text: string) => meddle(text, "eight-step", before, verdict(), "Wrote f.txt.");
  expect(await ended("g\nmore\n")).toEqual({ status: "verified", code: 0, ran: 2 });
  expect(await ended("bad\n")).toMatchObject({ code: 9, ran: 2 });
});

test("a red check is run again for a reply that changes nothing once somebody else has changed a file", async () => {
  const work = [planTo("WRITE f.txt", "WRITE g.txt"), write("f.txt", "good\n") + write("g.txt", "bad\n")];
  const ended = await meddle("g\n\n", "single-shot", work, finish("It is done."));
  expect(ended).toEqual({ status: "verified", code: 0, ran: 2 });
});

test("what another run changes while a check runs is judged, too", async () => {
  const place = makeFolder(files);
  // It passes once the other run has changed g.txt, and fails when it begins after that.
  const waits = "grep -q bad g.txt && exit 1; echo begun > out.txt; until grep -q bad g.txt; do sleep 0.02; done";
  const work = [planTo("WRITE f.txt"), write("f.txt", "good\n") + finish(), finish("No."), finish("No.")];
  const ending = playIn(place, { lines: work, options: { checks: [waits], baseline: false } });
  while (!readFileSync(join(place.root, "out.txt"), "utf8").includes("begun")) await Bun.sleep(10);
  const other = [planTo("WRITE g.txt"), write("g.txt", "bad\n") + finish()];
  expect((await playIn(place, { id: "r2", lines: other })).outcome.code).toBe(0);
  const { outcome, notices } = await ending;
  expect(outcome).toMatchObject({ status: "failed", code: 9 });
  expect(notices()).toContain("g.txt: changed while the checks ran, so they run once more");
  expect(readFileSync(join(place.root, "g.txt"), "utf8")).toBe("bad\n");
});

const editG = modify("g.txt", ["g\n", "G\n"]) + finish();

test.each([
  ["single-shot", [planTo("MODIFY g.txt"), editG]],
  ["eight-step", [schedule({ modify: ["g.txt"] }), editG, verdict(false)]],
  ["tool-loop", [calling("edit", { path: "g.txt", old_str: "g\n", new_str: "G\n" }), "Done."]],
] as const)(
  "%s: what a check writes is told, with the end of the run too, as not the model's",
  async (mode, before) => {
    const ran = await play({
      files,
      lines: [...before, finish("It is right."), finish("It is right."), finish("It is right.")],
      ...{ flow: flows[mode], answers: "yes" },
      options: { mode, interactive: true, checks: ["echo checked >> g.txt; echo 1 > gen.txt; false"], baseline: false },
    });
    const told = "changed while checks ran, and not by you: g.txt, gen.txt";
    const at = before.length + 1;
    // A judge is told, too.
    const isJudged = mode === "eight-step";
    expect([ran.asked(at - 1).includes(told), ran.asked(at).includes(told)]).toEqual([isJudged, true]);
    expect(ran.outcome.keep).toBe(true);
    expect(becameOf(ran.outcome)).toContain("changed: g.txt, gen.txt; of these by commands or checks: gen.txt");
  },
);
