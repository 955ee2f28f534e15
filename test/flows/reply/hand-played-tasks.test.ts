/** The tasks of the first hand-played trial and what was left of the second: done, whatever the habits of the model. */
import { expect, test } from "bun:test";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { call, calls } from "../loop.ts";
import { finish, modify, plan, talk, write } from "../plans.ts";
import { type Files, type Line, play, type Setup } from "../scripted.ts";

const money = "def parse(text):\n    return int(text)\n\n\ndef render(cents):\n    return str(cents)\n";
const cart = "from money import parse\n\n\ndef total(items):\n    return sum(items)\n";
const files = { "money.py": money, "cart.py": cart };
const inMoney = ["    return int(text)\n", "    return round(float(text) * 100)\n"] as const;
const inCart = ["    return sum(items)\n", "    return sum(items, 0)\n"] as const;
const doneMoney = money.replace(...inMoney);
const doneCart = cart.replace(...inCart);
const look = (...steps: readonly string[]) => plan({ steps }).replace('"task"', '"look"');

/** A file with the same lines again and again: an end that is common, a beginning that is not. */
const command = Array.from({ length: 12 }, (_, n) => `  option${n}() {\n    return this;\n  }\n\n`).join("");
const cmd = `class Command {\n${command}  hideHelp(hide = true) {\n    this.hidden = hide;\n    return this;\n  }\n}\n`;
const diffOf = (path: string, from: string, to: string) => `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-${from}+${to}`;

interface Task extends Partial<Setup> {
  readonly lines: readonly Line[];
  readonly calls: number;
  readonly text?: string;
  readonly status?: string;
  /** What is then not as before. */
  readonly after: Files;
}

const one = { "money.py": doneMoney };
const both = { ...one, "cart.py": doneCart };
const schedule = (...titles: readonly string[]) =>
  JSON.stringify({
    mode: "task",
    complexity: "simple",
    reply: "On it.",
    steps: titles.map((title) => ({ title, hint: "" })),
    scope: {
      files_to_read: [],
      files_to_create: [],
      files_to_modify: Object.keys(files),
      files_to_delete: [],
      commands: [],
    },
  });
const loop = { flow: toolLoop, options: { mode: "tool-loop" } } as const;
const passed = JSON.stringify({ passed: true, quality_score: 8, reasons: [], next_fix: [] });
const failed = JSON.stringify({ passed: false, quality_score: 3, reasons: ["cart.py"], next_fix: ["change cart.py"] });

