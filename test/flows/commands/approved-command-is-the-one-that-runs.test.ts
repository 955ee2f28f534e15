/** A yes to a command holds for the script it runs as it was then: another one is asked about again, or refused. */
import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesOfCommand } from "../../../src/core/command/command-files.ts";
import { becameOf } from "../../../src/core/session/became.ts";
import { singleShot } from "../../../src/flows/single-shot.ts";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { calling } from "../loop.ts";
import { finish, modify, plan, planTo } from "../plans.ts";
import { type Files, makeFolder, playIn, type Setup } from "../scripted.ts";

const met = "was changed by someone else since a command that uses it was planned, so this was not run";
const say = (word: string) => `echo ${word} > said.txt\n`;

function playHere(files: Files, setup: (put: (name: string, text: string) => void) => Setup) {
  const place = makeFolder(files);
  const put = (name: string, text: string) => writeFileSync(join(place.root, name), text);
  return playIn(place, setup(put));
}

const commands: readonly (readonly [command: string, script: string])[] = [
  ["./x.sh", "x.sh"],
  ["FAST=1 sh -e 'x.sh' && echo done", "x.sh"],
  ["npm test", "package.json"],
  ["make all", "Makefile"],
  ["cat notes.md", "notes.md"],
];

for (const [command, script] of commands) {
  test(`a plan that runs ${command} stops when somebody else has changed ${script}`, async () => {
    const ran = await playHere({ [script]: say("one") }, (put) => ({
      lines: [
        planTo(`RUN ${command}`),
        { text: `RUN::${command}\n${finish()}`, before: () => put(script, say("two")) },
      ],
      options: { allowRun: true },
    }));
    expect([ran.outcome.code, ran.outcome.error?.code]).toEqual([11, "conflict"]);
    expect(ran.outcome.error?.message).toBe(`${script} ${met}`);
    expect(Object.keys(ran.files)).toEqual([script]);
  });
}

const hidden: readonly (readonly [command: string, script: string])[] = [
  ["cd tools && sh x.sh", "tools/x.sh"],
  ["cd tools && cd in && ./x.sh", "tools/in/x.sh"],
  ["make -C tools", "tools/Makefile"],
  ["npm --prefix=tools test", "tools/package.json"],
  ['sh "my script.sh"', "my script.sh"],
  ["sh link.sh", "tools/x.sh"],
  ["python3 -m tools.deep.x", "tools/deep/x.py"],
  ["python3 -m tools", "tools/__main__.py"],
  ["node ./x", "x.js"],
  ["cd tools && node .", "tools/index.js"],
  ["sh tools/../x.sh", "x.sh"],
  ["cd tools && sh ../x.sh", "x.sh"],
];

for (const [command, script] of hidden) {
  test(`${command} is bound to ${script}`, async () => {
    const place = makeFolder({ [script]: say("one") });
    symlinkSync("tools/next", join(place.root, "link.sh"));
    mkdirSync(join(place.root, "tools"), { recursive: true });
    symlinkSync(join(place.root, "tools/x.sh"), join(place.root, "tools/next"));
    const ran = await playIn(place, {
      lines: [
        planTo(`RUN ${command}`),
        { text: `RUN::${command}\n${finish()}`, before: () => writeFileSync(join(place.root, script), say("two")) },
      ],
      options: { allowRun: true },
    });
    expect([ran.outcome.code, ran.outcome.error?.message.split(" by ")[0]]).toEqual([11, `${script} was changed`]);
  });
}

test("so does one whose check runs it, also while the question was open", async () => {
  const ran = await playHere({ "x.sh": say("one"), "a.txt": "one\n" }, (put) => ({
    lines: [plan({ steps: ["MODIFY a.txt"], checks: ["sh x.sh"] }), modify("a.txt", ["one\n", "two\n"]) + finish()],
    options: { interactive: true },
    answers: "yes",
    onQuestion: () => put("x.sh", say("two")),
  }));
  expect([ran.outcome.code, ran.files["said.txt"], ran.files["a.txt"]]).toEqual([11, undefined, "one\n"]);
});

