/** A planned step that is left undone takes back nothing that was done; what is open is named, with exit code 15. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { finish, modify, planTo, write } from "../plans.ts";
import { capOf, makeFolder, play, playIn, type Setup } from "../scripted.ts";

const files = { "a.txt": "one\n", "CHANGES.md": "# News\n\n- nothing\n" };
const contract = planTo("MODIFY a.txt", "MODIFY CHANGES.md");
const work = modify("a.txt", ["one\n", "two\n"]);
const green = "grep -q two a.txt";
const undone = [{ action: "MODIFY", target: "CHANGES.md", why: "left out in the end" }];

/** The optional step of the plan is left out by every reply. */
const all = [contract, work + finish(), finish("")];
const playing = ({ lines = all, options, ...rest }: Partial<Setup> = {}) =>
  play({ files, lines, options: { checks: [green], ...options }, ...rest });

describe("a step that every reply leaves out", () => {
  test.each([
    ["a strict run", { strict: true }, 8],
    ["a cap on calls", capOf(2), 13],
  ])("%s is not content with a part: all is taken back", async (_, options, code) => {
    const ran = await playing({ options });
    expect([ran.outcome.code, ran.outcome.undone, ran.files]).toEqual([code, undefined, files]);
  });

  test("a cut reply is the reason that counts", async () => {
    const cut = { text: `${work}MODIFY::CHANGES.md::EOT\n<<<<<<< SEARCH\n- noth`, stop: "length" } as const;
    const ran = await playing({ lines: [contract, cut, { text: "- nothing\n===", stop: "length" }] });
    expect([ran.outcome.code, ran.files]).toEqual([7, files]);
  });

  test("a refused change is the reason that counts", async () => {
    const other = work + modify("b.txt", ["one\n", "two\n"]) + finish();
    const ran = await playing({
      files: { ...files, "b.txt": "one\n" },
      lines: [contract, other, other],
      options: { only: [["a.txt", "CHANGES.md"]] },
    });
    expect([ran.outcome.code, ran.files["a.txt"]]).toEqual([12, "one\n"]);
  });

  test("a last reply without any action takes nothing back either", async () => {
    const ran = await playing({ lines: [contract, work + finish(), "I have updated CHANGES.md for you."] });
    expect(ran.outcome).toMatchObject({ code: 15, undone: [{ why: expect.stringContaining("held no action") }] });
    expect(ran.files["a.txt"]).toBe("two\n");
  });

  test("nobody is asked at a terminal whether to keep it", async () => {
    const ran = await playing({ options: { interactive: true }, answers: "yes" });
    expect([ran.outcome.code, ran.questions.map(({ kind }) => kind)]).toEqual([15, ["plan"]]);
  });

  test("a dry run tells the same of the changes that it shows", async () => {
    const ran = await playing({ options: { dryRun: true } });
    expect(ran.outcome).toMatchObject({ code: 15, undone, changes: [{ path: "a.txt" }] });
    expect(ran.files).toEqual(files);
  });
});

test("each kind of step is named as what it is", async () => {
  const steps = ["MODIFY a.txt", "WRITE n.txt", "MV b.txt -> c.txt", "MKDIR lib", "RM d.txt"];
  const ran = await playing({
    files: { ...files, "b.txt": "", "d.txt": "" },
    lines: [planTo(...steps), work + finish(), write("a.txt", "two\n")],
    options: { allowDelete: true },
  });
  expect(ran.outcome.error?.message).toBe(
    "done in part: n.txt was not written, b.txt → c.txt was not moved, lib was not made, d.txt was not deleted; the rest is kept",
  );
});

