/** eight-step: what its steps are shown of large files, and what becomes of the praise that has a condition. */
import { expect, test } from "bun:test";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { finish, modify, schedule, verdict, write } from "../plans.ts";
import { play, type Setup } from "../scripted.ts";

const summary = "Made it.\nNEXT: Add a test\nNEXT: Add docs\n";
const run = ({ options, ...setup }: Setup) =>
  play({ ...setup, flow: eightStep, options: { mode: "eight-step", ...options } });

test("what a step that passed could still have better becomes next steps, behind those of the summary, each once", async () => {
  const lines = [
    schedule({ create: ["a.py"], steps: ["Write it", "Look again"] }),
    write("a.py", "x = 1\n"),
    verdict(true, 8, [], ["Name the number", "Add a test"]),
    finish(),
    verdict(true, 9, [], ["Name the number"]),
    summary,
  ];
  const ran = await run({ lines });
  expect(ran.outcome).toMatchObject({ code: 0, next: ["Add a test", "Add docs", "Name the number"] });
});

test("of a large file that it changes a step is shown parts, and the edit of a part applies", async () => {
  const large = Array.from({ length: 6000 }, (_, n) => `def part_${n}():\n    return ${n}\n\n`).join("");
  const edit = modify("lib/parts.py", ["    return 1700\n", "    return 7100\n"]);
  const lines = [schedule({ modify: ["lib/parts.py"] }), edit + finish(), verdict(true, 8), summary];
  const task = "part_1700 in lib/parts.py should return 7100";
  const ran = await run({ lines, files: { "lib/parts.py": large }, task });
  expect(ran.asked(2)).toContain('<file path="lib/parts.py" shown="parts of 18000 lines">');
  expect(ran.asked(2)).toContain("    return 1700\n");
  expect(ran.asked(2)).not.toContain("    return 900\n");
  expect(ran.asked(2).length).toBeLessThan(30_000);
  expect(ran.outcome.code).toBe(0);
  expect(ran.files["lib/parts.py"]).toBe(large.replace("return 1700\n", "return 7100\n"));
});

test("the summary is told what was mended, and what the checks came to", async () => {
  const lines = [
    schedule({ create: ["a.sh"] }),
    write("a.sh", "exit 1\n"),
    verdict(true, 6),
    modify("a.sh", ["exit 1\n", "exit 0\n"]),
    summary,
  ];
  const ran = await run({ lines, options: { checks: ["sh a.sh"] } });
  expect(ran.purposes).toBe("plan execute integrity heal summary");
  expect(ran.asked(4)).toContain("This is its one repair; turns left after it: 0.");
  expect(ran.asked(5)).toContain("1. Write it: repaired, and not judged again\ndone: MODIFY a.sh");
  expect(ran.outcome.score).toBeNull();
  expect(ran.asked(5)).toEndWith("Checks at the end:\n- sh a.sh: passed");
});

test("a FINISH covers no later step while a command is red, and the summary knows of a step that the person wants", async () => {
  const skip = `SKIP::b.py::one does\n${write("a.py", "x = 1\n")}${finish()}`;
  const lines = [
    schedule({ create: ["a.py", "b.py"], run: ["false"], steps: ["Write both", "Run it"] }),
    ...[skip, verdict(true, 8), `${write("b.py", "y = 1\n")}RUN::false\n${finish("It fails.")}`],
    ...[verdict(true, 4), summary],
  ];
  const options = { interactive: true, allowRun: true } as const;
  const ran = await run({ lines, options, answers: ["yes", "no"] });
  expect(ran.questions.map(({ kind }) => kind)).toEqual(["plan", "amend"]);
  expect(ran.purposes).toBe("plan execute integrity execute integrity summary");
  expect(ran.asked(6)).toContain("WRITE b.py: the user wants this step done");
});

test("a command that pai runs early and that is red leaves the later step to the model", async () => {
  const lines = [
    schedule({ create: ["a.py"], run: ["false"], steps: ["Write it", "Run it"] }),
    ...[write("a.py", "x = 1\n") + finish(), verdict(true, 8), finish("It fails."), verdict(true, 4), summary],
  ];
  const ran = await run({ lines, options: { allowRun: true } });
  expect(ran.purposes).toBe("plan execute integrity execute integrity summary");
  expect(ran.eventsOf("notice").map(({ code }) => code)).not.toContain("steps_covered");
});
