/** eight-step: what the model is told of the user's words and noes at a step. */
import { expect, test } from "bun:test";
import { becameOf } from "../../../src/core/session/became.ts";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { finish, modify, schedule, verdict, write } from "../plans.ts";
import { play, type Setup } from "../scripted.ts";

const scope = schedule({ steps: ["First", "Then"], create: ["a.py", "b.py"] });
const run = ({
  review = false,
  ...setup
}: Pick<Setup, "lines" | "answers"> & { readonly review?: "batch" | "change" | false }) =>
  play({ ...setup, flow: eightStep, options: { mode: "eight-step", interactive: true, review } });

test("words at the diff of a step ask for this step again, and not for the end of the task", async () => {
  const ran = await run({
    lines: [
      ...[scope, write("a.py", "one\n"), write("a.py", "1\n"), verdict()],
      ...[write("b.py", "two\n") + finish(), verdict(), "Both are there."],
    ],
    answers: ["yes", { feedback: "in digits" }, "yes", "yes"],
    review: "batch",
  });
  const wish = ran.asked(3);
  expect(wish).toContain("The user says: in digits\n");
  expect(wish).not.toContain("FINISH");
  expect(wish).not.toContain("all that is not done");
  expect([ran.outcome.ok, ran.files["a.py"]]).toEqual([true, "1\n"]);
});

test("a no to leaving out the rest by a FINISH is told to the model, as one to a SKIP is", async () => {
  const ran = await run({
    lines: [
      ...[scope, write("a.py", "one\n"), verdict(), finish("The second is not needed."), verdict(false)],
      ...[write("b.py", "two\n") + finish(), "Both are there."],
    ],
    answers: ["yes", "no"],
  });
  expect(ran.asked(6)).toContain("WRITE b.py: the user wants this step done");
  expect([ran.outcome.ok, ran.files["b.py"]]).toEqual([true, "two\n"]);
});

test("a step that stays failed after a no to more than the plan is told as failed, with its reason", async () => {
  const more = `AMEND::WRITE::c.py::b.py needs it\n${write("c.py", "three\n")}`;
  const ran = await run({
    lines: [
      ...[scope, write("a.py", "one\n"), verdict(), write("b.py", "two\n"), verdict(false, 2, ["c is missing"])],
      more + write("b.py", "2\n") + finish(),
    ],
    answers: ["yes", "no", "yes"],
  });
  expect(ran.questions.map(({ kind }) => kind)).toEqual(["plan", "amend", "keep"]);
  expect([ran.outcome.status, ran.files["a.py"]]).toEqual(["failed", "one\n"]);
  expect(becameOf(ran.outcome)).toContain("failed: step 2, Then, stayed failed: c is missing; ");
});

test("a step that did not pass without what the person declined is not mended", async () => {
  const lines = [
    schedule({ create: ["a.py", "c.py", "b.py"], steps: ["Write two", "Write the other"] }),
    write("a.py", "import c\n") + write("c.py", "") + finish(),
    verdict(false, 2, ["c is missing"]),
    write("b.py", "x = 1\n") + finish(),
    ...[verdict(true), "Made it."],
  ];
  const ran = await run({ lines, review: "change", answers: ["yes", "yes", "no", "yes"] });
  expect(ran.purposes).toBe("plan execute integrity execute integrity summary");
});

test("what a step moved away is not told to its judge as gone by somebody else", async () => {
  const moves = `MV::old.py::new.py\n${modify("new.py", ["x\n", "y\n"])}`;
  const ran = await play({
    files: { "old.py": "x\n" },
    lines: [
      schedule({ create: ["new.py"], modify: ["old.py"], remove: ["old.py"] }),
      ...[moves + finish(), verdict(), "Moved."],
    ],
    ...{ flow: eightStep, options: { mode: "eight-step", allowDelete: true } },
  });
  expect(ran.files).toEqual({ "new.py": "y\n" });
  expect(ran.asked(3)).toContain("rename from old.py");
  expect(ran.asked(3)).not.toContain("Not done by these actions");
});