describe("a step that the model leaves out with SKIP", () => {
  const skip = `${work}SKIP::CHANGES.md::releases only\n${finish()}`;
  const skipped = [{ target: "CHANGES.md", why: "releases only" }];

  const options = { checks: [], interactive: true, allowRun: true };

  test("at a terminal the person is asked: with a yes the run is whole", async () => {
    const ran = await playing({ lines: [contract, skip], options, answers: "yes" });
    expect(ran.questions.find(({ kind }) => kind === "amend")?.text).toContain("MODIFY CHANGES.md: releases only");
    expect([ran.outcome.code, ran.outcome.skipped]).toEqual([0, skipped]);
  });

  test("with a no the model is asked to do it", async () => {
    const lines = [contract, skip, modify("CHANGES.md", ["- nothing\n", "- two\n"]) + finish()];
    const ran = await playing({ lines, options, answers: ["yes", "no", "yes"] });
    expect(ran.asked(3)).toContain("the user wants this step done");
    expect([ran.outcome.code, ran.outcome.skipped]).toEqual([0, undefined]);
  });

  test("a command that failed and is then left out with a yes is not asked for again", async () => {
    const lines = [planTo("MODIFY a.txt", "RUN false"), `${work}RUN::false\n`, `SKIP::RUN::false::no net\n${finish()}`];
    const { outcome } = await playing({ lines, options, answers: "yes" });
    expect([outcome.code, outcome.calls.made, outcome.undone]).toEqual([0, 3, undefined]);
  });

  test.each([
    ["RUN ./t.sh", "./t.sh", "./t.sh"],
    ["WRITE ./n.txt", "./n.txt", "n.txt"],
    ["WRITE n.txt", "n.txt", '"n.txt"'],
    ["MKDIR docs/", "docs/", "docs"],
  ])("%s is named by its path, in whatever spelling", async (step, target, named) => {
    const lines = [planTo("MODIFY a.txt", step), `${work}SKIP::${named}::no use\n${finish()}`];
    const { outcome } = await playing({ lines, options, answers: "yes" });
    expect([outcome.code, outcome.skipped]).toEqual([0, [{ target, why: "no use" }]]);
  });

  test("is told as left out only where no later reply does it", async () => {
    const steps = ["MODIFY a.txt", "MODIFY CHANGES.md", "WRITE b.txt", "RUN true"];
    const rest = write("b.txt", "b\n") + finish();
    const first = [planTo(...steps), `SKIP::RUN true::no use\n${skip.replace(finish(), "")}`];
    const play = (last: string) => playing({ lines: [...first, last], options, answers: "yes" });
    const ran = await play(rest);
    expect(ran.outcome.skipped).toEqual([{ target: "true", why: "no use" }, ...skipped]);
    expect(ran.asked(3)).toContain("left out of the plan, as the user allowed: MODIFY CHANGES.md (releases only)");
    const { outcome } = await play(`${modify("CHANGES.md", ["- nothing\n", "- two\n"])}RUN::true\n${rest}`);
    expect([outcome.code, outcome.skipped]).toEqual([0, undefined]);
  });

  test("a strict run counts it as undone: 8", async () => {
    const ran = await playing({ lines: [contract, skip, finish("")], options: { strict: true } });
    expect([ran.outcome.code, ran.files]).toEqual([8, files]);
  });

  test.each([
    ["a permitted command", "RUN touch new.txt", "touch new.txt", "new.txt"],
    ["a permitted deletion", "RM old.txt", "old.txt", null],
  ])("headless %s cannot be left out", async (_, step, target, made) => {
    const lines = [planTo("MODIFY a.txt", step), `${work}SKIP::${target}::not needed\n${finish()}`, finish("")];
    const ran = await playing({
      files: { ...files, "old.txt": "" },
      lines: made === null ? lines : lines.slice(0, 2),
      options: { allowRun: true, allowDelete: true },
    });
    expect(ran.outcome.skipped).toBeUndefined();
    if (made === null) expect([ran.outcome.code, ran.outcome.undone?.[0]?.target]).toEqual([15, "old.txt"]);
    else expect(ran.outcome.commands).toMatchObject([{ command: target, exit: 0 }]);
  });
});

test("changes that could not be applied are not shown as done", async () => {
  const place = makeFolder({ "a.txt": "one\n" });
  const ran = await playIn(place, {
    lines: [
      planTo("MV a.txt -> b.txt", "MODIFY b.txt"),
      `MV::a.txt::b.txt\n${modify("b.txt", ["one\n", "uno\n"])}${finish("Done.")}`,
    ],
    options: { interactive: true, review: "batch" },
    answers: "yes",
    onQuestion: ({ kind }) => kind === "batch" && writeFileSync(join(place.root, "a.txt"), "mine\n"),
  });
  expect(ran.outcome).toMatchObject({ code: 11, actions: { done: 0, failed: 2, refused: 0 } });
  expect(ran.eventsOf("call.finished")).toEqual([]);
});
