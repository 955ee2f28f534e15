/** A file that somebody else changes while a run works on it is merged where the two touch different lines. */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { becameOf } from "../../../src/core/session/became.ts";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { singleShot } from "../../../src/flows/single-shot.ts";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { resultsOf } from "../loop.ts";
import { finish, modify, planTo, schedule, verdict, write } from "../plans.ts";
import { type Files, makeFolder, openHere, playIn, type Setup } from "../scripted.ts";

const before = "1\n2\n3\n4\n5\n";
const ours = "one\n2\n3\n4\n5\n";
const theirs = "1\n2\n3\n4\n5\nmine\n";
const both = "one\n2\n3\n4\n5\nmine\n";
const edit = modify("a.txt", ["1\n", "one\n"]);

interface Tool {
  readonly put: (text: string | Uint8Array, path?: string) => void;
  readonly root: string;
}

async function playHere(files: Files, setup: (tool: Tool) => Setup, after: (tool: Tool) => unknown = () => {}) {
  const place = makeFolder(files);
  const tool: Tool = { root: place.root, put: (text, path = "a.txt") => writeFileSync(join(place.root, path), text) };
  const ran = await playIn(place, setup(tool));
  const { history } = await openHere(place);
  if (ran.outcome.changes.length > 0) await history.undo(null, { dryRun: false });
  const undone = readFileSync(join(place.root, "a.txt"), "latin1");
  await after(tool);
  return { ...ran, undone };
}

const steps = ["MODIFY a.txt"];
const meddled = (script: string, text: string | Uint8Array) => (tool: Tool) => ({
  lines: [planTo(...steps), { text: script + finish(), before: () => tool.put(text) }],
});

test.each([
  ["an edit", edit],
  ["a whole file", write("a.txt", ours)],
])("%s during the last call: merged, told, and an undo gives back what the other wrote", async (_, script) => {
  const ran = await playHere({ "a.txt": before }, meddled(script, theirs));
  expect(ran.files).toEqual({ "a.txt": both });
  expect(ran.outcome).toMatchObject({ code: 0, merged: ["a.txt"], changes: [{ added: 1, deleted: 1 }] });
  const [proposed] = ran.eventsOf("changes.proposed");
  expect(proposed?.diff).toContain("-1\n+one\n 2\n");
  expect(proposed?.diff).not.toContain("+mine");
  expect(ran.eventsOf("notice").map(({ code }) => code)).toContain("merged");
  expect(ran.undone).toBe(theirs);
});

const again = modify("a.txt", ["2\n", "two\n"]) + finish();

test.each([
  ["single-shot", singleShot, [planTo(...steps)], [again, finish()]],
  ["eight-step", eightStep, [schedule({ modify: ["a.txt"] })], [verdict(false), again, verdict(false), finish()]],
] as const)("%s: one later request says that somebody else changed the file", async (_, flow, planned, later) => {
  const ran = await playHere({ "a.txt": before }, (tool) => ({
    ...{ flow, options: { checks: ["grep -q never a.txt"], baseline: false } },
    lines: [...planned, { text: edit + finish(), before: () => tool.put(theirs) }, ...later],
  }));
  // The judge of a step is told of it, too: it reads no other request.
  const asked = ran.requests.map(({ purpose }, at) => (purpose === "integrity" ? "" : ran.asked(at + 1)));
  expect(asked.filter((text) => text.includes("a.txt: somebody else changed it meanwhile"))).toHaveLength(1);
});

test("the user's check judges the merged tree, and a red one leaves what the other wrote", async () => {
  for (const [check, code, left] of [
    ["grep -q mine a.txt && grep -q one a.txt", 0, both],
    ["! grep -q mine a.txt", 9, theirs],
  ] as const) {
    const ran = await playHere({ "a.txt": before }, (tool) => ({
      lines: [...meddled(edit, theirs)(tool).lines, finish()],
      options: { checks: [check] },
    }));
    expect([ran.outcome.code, ran.files["a.txt"]]).toEqual([code, left]);
    expect(becameOf(ran.outcome)).toContain("somebody else changed meanwhile, too: a.txt");
  }
});

test.each([
  ["the same line", "uno\n2\n3\n4\n5\n"],
  ["the line beside it", "1\nzwei\n3\n4\n5\n"],
])("%s is a conflict: nothing is written, and both sides are shown", async (_, text) => {
  const ran = await playHere({ "a.txt": before }, meddled(edit, text));
  expect([ran.outcome.code, ran.outcome.error?.code, ran.files]).toEqual([11, "conflict", { "a.txt": text }]);
  const shown = ran.notices("both_sides")[0] ?? "";
  expect(shown).toContain("│ one");
  expect(shown).toContain(`│ ${text.split("\n")[text.startsWith("uno") ? 0 : 1]}`);
});