const tasks: Readonly<Record<string, Task>> = {
  "expl an answer in prose, after looks, to somebody who only asks": {
    options: { asksOnly: true },
    lines: [look("READ money.py"), "It reads prices."],
    calls: 2,
    text: "It reads prices.",
    after: {},
  },
  "tty a person is asked about the plan": {
    lines: [plan({ steps: ["MODIFY money.py"] }), modify("money.py", inMoney) + finish()],
    options: { interactive: true },
    answers: "yes",
    calls: 2,
    after: one,
  },
  "fix a second file without AMEND in the last call": {
    lines: [
      plan({ steps: ["MODIFY money.py"] }),
      modify("money.py", inMoney) + finish(),
      modify("cart.py", inCart) + finish(),
    ],
    options: { checks: ["grep -q 'items, 0' cart.py"] },
    calls: 3,
    after: both,
  },
  "fix2 a second file with AMEND": {
    lines: [
      plan({ steps: ["MODIFY money.py"] }),
      `${modify("money.py", inMoney)}AMEND::MODIFY::cart.py::it adds prices\n${modify("cart.py", inCart)}${finish()}`,
    ],
    calls: 2,
    after: both,
  },
  "mono a long file as WRITE for a planned MODIFY": {
    lines: [
      plan({ steps: ["WRITE a.py", "MODIFY money.py"] }),
      write("a.py", money) + write("money.py", "from a import parse, render\n") + finish(),
    ],
    calls: 2,
    after: { "a.py": money, "money.py": "from a import parse, render\n" },
  },
  "cmd an elided SEARCH whose end is common": {
    files: { "cmd.js": cmd },
    lines: [
      plan({ steps: ["MODIFY cmd.js"] }),
      modify("cmd.js", [
        "  hideHelp(hide = true) {\n    // ... existing code ...\n  }\n",
        "  hideHelp(hide = true) {\n    // ... existing code ...\n  }\n\n  showHelp() {}\n",
      ]) + finish(),
    ],
    calls: 2,
    after: {
      "cmd.js": cmd.replace(
        "    this.hidden = hide;\n    return this;\n  }\n",
        "    this.hidden = hide;\n    return this;\n  }\n\n  showHelp() {}\n",
      ),
    },
  },
  "ms diffs of two files in Markdown, the words at the end are the message": {
    lines: [
      plan({ steps: ["MODIFY money.py", "MODIFY cart.py"] }),
      `I'll add cents.\n\n**money.py**\n\`\`\`diff\n${diffOf("money.py", ...inMoney)}\`\`\`\n\n**cart.py**\n\`\`\`diff\n${diffOf("cart.py", ...inCart)}\`\`\`\n\nCents are supported now.\n`,
    ],
    calls: 2,
    text: "I'll add cents.\n\nCents are supported now.",
    after: both,
  },
  "bad3 blocks of aider under an announcement": {
    lines: [
      plan({ steps: ["MODIFY money.py"] }),
      `Here are the changes:\n\nmoney.py\n\`\`\`python\n<<<<<<< SEARCH\n${inMoney[0]}=======\n${inMoney[1]}>>>>>>> REPLACE\n\`\`\`\n\nPrices are cents.`,
    ],
    calls: 2,
    text: "Prices are cents.",
    after: one,
  },
  "next2 a plan with a pattern for a path": {
    lines: [
      plan({ steps: ["MODIFY *.py"] }),
      plan({ steps: ["MODIFY money.py", "MODIFY cart.py"] }),
      modify("money.py", inMoney) + modify("cart.py", inCart) + finish(),
    ],
    calls: 3,
    after: both,
  },
  "next3 a loop that reads, edits and ends": {
    ...loop,
    lines: [
      calls(call("read", { path: "money.py" })),
      calls(call("edit", { path: "money.py", old_str: inMoney[0], new_str: inMoney[1] })),
      "Done.",
    ],
    calls: 3,
    after: one,
  },
  "fixt a loop whose edit begins and ends inside a line": {
    ...loop,
    lines: [
      calls(call("read", { path: "money.py" }), call("read", { path: "cart.py" })),
      calls(call("edit", { path: "money.py", old_str: "int(text)", new_str: "round(float(text) * 100)" })),
      "Done.",
    ],
    calls: 3,
    after: one,
  },
  "mst a loop that makes all edits in one reply, of files it was shown": {
    ...loop,
    lines: [
      calls(
        call("edit", { path: "money.py", old_str: inMoney[0], new_str: inMoney[1] }),
        call("edit", { path: "cart.py", old_str: inCart[0], new_str: inCart[1] }),
      ),
      "Done.",
    ],
    calls: 2,
    after: both,
  },
  "n40 a tool that is not there, arguments of other names, an edit, and a claim that tests ran": {
    ...loop,
    lines: [
      calls(call("str_replace_editor", { path: "money.py" })),
      calls(call("edit", { file_path: "./money.py", old_string: inMoney[0], new_string: inMoney[1] })),
      "I ran all tests, and they pass.",
    ],
    calls: 3,
    status: "unverified",
    after: one,
  },
  "n12 a check of a project that has none": {
    lines: [
      plan({ steps: ["MODIFY money.py", "RUN npm test"], checks: ["npm test"] }),
      `${modify("money.py", inMoney)}RUN::npm test\n${finish()}`,
    ],
    calls: 2,
    after: one,
  },
  "n16 a question that needs two looks, and asks for a third": {
    lines: [look("READ money.py"), look("READ cart.py"), look("SEARCH total"), talk("It adds prices.")],
    calls: 4,
    text: "It adds prices.",
    after: {},
  },
  "n44 a plan that is a bare list": {
    lines: [
      JSON.stringify([{ action: "MODIFY", target: "money.py" }]),
      plan({ steps: ["MODIFY money.py"] }),
      modify("money.py", inMoney) + finish(),
    ],
    calls: 3,
    after: one,
  },
  "n48 the request's own form of a file": {
    lines: [
      plan({ steps: ["MODIFY money.py"] }),
      `<file path="money.py">\n${doneMoney}</file>\n`,
      modify("money.py", inMoney) + finish(),
    ],
    calls: 3,
    after: one,
  },
  "fix8 steps, one of which does not pass at first": {
    flow: eightStep,
    options: { mode: "eight-step" },
    lines: [
      schedule("Change money.py", "Change cart.py"),
      modify("money.py", inMoney) + finish(),
      passed,
      "READ::cart.py\n",
      failed,
      modify("cart.py", inCart) + finish(),
      "All is done.",
    ],
    calls: 7,
    after: both,
  },
};

test.each(Object.entries(tasks))(
  "%s",
  async (_, { calls: made, text, status, after, files: start = files, ...setup }) => {
    const ran = await play({ ...setup, files: start });
    const { code, error } = ran.outcome;
    expect({ code, why: error?.message, files: ran.files }).toEqual({
      code: 0,
      why: undefined,
      files: { ...start, ...after },
    });
    expect(ran.outcome).toMatchObject({
      calls: { made },
      text: text ?? ran.outcome.text,
      status: status ?? ran.outcome.status,
    });
  },
);
