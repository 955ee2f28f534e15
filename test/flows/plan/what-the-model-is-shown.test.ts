/** What the model is shown of a project and of its own work: enough to answer well, and the user loses no answer. */
import { describe, expect, test } from "bun:test";
import { finish, modify, plan, write } from "../plans.ts";
import { play } from "../scripted.ts";

const create = [plan({ steps: ["WRITE a.txt"] }), write("a.txt", "one\n") + finish()];

describe("the plan call", () => {});

describe("the execution call", () => {
  test("sees a file that is to be moved, and may change it where the plan changes it under either name", async () => {
    for (const changed of ["old.py", "new.py"]) {
      const steps = ["MV old.py -> new.py", `MODIFY ${changed}`];
      const script = `MV::old.py::new.py\n${modify("new.py", ["a = 1\n", "a = 2\n"])}${finish()}`;
      const { told, files, outcome } = await play({
        files: { "old.py": "a = 1\n" },
        lines: [plan({ steps }), script],
      });
      expect(told(2)).toContain('<file path="old.py">\na = 1\n</file>');
      expect([files, outcome.code]).toEqual([{ "new.py": "a = 2\n" }, 0]);
    }
  });

  test("is told when the commands of the plan will not run", async () => {
    const lines = [
      plan({ steps: ["WRITE a.txt", "RUN cat a.txt"] }),
      `${write("a.txt", "one\n")}RUN::cat a.txt\n${finish()}`,
    ];
    const told = "Commands are not run this time";
    expect((await play({ lines })).asked(2)).toContain(told);
    expect((await play({ lines, options: { allowRun: true } })).asked(2)).not.toContain(told);
  });

  test("is not asked again for a FINISH it forgot when everything promised is done", async () => {
    const { outcome, purposes } = await play({ lines: [create[0] ?? "", write("a.txt", "one\n")] });
    expect([purposes, outcome.code]).toEqual(["plan execute", 0]);
  });

  test("a reply that was not cut is not called cut", async () => {
    const steps = ["WRITE a.txt", "WRITE b.txt"];
    const first = write("a.txt", "one\n");
    const { asked, events } = await play({ lines: [plan({ steps }), first, write("b.txt", "two\n") + finish()] });
    expect(asked(3)).not.toContain("cut");
    expect(events).toContainEqual(
      expect.objectContaining({ type: "notice", text: "asking again: promised and not done: change b.txt" }),
    );
  });

  test("is told that its edits are in when a check fails", async () => {
    const lines = [
      ...create.slice(0, 1),
      write("a.txt", "one\n") + finish(),
      modify("a.txt", ["one\n", "two\n"]) + finish(),
    ];
    const { asked, outcome } = await play({ lines, options: { checks: ["grep two a.txt"] } });
    expect(asked(3)).toContain("Your edits are in the files now. Correct what the failed check shows");
    expect(outcome.status).toBe("verified");
  });
});

test("what a check leaves behind is reported, with the check", async () => {
  const lines = [plan({ steps: ["WRITE a.txt"] }), write("a.txt", "one\n") + finish()];
  const check = "mkdir -p __pycache__ dist && echo 1 | tee __pycache__/a.pyc > dist/a";
  const { eventsOf } = await play({ files: { ".gitignore": "dist/\n" }, lines, options: { checks: [check] } });
  const told = eventsOf("notice").flatMap(({ text }) => (text.includes("no undo") ? [text] : []));
  // A tool's cache is not worth a line.
  expect(told).toContain(`${check}: dist is ignored: no undo takes its change back`);
  expect(told.join()).not.toContain("__pycache__ is");
});