test.each([
  ["a name that needs a yes of its own", "AGENTS.md", "1\n2\n3\nmine\n"],
  ["binary content", "b.txt", "1\n2\n3\nmine\0\n"],
])("%s is not merged", async (_, path, text) => {
  const ran = await playHere({ "a.txt": "", [path]: "1\n2\n3\n" }, (tool) => ({
    lines: [
      planTo(`MODIFY ${path}`),
      { text: modify(path, ["1\n", "one\n"]) + finish(), before: () => tool.put(text, path) },
    ],
    options: { allow: [path] },
  }));
  expect([ran.outcome.code, ran.files[path]]).toEqual([11, text]);
});

test("a script that an approved command runs is not merged", async () => {
  const ran = await playHere({ "a.txt": "", "x.sh": "echo 1\necho 2\necho 3\n" }, (tool) => ({
    lines: [
      planTo("MODIFY x.sh", "RUN sh x.sh"),
      {
        text: `${modify("x.sh", ["echo 1\n", "echo one\n"])}RUN::sh x.sh\n${finish()}`,
        before: () => tool.put("echo 1\necho 2\necho 3\ntouch evil\n", "x.sh"),
      },
    ],
    options: { allowRun: true },
  }));
  expect([ran.outcome.code, Object.keys(ran.files)]).toEqual([11, ["a.txt", "x.sh"]]);
});

test("what changed while the plan was made is what the work starts from", async () => {
  const text = "uno\n2\n3\n4\n5\n";
  const ran = await playHere({ "a.txt": before }, (tool) => ({
    lines: [{ text: planTo(...steps), before: () => tool.put(text) }, modify("a.txt", ["uno\n", "one\n"]) + finish()],
  }));
  expect(ran.asked(2)).toContain("uno");
  expect(ran.outcome).toMatchObject({ code: 0, merged: ["a.txt"] });
  expect([ran.files["a.txt"], ran.undone]).toEqual([ours, text]);
});

test("what changed while the person looked at the diff is merged, and they are asked about that", async () => {
  let asked = 0;
  const ran = await playHere({ "a.txt": before }, (tool) => ({
    lines: [planTo(...steps), edit + finish()],
    options: { interactive: true, review: "change" },
    answers: "yes",
    onQuestion: ({ kind }) => {
      if (kind === "batch" && ++asked === 1) tool.put(theirs);
    },
  }));
  expect([asked, ran.outcome.merged, ran.files["a.txt"], ran.undone]).toEqual([2, ["a.txt"], both, theirs]);
});

test("a file that the run has not changed is told as not its own in the diff of what has changed since", async () => {
  const files = { "a.txt": "1\n", "b.txt": "b\n", "c.txt": "c\n" };
  const ran = await playHere(files, ({ put }) => ({
    lines: [
      { text: planTo(...steps), before: () => put("mine\n", "c.txt") },
      { text: edit + finish(), before: () => put("mine\n", "b.txt") },
      finish(),
    ],
    options: { checks: ["grep -q never a.txt"], baseline: false },
  }));
  expect(ran.asked(2)).toContain("\nchanged since it was shown, and not by you: c.txt\n");
  expect(ran.told(3)).toContain("+one");
  expect(ran.told(3)).toContain("\nchanged since it was shown, and not by you: b.txt\n");
});

test("a later edit of the same run merges too, and the undo of both gives back what the other wrote between", async () => {
  const ran = await playHere({ "a.txt": before }, (tool) => ({
    lines: [
      planTo("MODIFY a.txt", "WRITE b.txt"),
      edit + finish(),
      { text: modify("a.txt", ["3\n", "three\n"]) + write("b.txt", "b\n") + finish(), before: () => tool.put(both) },
    ],
  }));
  expect(ran.files["a.txt"]).toBe("one\n2\nthree\n4\n5\nmine\n");
  const changes = [{ added: 2, deleted: 2 }, { path: "b.txt" }];
  expect(ran.outcome).toMatchObject({ code: 0, merged: ["a.txt"], changes });
  expect(ran.undone).toBe(theirs);
});

test("a line that somebody wrote into a file that the run made stays when the run is undone", async () => {
  const ran = await playHere({}, (tool) => ({
    lines: [
      planTo("WRITE a.txt", "WRITE b.txt"),
      write("a.txt", before) + finish(),
      {
        text: modify("a.txt", ["3\n", "three\n"]) + write("b.txt", "b\n") + finish(),
        before: () => tool.put(`mine\n${before}`),
      },
    ],
  }));
  expect(ran.files["a.txt"]).toBe(`mine\n${before.replace("3", "three")}`);
  const changes = [{ added: 5, deleted: 0 }, { path: "b.txt" }];
  expect(ran.outcome).toMatchObject({ code: 0, merged: ["a.txt"], changes });
  expect(ran.undone).toBe("mine\n");
});

