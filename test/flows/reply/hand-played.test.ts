/** Habits of ordinary models, as they were played by hand: the work is done, or the run says truly that it is not. */
import { describe, expect, test } from "bun:test";
import type { RunOptions } from "../../../src/flows/run.ts";
import { finish, modify, plan, talk, write } from "../plans.ts";
import { type Files, type Line, play } from "../scripted.ts";

const bmi =
  'def bmi(weight, height):\n    return weight / (height * height)\n\n\ndef category(value):\n    if value < 18.5:\n        return "Underweight"\n    if value < 25:\n        return "Normal"\n    return "Obese"\n\n\nif __name__ == "__main__":\n    print(category(bmi(70, 1.75)))\n';
const old = '    return "Obese"\n';
const fresh = '    if value < 30:\n        return "Overweight"\n    return "Obese"\n';
const done = bmi.replace(old, fresh);
const files = { "bmi.py": bmi };
const steps = ["MODIFY bmi.py"];
const good = modify("bmi.py", [old, fresh]);
const task = "add the category Overweight from 25 to 30";
const check = "grep -q Overweight bmi.py";

interface Habit {
  readonly lines: readonly Line[];
  readonly code?: number;
  readonly calls?: number;
  readonly before?: Files;
  readonly after?: Files;
  /** What the run says at its end; absent: it does not matter. */
  readonly text?: string;
  readonly options?: Partial<RunOptions>;
}

const diff = (path: string) =>
  `--- a/${path}\n+++ b/${path}\n@@ -1,2 +1,4 @@\n     if value < 25:\n         return "Normal"\n+    if value < 30:\n+        return "Overweight"\n     return "Obese"\n`;
const whole = `\`\`\`python\n${done}\`\`\``;
const tabs = "function f() {\n\treturn 1;\n}\n";
const names = Array.from({ length: 30 }, (_, n) => `m${n}.py`);
const renamed = (only: readonly string[]) =>
  only.map((name) => modify(name, ["old_name()\n", "new_name()\n"])).join("");
const thirty = Object.fromEntries(names.map((name) => [name, "old_name()\n"]));
const thirtyNew = Object.fromEntries(names.map((name) => [name, "new_name()\n"]));