test.each([
  ["edits it, too", modify("x.sh", ["# last\n", "# end\n"]), "# end\n"],
  ["only runs it", "", "# last\n"],
])("a script that somebody changed runs as it was at the question, where the work %s", async (_, script, end) => {
  const ran = await playHere({ "x.sh": `# 1\n# 2\n# 3\n${say("one")}# last\n` }, (put) => ({
    lines: [
      { text: `${script}RUN::sh x.sh\n${finish()}`, before: () => put("x.sh", `# 1\n# 2\n# 3\n${say("two")}# last\n`) },
      finish(),
    ],
    options: { atOnce: "auto", interactive: true },
    answers: "yes",
  }));
  expect([ran.outcome.error, ran.files["said.txt"]]).toEqual([null, "two\n"]);
  expect(ran.files["x.sh"]).toEndWith(`${say("two")}${end}`);
});

test.each([
  ["yes", "two\n", "kept: 2 files (+2 −1), unverified: no check has proved this; changed: a.txt, said.txt; "],
  ["no", undefined, "kept in part: 1 file (+1 −1)"],
] as const)("a person is asked anew about a command whose script changed meanwhile: %s", async (answer, said, end) => {
  const ran = await playHere({ "x.sh": say("one"), "a.txt": "one\n" }, (put) => ({
    lines: [`${modify("a.txt", ["one\n", "two\n"])}RUN::sh x.sh\n${finish()}`, finish()],
    options: { atOnce: "auto", interactive: true },
    answers: ["yes", answer, "yes"],
    onQuestion: ({ kind }) => void (kind === "plan" && put("x.sh", say("two"))),
  }));
  expect(ran.questions[1]?.text).toStartWith("x.sh was changed since you were asked\nRun this command?\n");
  expect([ran.files["a.txt"], ran.files["said.txt"]]).toEqual(["two\n", said]);
  expect(becameOf(ran.outcome)).toStartWith(end);
});

test("what the plan itself changes in a script, it runs", async () => {
  const ran = await playHere({ "x.sh": say("one") }, () => ({
    lines: [
      planTo("MODIFY x.sh", "RUN sh x.sh"),
      `${modify("x.sh", [say("one"), say("two")])}RUN::sh x.sh\n${finish()}`,
    ],
    options: { allowRun: true },
  }));
  expect([ran.outcome.error, ran.files["said.txt"]]).toEqual([null, "two\n"]);
});

test("a saved plan is bound to the scripts it runs, though they were not shown", async () => {
  let bases: readonly string[] = [];
  await playHere({ "x.sh": `${say("one")}${"#\n".repeat(60_000)}` }, () => ({
    lines: [planTo("RUN sh x.sh")],
    options: { planOnly: true },
    flow: async (run) => {
      await singleShot(run);
      bases = [...run.reading.bases];
    },
  }));
  expect(bases).toEqual(["x.sh"]);
});

test("without a plan the person is asked again, and told why", async () => {
  const ran = await playHere({ "x.sh": say("one") }, (put) => ({
    flow: toolLoop,
    lines: [calling("bash", { command: "sh x.sh" }), "Not run."],
    options: { interactive: true, mode: "tool-loop" },
    answers: ["yes", "no"],
    onQuestion: ({ text }) => {
      if (!text.startsWith("x.sh was changed")) put("x.sh", say("two"));
    },
  }));
  const [first, second] = ran.questions.map(({ text }) => text);
  expect(second).toBe(`x.sh was changed since you were asked\n${first}`);
  expect(ran.files).toEqual({ "x.sh": say("two") });
});

test("the words of a command, and what its tools read, may be files", () => {
  expect(filesOfCommand(`cd a && "b c.sh" | npm run x=y.js; make`)).toEqual(
    expect.arrayContaining(["c.sh", "y.js", "package.json", "Makefile"]),
  );
});