test("the tool loop merges as well", async () => {
  const call = { id: "1", name: "edit", input: { path: "a.txt", old_str: "1\n", new_str: "one\n" } };
  const ran = await playHere({ "a.txt": before }, (tool) => ({
    flow: toolLoop,
    options: { mode: "tool-loop", interactive: true },
    answers: "yes",
    lines: [{ text: "", calls: [call], before: () => tool.put(theirs) }, "Done."],
  }));
  expect([ran.outcome.code, ran.outcome.merged, ran.files["a.txt"], ran.undone]).toEqual([0, ["a.txt"], both, theirs]);
  expect(resultsOf(ran, 2).at(-1)?.text).toEndWith(
    "a.txt: somebody else changed it meanwhile, too; what of it is not your edit is theirs, and stays.",
  );
});

const words = "first line\nsecond line\nthird line\nfourth line\nfifth line\n";
const byHand = words.replace("fourth line", "line by hand");
const misfit = modify("a.txt", ["third line\nfourth line\n", "3rd line\n4th line\n"]) + finish();
const nearFit = modify("a.txt", ["third line\nfourth line\n", "3rd line\nfourth line\n"]);
const fit = modify("a.txt", ["third line\nline by hand\n", "3rd line\nline by hand\n"]);
const first = modify("a.txt", ["first line\n", "1st line\n"]);

test.each([
  ["one edit", fit, byHand.replace("third", "3rd")],
  ["two edits", first + fit, byHand.replace("third", "3rd").replace("first", "1st")],
  ["an edit beside a line of another", nearFit, byHand.replace("third", "3rd")],
])("an approved diff that fits the disk is applied, whatever was shown: %s", async (_, again, left) => {
  const ran = await playHere({ "a.txt": words }, (tool) => ({
    lines: [first + finish(), { text: misfit, before: () => tool.put(byHand) }, again + finish()],
    options: { atOnce: "auto", interactive: true },
    answers: [{ feedback: "the third line" }, "yes"],
  }));
  expect(ran.asked(3)).toContain("third line\nline by hand\n");
  expect([ran.requests.length, ran.outcome.code, ran.files["a.txt"], ran.undone]).toEqual([3, 0, left, byHand]);
  expect(ran.outcome.merged).toEqual(["a.txt"]);
  expect(ran.notices("merged")).toHaveLength(1);
});

test("the closest lines to an edit that does not match are those of the file as it is, and later edits start from them", async () => {
  const ran = await playHere({ "a.txt": words }, (tool) => ({
    lines: [
      planTo(...steps),
      {
        text: modify("a.txt", ["third line\n4th line\n", "3rd line\n4th line\n"]) + finish(),
        before: () => tool.put(byHand),
      },
      fit + finish(),
    ],
  }));
  expect(ran.told(3)).toContain("third line\nline by hand\nFirst difference");
  expect([ran.outcome.code, ran.files["a.txt"], ran.undone]).toEqual([0, byHand.replace("third", "3rd"), byHand]);
});

test("what somebody else writes behind a red check is named where the user keeps the work", async () => {
  const ran = await playHere({ "a.txt": before }, (tool) => ({
    lines: [planTo(...steps), edit + finish(), finish(), finish()],
    ...{ options: { interactive: true, checks: ["false"] }, answers: "yes" },
    onEvent: (event) => {
      if (event.type === "check.finished" && event.when === "after") tool.put(both);
    },
  }));
  expect(ran.files).toEqual({ "a.txt": both });
  expect(ran.outcome).toMatchObject({ status: "failed", keep: true, merged: ["a.txt"] });
  expect(becameOf(ran.outcome)).toContain("somebody else changed meanwhile, too: a.txt");
  expect(ran.notices("merged").at(-1)).toBe("changed by someone else meanwhile, and kept so: a.txt");
});

test.each([
  ["an edit", [planTo("MODIFY a.txt")]],
  ["an edit that came at once", []],
] as const)("%s that somebody took back is made again where a later reply sends it again", async (_, first) => {
  const work = modify("a.txt", ["2\n3\n", "2\nnew\nlines\n3\n"]) + finish();
  const ran = await playHere({ "a.txt": before }, ({ put }) => ({
    lines: [...first, work, { text: work, before: () => put(before) }, finish()],
    ...{ options: { interactive: true, checks: ["false"], atOnce: "auto" }, answers: "yes" },
  }));
  expect([ran.outcome.keep, ran.outcome.changes.length]).toEqual([true, 1]);
  expect(ran.files["a.txt"]).toBe("1\n2\nnew\nlines\n3\n4\n5\n");
});
