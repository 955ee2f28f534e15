/** No way round the change guard: each one is refused, the files stay as they were, and the model is told why. */
import { describe, expect, test } from "bun:test";
import type { RunOptions } from "../../../src/flows/run.ts";
import { app, lines, old, other } from "../long-files.ts";
import { finish, modify, type PlanParts, plan, write } from "../plans.ts";
import { type Files, play } from "../scripted.ts";

interface Way extends Pick<PlanParts, "steps" | "purpose" | "complexity"> {
  readonly files?: Files;
  readonly replies: readonly string[];
  readonly options?: Partial<RunOptions>;
  /** What the model is told. */
  readonly told: RegExp;
}

const overLimit =
  /FAILED: .*\n(?:.*; )?\S+: (?:.*\. \S+: )?\d+ lines changed in this run \(\d+ added, \d+ deleted\), \d+ % of the file; that is over the limit of 500 lines and 50 %\. Change less of it, or move code/;

async function tryWay({ files = { "a.txt": old }, replies, told, ...rest }: Way) {
  const spare = Array.from({ length: 4 }, () => finish());
  const options = { allowDelete: true, ...rest.options };
  const lines = [plan({ ...rest, read: Object.keys(files) }), ...replies, ...spare];
  const ran = await play({ files, lines, options });
  const asked = ran.requests.map((_, n) => ran.asked(n + 1)).join("\n");
  expect(asked).toMatch(told);
  expect(ran.outcome).toMatchObject({ code: 8, status: "failed", error: { code: "guard_refused" }, changes: [] });
  expect(ran.outcome.error?.hint).toContain("guard.lines");
  expect(ran.outcome.error?.message).toMatch(/^[A-Z]+ (?!(\S+): \1: )/);
  expect(ran.files).toEqual(files);
  const failed = ran.eventsOf("call.finished").filter(({ ok }) => !ok);
  expect(failed.length).toBeGreaterThan(0);
}

describe("way round", () => {
  const ways: Readonly<Record<string, Way>> = {
    "WRITE over the file": { steps: ["WRITE a.txt"], replies: [write("a.txt", other)], told: overLimit },
    "RM, then WRITE": {
      steps: ["RM a.txt", "WRITE a.txt"],
      replies: [`RM::a.txt\n${write("a.txt", other)}`],
      told: overLimit,
    },
    "RM in one reply, WRITE in the next": {
      steps: ["RM a.txt", "WRITE a.txt"],
      complexity: "complex",
      replies: ["RM::a.txt\n", write("a.txt", other)],
      told: overLimit,
    },
    "MV of a new file over it": {
      steps: ["WRITE b.txt", "RM a.txt", "MV b.txt -> a.txt"],
      replies: [`${write("b.txt", other)}RM::a.txt\nMV::b.txt::a.txt\n`],
      told: overLimit,
    },
    "MV away and back, changed on the way": {
      steps: ["MV a.txt -> b.txt", "WRITE b.txt", "MV b.txt -> a.txt"],
      purpose: "move it",
      complexity: "complex",
      replies: [`MV::a.txt::b.txt\nREAD::b.txt\n`, `${write("b.txt", other)}MV::b.txt::a.txt\n`],
      told: overLimit,
    },
    "MV away, WRITE a new one, RM the old": {
      steps: ["MV a.txt -> b.txt", "WRITE a.txt", "RM b.txt"],
      purpose: "move it",
      complexity: "complex",
      replies: ["MV::a.txt::b.txt\n", `${write("a.txt", lines(300, "new"))}RM::b.txt\n`],
      told: overLimit,
    },
    "a change of case": {
      steps: ["MV a.txt -> A.txt", "WRITE A.txt"],
      purpose: "move it",
      complexity: "complex",
      replies: ["MV::a.txt::A.txt\nREAD::A.txt\n", write("A.txt", other)],
      told: overLimit,
    },
    "small edits over several replies": {
      steps: ["MODIFY a.txt", "WRITE b.txt"],
      complexity: "complex",
      replies: [0, 1, 2].map((n) => modify("a.txt", [lines(100, "line", n * 100), lines(100, "other", n * 100)])),
      told: overLimit,
    },
    "code moved to a new file, which a later reply overwrites": {
      files: { "app.js": app },
      steps: ["WRITE app.js", "WRITE a.js"],
      purpose: "split it",
      complexity: "complex",
      replies: [
        `${write("app.js", 'import "./a.js";\n')}${write("a.js", app)}READ::a.js\n`,
        write("a.js", "gone();\n"),
      ],
      told: /a\.js: this takes away what an earlier step moved here from another file\. app\.js: 60\d lines changed/,
    },
    "code moved to a new file, which the same plan deletes": {
      files: { "app.js": app },
      steps: ["WRITE app.js", "WRITE a.js", "RM a.js"],
      purpose: "split it",
      complexity: "complex",
      replies: [`${write("app.js", 'import "./a.js";\n')}${write("a.js", app)}`, "RM::a.js\n"],
      told: /FAILED: RM a\.js\na\.js: this takes away what an earlier step moved here/,
    },
    "a command that overwrites the file": {
      steps: ["RUN seq 1 700 > a.txt"],
      replies: ["RUN::seq 1 700 > a.txt\n"],
      options: { allowRun: true },
      told: /RUN seq 1 700 > a\.txt" ok="false">\nexit 0 after \d+ ms; (?:what the command changed was taken back|nothing that the command changed was kept)\. a\.txt: 1300 lines changed/,
    },
    "a command that deletes the file": {
      steps: ["RUN rm a.txt"],
      replies: ["RUN::rm a.txt\n"],
      options: { allowRun: true },
      told: /(?:taken back|was kept)\. a\.txt: 600 of 600 lines would be deleted and appear nowhere else, and the plan does not say so/,
    },
  };
  test.each(Object.entries(ways))("refused: %s", (_, way) => tryWay(way));
});
