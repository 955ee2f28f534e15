/** What careless models do with a prompt they half understood: it must cost no call that is not needed. */
import { describe, expect, test } from "bun:test";
import { finish, modify, plan } from "./plans.ts";
import { makeFolder, play, playIn } from "./scripted.ts";

const files = { "a.txt": "one\n" };
const done = modify("a.txt", ["one\n", "1\n"]);
const steps = ["MODIFY a.txt"];

describe("a check that the model runs by itself", () => {
  test("is left to pai, which runs it anyway: no refusal, no call more", async () => {
    const lines = [plan({ steps }), `${done}RUN::test -f a.txt\n${finish()}`];
    const ran = await play({ files, lines, options: { checks: ["test -f a.txt"], allowRun: true } });
    expect(ran.outcome).toMatchObject({ code: 0, status: "verified", calls: { made: 2 } });
    expect(ran.eventsOf("call.finished").map(({ action }) => action)).toEqual(["MODIFY"]);
    expect(ran.asked(2)).toContain("Checks that pai runs after it (no RUN needed):\n- test -f a.txt");
  });

  test("runs where it stands when the plan promised it", async () => {
    const lines = [plan({ steps: [...steps, "RUN test -f a.txt"] }), `${done}RUN::test -f a.txt\n${finish()}`];
    const ran = await play({ files, lines, options: { checks: ["test -f a.txt"], allowRun: true } });
    expect(ran.eventsOf("call.finished").map(({ action }) => action)).toEqual(["MODIFY", "RUN"]);
  });
});

describe("when all is done and only something extra was refused", () => {
  const first = `${done}RM::b.txt\n${finish("It says 1 now.\nNEXT: Add two")}`;
  const setup = { files: { ...files, "b.txt": "two\n" }, options: { allowDelete: true } };

  test("words without a script end the run", async () => {
    const lines = [plan({ steps, complexity: "moderate" }), first, "Sorry! Everything is done."];
    const ran = await play({ ...setup, lines });
    expect(ran.outcome).toMatchObject({ code: 0, text: "It says 1 now.", next: ["Add two"], calls: { made: 3 } });
    expect(ran.asked(3)).toContain("only what is left, ended with FINISH (alone when nothing is)");
  });

  test("a FINISH without words keeps what the one before it said", async () => {
    const ran = await play({ ...setup, lines: [plan({ steps }), first, "FINISH"] });
    expect(ran.outcome).toMatchObject({ code: 0, text: "It says 1 now.", next: ["Add two"] });
  });
});

test("a plan with paths of the project from the root of the disk is asked for again, with their right spelling", async () => {
  const place = makeFolder(files);
  const lines = [plan({ steps: [`MODIFY ${place.root}/a.txt`] }), plan({ steps }), done + finish()];
  const ran = await playIn(place, { lines });
  place.remove();
  expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 3 } });
  expect(ran.asked(2)).toContain(`write ${place.root}/a.txt relative to the project root: a.txt`);
});

test("words while something is open are told to be no action", async () => {
  const lines = [plan({ steps, complexity: "moderate" }), "Sorry, I did it.", done + finish()];
  const ran = await play({ files, lines });
  expect(ran.outcome).toMatchObject({ code: 0, calls: { made: 3 } });
  expect(ran.asked(3)).toContain("could not be used: the reply held no action and no answer.");
  expect(ran.asked(3)).toContain("Still to do from the plan:\n- change a.txt");
});
