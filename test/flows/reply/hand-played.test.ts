/** Habits of ordinary models, as they were played by hand: the work is done, or the run says truly that it is not. */
import { describe, expect, test } from "bun:test";
import type { RunOptions } from "../../../src/flows/run.ts";
import { finish, modify, planTo, write } from "../plans.ts";
import { type Files, type Line, play } from "../scripted.ts";

const bmi =
  'def bmi(weight, height):\n    return weight / (height * height)\n\n\ndef category(value):\n    if value < 18.5:\n        return "Underweight"\n    if value < 25:\n        return "Normal"\n    return "Obese"\n\n\nif __name__ == "__main__":\n    print(category(bmi(70, 1.75)))\n';
const old = '    return "Obese"\n';
const fresh = '    if value < 30:\n        return "Overweight"\n    return "Obese"\n';
const done = bmi.replace(old, fresh);
const files = { "bmi.py": bmi };
const planned = planTo("MODIFY bmi.py");
const good = modify("bmi.py", [old, fresh]);
const task = "add the category Overweight from 25 to 30";
const check = "grep -q Overweight bmi.py";

interface Habit {
  readonly lines: readonly Line[];
  readonly calls?: number;
  readonly before?: Files;
  readonly after?: Files;
  readonly options?: Partial<RunOptions>;
}

const whole = `\`\`\`python\n${done}\`\`\``;
/** Done: exit code 0, and the files as they were wanted. */
const right: Readonly<Record<string, Habit>> = {
  "n6 values in another language": {
    lines: [
      planTo("ÄNDERN bmi.py").replace('"task"', '"Aufgabe"').replace('"simple"', '"einfach"'),
      planned.replace('"simple"', '"einfach"'),
      good + finish(),
    ],
    calls: 3,
  },
  "n7 a WRITE with the rest unchanged, then whole": {
    lines: [
      planned,
      write("bmi.py", `def bmi(weight, height):\n    # ... rest unchanged ...\n${fresh}`) + finish(),
      good + finish(),
    ],
    calls: 3,
  },
  "n9 the patch of another agent": {
    lines: [
      planned,
      `*** Begin Patch\n*** Update File: bmi.py\n@@\n         return "Normal"\n+    if value < 30:\n+        return "Overweight"\n     return "Obese"\n*** End Patch\n`,
    ],
    calls: 2,
  },
  "n15 a MODIFY of a file that does not exist, then WRITE": {
    lines: [planTo("MODIFY new.md"), planTo("WRITE new.md"), write("new.md", "# New\n") + finish()],
    after: { ...files, "new.md": "# New\n" },
  },
  "n21 the plan again in place of the script": { lines: [planned, planned, good + finish()], calls: 3 },
  "n22 AMEND without a reason": {
    before: { ...files, "b.py": "b = 1\n" },
    lines: [planned, `${good}AMEND::MODIFY::b.py\n${modify("b.py", ["b = 1\n", "b = 2\n"])}${finish()}`],
    after: { "bmi.py": done, "b.py": "b = 2\n" },
    calls: 2,
  },
  "n34 MODIFY with a whole file": { lines: [planned, `MODIFY::bmi.py::EOT\n${done}END::EOT\n${finish()}`], calls: 2 },
  "n49 a fenced file, the one of the plan": { lines: [planned, `Here is the file:\n\n${whole}\n`], calls: 2 },
  "n37 a plan that deletes in place of a move": {
    lines: [planTo("WRITE body.py", "RM bmi.py"), planTo("MV bmi.py -> body.py"), `MV::bmi.py::body.py\n${finish()}`],
    after: { "body.py": bmi },
    calls: 3,
  },
  "n48 a file in tags": { lines: [planned, `<file path="bmi.py">\n${done}</file>\n`, good + finish()], calls: 3 },
};

describe("is done:", () => {
  test.each(Object.entries(right))("%s", async (_, { lines, calls, before = files, after }) => {
    const ran = await play({ files: before, task, lines });
    expect([ran.outcome.code, ran.outcome.error]).toEqual([0, null]);
    expect(ran.files).toEqual(after ?? { ...before, "bmi.py": done });
    if (calls !== undefined) expect(ran.outcome.calls.made).toBe(calls);
  });
});

/** Not done: the exit code says so, and nothing of it stays. */
const honest: Readonly<Record<string, Habit & { readonly code: 7 | 8 }>> = {
  "n26 a block without its divider, then one without anything": {
    lines: [planned, good.replace("=======\n", "") + finish(), "MODIFY::bmi.py\nreturn 'Overweight'\nFINISH\nDone."],
    code: 8,
  },
  "n39 the file is read again in place of the work": {
    lines: [planned, "READ::bmi.py\n", "READ::bmi.py\n"],
    options: { checks: [check] },
    code: 8,
  },
  "n51 a snippet in a fence, twice": {
    lines: [planned, `\`\`\`python\n${fresh}\`\`\`\n`, `\`\`\`python\n${fresh}\`\`\`\n`],
    code: 7,
  },
  "n47 files as JSON, twice": {
    lines: [
      planned,
      JSON.stringify({ "bmi.py": done }),
      JSON.stringify({ files: [{ path: "bmi.py", content: done }] }),
    ],
    code: 7,
  },
  "nof a task that is called needless": {
    lines: [planned, finish("Nothing needs to change here."), finish("Nothing needs to change here.")],
    code: 8,
  },
};

describe("is not done, and says so:", () => {
  test.each(Object.entries(honest))("%s", async (_, { lines, code, options }) => {
    const ran = await play({ files, task, lines, ...(options && { options }) });
    expect([ran.outcome.code, ran.outcome.status, ran.files]).toEqual([code, "failed", files]);
    // The model's words, even none, are then a claim and not the text.
    if (code === 8)
      expect(ran.outcome).toMatchObject({
        text: expect.stringMatching(/^nothing was done: /),
        claimed: expect.any(String),
      });
  });
});

describe("a WRITE that drops most of a file that was shown", () => {
  const lines = [planned, write("bmi.py", fresh) + finish()];
  const told = "bmi.py: 11 of 14 lines go, among them bmi, category";

  test("says what goes where nobody can be asked", async () => {
    const ran = await play({ files, task, lines });
    expect(ran.eventsOf("notice").filter(({ text }) => text === told)).toHaveLength(1);
    expect(ran.outcome.code).toBe(0);
  });

  test("asks a person, whose no keeps the file", async () => {
    const all = { lines: [...lines, finish("I leave it.")], options: { interactive: true } };
    const ran = await play({ files, task, ...all, answers: ["yes", "no"] });
    expect(ran.questions.map(({ text }) => text)).toContain(told);
    expect(ran.files).toEqual(files);
  });
});