/** Done: exit code 0, and the files as they were wanted. */
const right: Readonly<Record<string, Habit>> = {
  "n1 a planned test that covers it already": {
    lines: [
      plan({ steps: [...steps, "MODIFY test_bmi.py"] }),
      `${good}${finish()}`,
      finish("The test covers it already, so it stays."),
    ],
    before: { ...files, "test_bmi.py": "import bmi\n" },
    after: { "bmi.py": done, "test_bmi.py": "import bmi\n" },
    options: { checks: [check] },
  },
  "n2 a planned path with ./ and another one in the wrong case": {
    lines: [plan({ steps: ["MODIFY ./BMI.py"] }), good + finish()],
    calls: 2,
  },
  "n42 the plan says BMI.py, the script bmi.py": {
    lines: [plan({ steps: ["MODIFY BMI.py"] }), good + finish()],
    calls: 2,
  },
  "n43 and the script asks for bmi.py with AMEND": {
    lines: [plan({ steps: ["MODIFY BMI.py"] }), `AMEND::MODIFY::bmi.py::the real name\n${good}${finish()}`],
    calls: 2,
  },
  "n3 blanks in SEARCH where the file has tabs": {
    before: { "a.js": tabs },
    lines: [plan({ steps: ["MODIFY a.js"] }), modify("a.js", ["    return 1;\n", "    return 2;\n"]) + finish()],
    after: { "a.js": tabs.replace("1", "2") },
    calls: 2,
  },
  "n4 one SEARCH for three places, then SEARCH ALL": {
    before: { "a.txt": "x = 1\ny\nx = 1\nz\nx = 1\n" },
    lines: [
      plan({ steps: ["MODIFY a.txt"] }),
      modify("a.txt", ["x = 1\n", "x = 2\n"]) + finish(),
      modify("a.txt", ["x = 1\n", "x = 2\n"]).replace("<<<<<<< SEARCH", "<<<<<<< SEARCH ALL") + finish(),
    ],
    after: { "a.txt": "x = 2\ny\nx = 2\nz\nx = 2\n" },
    calls: 3,
  },
  "n6 values in another language": {
    lines: [
      plan({ steps: ["ÄNDERN bmi.py"] })
        .replace('"task"', '"Aufgabe"')
        .replace('"simple"', '"einfach"'),
      plan({ steps }).replace('"simple"', '"einfach"'),
      good + finish(),
    ],
    calls: 3,
  },
  "n7 a WRITE with the rest unchanged, then whole": {
    lines: [
      plan({ steps }),
      write("bmi.py", `def bmi(weight, height):\n    # ... rest unchanged ...\n${fresh}`) + finish(),
      good + finish(),
    ],
    calls: 3,
  },
  "n8 a hunk in a fence": {
    lines: [plan({ steps }), `Here it is:\n\`\`\`diff\n${diff("bmi.py")}\`\`\`\nDone.`],
    calls: 2,
  },
  "n9 the patch of another agent": {
    lines: [
      plan({ steps }),
      `*** Begin Patch\n*** Update File: bmi.py\n@@\n         return "Normal"\n+    if value < 30:\n+        return "Overweight"\n     return "Obese"\n*** End Patch\n`,
    ],
    calls: 2,
  },
  "n9b a tool call in tags": {
    lines: [
      plan({ steps }),
      `<tool_call>\n${JSON.stringify({ name: "edit", arguments: { path: "bmi.py", old_string: old, new_string: fresh } })}\n</tool_call>`,
    ],
    calls: 2,
  },
  "n10 closed thoughts, with a plan and a script in them": {
    lines: [
      `<think>\n{"intent": "conversation"}\n</think>\n${plan({ steps })}`,
      `<think>WRITE::x.py::EOT\nEND::EOT\n</think>\n${good}${finish()}`,
    ],
    calls: 2,
  },
  "n10c only the end of thoughts": {
    lines: [`Let me see.\n</think>\n${plan({ steps })}`, `I think so.\n</think>\n${good}${finish()}`],
    calls: 2,
  },
  "n10b thoughts that never end": {
    lines: [`<think>\nThe file is small.\n\n${plan({ steps })}`, `<think>\nEasy.\n\n${good}${finish()}`],
    calls: 2,
  },
  "n11 thirty files, nine forgotten": {
    before: thirty,
    lines: [
      plan({ steps: names.map((name) => `MODIFY ${name}`) }),
      renamed(names.slice(0, 21)) + finish(),
      renamed(names.slice(21)) + finish(),
    ],
    after: thirtyNew,
    calls: 3,
  },
  "n13 a script with CRLF": { lines: [plan({ steps }), (good + finish()).replaceAll("\n", "\r\n")], calls: 2 },
  "n15 a MODIFY of a file that does not exist, then WRITE": {
    lines: [
      plan({ steps: ["MODIFY new.md"] }),
      plan({ steps: ["WRITE new.md"] }),
      write("new.md", "# New\n") + finish(),
    ],
    after: { ...files, "new.md": "# New\n" },
  },
  "n19 a Markdown file in a fence": {
    lines: [
      plan({ steps: ["WRITE README.md"] }),
      write("README.md", "```markdown\n# BMI\n\n```sh\npython bmi.py\n```\n```\n") + finish(),
    ],
    after: { ...files, "README.md": "# BMI\n\n```sh\npython bmi.py\n```\n" },
    calls: 2,
  },
  "n18 an elided SEARCH": {
    lines: [
      plan({ steps }),
      modify("bmi.py", [
        'def category(value):\n    # ...\n    return "Obese"\n',
        `def category(value):\n    # ...\n${fresh}`,
      ]) + finish(),
    ],
    calls: 2,
  },
  "n21 the plan again in place of the script": { lines: [plan({ steps }), plan({ steps }), good + finish()], calls: 3 },
  "n22 AMEND without a reason": {
    before: { ...files, "b.py": "b = 1\n" },
    lines: [plan({ steps }), `${good}AMEND::MODIFY::b.py\n${modify("b.py", ["b = 1\n", "b = 2\n"])}${finish()}`],
    after: { "bmi.py": done, "b.py": "b = 2\n" },
    calls: 2,
  },
  "n27 the numbers of lines in SEARCH": {
    lines: [
      plan({ steps }),
      modify("bmi.py", ['9         return "Normal"\n10     return "Obese"\n', `        return "Normal"\n${fresh}`]) +
        finish(),
    ],
    calls: 2,
  },
  "n28 other quotes in SEARCH": {
    lines: [plan({ steps }), modify("bmi.py", ["    return 'Obese'\n", fresh]) + finish(), good + finish()],
  },
  "n29 headers without a tag": {
    lines: [
      plan({ steps }),
      (good + finish()).replace("MODIFY::bmi.py::EOT", "MODIFY::bmi.py").replace("FINISH::EOT", "FINISH"),
    ],
    calls: 2,
  },
  "n31 headers in bold": {
    lines: [plan({ steps }), (good + finish()).replace("MODIFY::bmi.py::EOT", "**MODIFY::bmi.py::EOT**")],
    calls: 2,
  },
  "n30 an END forgotten": { lines: [plan({ steps }), good.replace("END::EOT\n", "") + finish()], calls: 2 },
  "n33 a WRITE for a planned MODIFY": { lines: [plan({ steps }), write("bmi.py", done) + finish()], calls: 2 },
  "n34 a MODIFY that holds the whole file": {
    lines: [plan({ steps }), `MODIFY::bmi.py::EOT\n${done}END::EOT\n${finish()}`],
    calls: 2,
  },
  "n36 a block of aider without a fence": {
    lines: [plan({ steps }), `bmi.py\n<<<<<<< SEARCH\n${old}=======\n${fresh}>>>>>>> REPLACE\n`],
    calls: 2,
  },
  "n46 a diff with wrong numbers": { lines: [plan({ steps }), diff("bmi.py")], calls: 2 },
  "n49 a fenced whole file, which is the one of the plan": {
    lines: [plan({ steps }), `Here is the file:\n\n${whole}\n`],
    calls: 2,
  },
  "n50 the same with its name before it": { lines: [plan({ steps }), `bmi.py\n${whole}\n`], calls: 2 },
  "n37 a plan that deletes in place of a move": {
    lines: [
      plan({ steps: ["WRITE body.py", "RM bmi.py"] }),
      plan({ steps: ["MV bmi.py -> body.py"] }),
      `MV::bmi.py::body.py\n${finish()}`,
    ],
    after: { "body.py": bmi },
    calls: 3,
  },
  "n45 fields of other names in the plan": {
    lines: [
      JSON.stringify({
        intent: "task",
        response: "On it.",
        execution_plan: { steps: [{ action: "modify", path: "bmi.py" }] },
      }),
      good + finish(),
    ],
    calls: 2,
  },
  "expl prose after looks": {
    lines: [
      plan({ steps: ["READ bmi.py"] }).replace(`"task"`, `"look"`),
      "It computes the body mass index.",
      "It computes the body mass index, and says its category.",
    ],
    after: files,
    calls: 3,
  },
  "bmi2 a diff inside MODIFY": {
    lines: [plan({ steps }), `MODIFY::bmi.py::EOT\n${diff("bmi.py")}END::EOT\n${finish()}`],
    calls: 2,
  },
  "web a script that is cut in a line": {
    lines: [
      plan({ steps: [...steps, "WRITE b.txt"] }),
      { text: `${good}WRITE::b.txt::EOT\none\ntw`, stop: "length" },
      `two\nEND::EOT\n${finish()}`,
    ],
    after: { "bmi.py": done, "b.txt": "one\ntwo\n" },
    calls: 3,
  },
  "expl2 an answer as JSON in a fence": {
    lines: [`Sure:\n\`\`\`json\n${talk("It computes the body mass index.")}\n\`\`\``],
    after: files,
    calls: 1,
  },
  "ms diffs of three files in one answer": {
    before: { ...files, "b.py": "b = 1\n", "c.py": "c = 1\n" },
    lines: [
      plan({ steps: [...steps, "MODIFY b.py", "MODIFY c.py"] }),
      `**bmi.py**\n\`\`\`diff\n${diff("bmi.py")}\`\`\`\n${["b", "c"].map((name) => `**${name}.py**\n\`\`\`diff\n--- a/${name}.py\n+++ b/${name}.py\n@@ -1 +1 @@\n-${name} = 1\n+${name} = 2\n\`\`\`\n`).join("")}Months are supported now.`,
    ],
    after: { "bmi.py": done, "b.py": "b = 2\n", "c.py": "c = 2\n" },
    text: "Months are supported now.",
    calls: 2,
  },
  "sub a SEARCH that begins in the middle of a line": {
    lines: [plan({ steps }), modify("bmi.py", ['return "Obese"\n', 'return "Very obese"\n']) + finish()],
    after: { "bmi.py": bmi.replace("Obese", "Very obese") },
    calls: 2,
  },
  "conv talk": { lines: [talk("Hello.")], after: files, calls: 1 },
  "bad1 prose, then a plan": { lines: ["I will do it.", plan({ steps }), good + finish()], calls: 3 },
  "bad2 actions as JSON, then a fenced whole file": {
    lines: [plan({ steps }), JSON.stringify([{ action: "MODIFY", path: "bmi.py", content: "x" }]), `${whole}\n`],
  },
};

describe("is done:", () => {
  test.each(Object.entries(right))(
    "%s",
    async (_, { lines, code = 0, calls, before = files, after, text, options }) => {
      const ran = await play({ files: before, task, lines, ...(options && { options }) });
      if (text !== undefined) expect(ran.outcome.text).toBe(text);
      expect({ code: ran.outcome.code, why: ran.outcome.error?.message }).toEqual({ code, why: undefined });
      expect(ran.files).toEqual(after ?? { ...before, "bmi.py": done });
      if (calls !== undefined) expect(ran.outcome.calls.made).toBe(calls);
    },
  );
});

/** Not done: the exit code says so, and nothing of it stays. */
const honest: Readonly<Record<string, Habit & { readonly status: "answered" | "failed" }>> = {
  "n14 a claim that all passes while the check is red": {
    lines: [
      plan({ steps }),
      modify("bmi.py", [old, `${old}    # Normal\n`]) + finish("All 5 pass."),
      finish("All pass now."),
    ],
    options: { checks: [check] },
    code: 9,
    status: "failed",
  },
  "n23 a task answered as talk": { lines: [talk("I have added the category.")], code: 0, status: "answered" },
  "n23c the same where a check is red": {
    lines: [talk("I have added the category.")],
    options: { checks: [check] },
    code: 9,
    status: "failed",
  },
  "n5 a question back": { lines: [talk("Which database do you use?")], code: 0, status: "answered" },
  "n24 prose in place of a script, twice": {
    lines: [plan({ steps }), "I have updated bmi.py.", "It is all done now, as I said."],
    code: 7,
    status: "failed",
  },
  "n26 a block without its divider, then one without anything": {
    lines: [
      plan({ steps }),
      good.replace("=======\n", "") + finish(),
      "MODIFY::bmi.py\nreturn 'Overweight'\nFINISH\nDone.",
    ],
    code: 8,
    status: "failed",
  },
  "n39 the file is read again in place of the work": {
    lines: [plan({ steps }), "READ::bmi.py\n", "READ::bmi.py\n"],
    options: { checks: [check] },
    code: 8,
    status: "failed",
  },
  "n51 a snippet in a fence, twice": {
    lines: [plan({ steps }), `\`\`\`python\n${fresh}\`\`\`\n`, `\`\`\`python\n${fresh}\`\`\`\n`],
    code: 7,
    status: "failed",
  },
  "n47 files as JSON, twice": {
    lines: [
      plan({ steps }),
      JSON.stringify({ "bmi.py": done }),
      JSON.stringify({ files: [{ path: "bmi.py", content: done }] }),
    ],
    code: 7,
    status: "failed",
  },
  "nof a task that is called needless": {
    lines: [plan({ steps }), finish("Nothing needs to change here."), finish("Nothing needs to change here.")],
    code: 8,
    status: "failed",
  },
};

describe("is not done, and says so:", () => {
  test.each(Object.entries(honest))("%s", async (_, { lines, code, status, options }) => {
    const ran = await play({ files, task, lines, ...(options && { options }) });
    expect([ran.outcome.code, ran.outcome.status, ran.files]).toEqual([code ?? 0, status, files]);
    // The model's words, even none, are then a claim and not the text.
    if (code === 8)
      expect(ran.outcome).toMatchObject({
        text: expect.stringMatching(/^nothing was done: /),
        claimed: expect.any(String),
      });
    if (status === "answered")
      expect(ran.eventsOf("notice").map(({ text }) => text)).toContain("answered, nothing changed");
  });
});

describe("a WRITE that drops most of a file that was shown", () => {
  const lines = [plan({ steps }), write("bmi.py", fresh) + finish()];
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
