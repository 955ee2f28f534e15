/** No way round the change guard: each one is refused, the files stay as they were, and the model is told why (S63, P05). */
import { describe, expect, test } from "bun:test";
import type { RunOptions } from "../../src/flows/run.ts";
import { finish, modify, plan, write } from "./plans.ts";
import { type Files, play } from "./scripted.ts";

const lines = (count: number, name = "line", from = 0) =>
  Array.from({ length: count }, (_, i) => `${name} ${from + i}\n`).join("");
const functions = (from: number, count: number, prefix = "") =>
  Array.from({ length: count }, (_, i) => {
    const n = from + i;
    return `${prefix}function part${n}(input) {\n  const value${n} = input + ${n};\n  // step ${n}\n  return value${n};\n}\n\n`;
  }).join("");

const old = lines(600);
const other = lines(600, "other");
const app = functions(0, 100);

interface Way {
  readonly files?: Files;
  readonly steps: readonly string[];
  readonly purpose?: string;
  readonly complexity?: "simple" | "moderate" | "complex";
  readonly replies: readonly string[];
  readonly options?: Partial<RunOptions>;
  /** What the model is told. */
  readonly told: RegExp;
}

const overLimit =
  /FAILED: .*\n(?:.*; )?\S+: (?:.*\. \S+: )?\d+ lines changed in this run \(\d+ added, \d+ deleted\), \d+ % of the file; that is over the limit of 500 lines and 50 %\. Change less of it, or move code/;

async function tryWay({
  files = { "a.txt": old },
  steps,
  purpose = "",
  complexity = "simple",
  replies,
  told,
  ...rest
}: Way) {
  const spare = Array.from({ length: 4 }, () => finish());
  const options = { allowDelete: true, ...rest.options };
  const lines = [plan({ steps, complexity, purpose, read: Object.keys(files) }), ...replies, ...spare];
  const ran = await play({ files, lines, options });
  const asked = ran.requests.map((_, n) => ran.asked(n + 1)).join("\n");
  expect(asked).toMatch(told);
  expect(ran.outcome).toMatchObject({ code: 8, status: "failed", error: { code: "guard_refused" }, changes: [] });
  expect(ran.files).toEqual(files);
  const failed = ran.eventsOf("call.finished").filter(({ ok }) => !ok);
  expect(failed.length).toBeGreaterThan(0);
  return ran;
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
    "RM, TOUCH, then WRITE": {
      steps: ["RM a.txt", "TOUCH a.txt", "WRITE a.txt"],
      complexity: "complex",
      replies: ["RM::a.txt\nTOUCH::a.txt\n", write("a.txt", other)],
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
    "MV away twice, then WRITE": {
      steps: ["MV a.txt -> b.txt", "MV b.txt -> c.txt", "WRITE c.txt"],
      purpose: "move it",
      complexity: "complex",
      replies: ["MV::a.txt::b.txt\nMV::b.txt::c.txt\nREAD::c.txt\n", write("c.txt", other)],
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
    "many small edits in one reply": {
      steps: ["MODIFY a.txt"],
      replies: [
        Array.from({ length: 12 }, (_, n) =>
          modify("a.txt", [lines(25, "line", n * 25), lines(25, "other", n * 25)]),
        ).join(""),
      ],
      told: overLimit,
    },
    "small edits over several replies": {
      steps: ["MODIFY a.txt", "WRITE b.txt"],
      complexity: "complex",
      replies: [0, 1, 2].map((n) => modify("a.txt", [lines(100, "line", n * 100), lines(100, "other", n * 100)])),
      told: overLimit,
    },
    "one huge line": {
      steps: ["MODIFY a.txt"],
      replies: [modify("a.txt", ["line 7\n", `${"x".repeat(300_000)}\n`])],
      told: overLimit,
    },
    "other line ends": {
      files: { "a.txt": old.replaceAll("\n", "\r\n") },
      steps: ["RM a.txt", "WRITE a.txt"],
      replies: [`RM::a.txt\n${write("a.txt", old)}`],
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
      told: /FAILED: RUN seq 1 700 > a\.txt\nexit 0 after \d+ ms; what the command changed was taken back\. a\.txt: 1300 lines changed/,
    },
    "a command that deletes the file": {
      steps: ["RUN rm a.txt"],
      replies: ["RUN::rm a.txt\n"],
      options: { allowRun: true },
      told: /taken back\. a\.txt: 600 of 600 lines would be deleted and appear nowhere else, and the plan does not say so/,
    },
    "half a file cut off": {
      steps: ["WRITE a.txt"],
      replies: [write("a.txt", lines(290))],
      told: /310 of 600 lines would be deleted and appear nowhere else.*Keep what is not part of the task/,
    },
    "code left out": {
      files: { "app.js": functions(0, 9) },
      steps: ["WRITE app.js"],
      replies: [write("app.js", `${functions(0, 6)}// ... rest of the code unchanged ...\n`)],
      told: /a placeholder stands where code should be \(line 37: \/\/ \.\.\. rest of the code unchanged \.\.\.\)/,
    },
    "definitions lost": {
      files: { "app.js": functions(0, 9) },
      steps: ["WRITE app.js"],
      replies: [write("app.js", functions(0, 5))],
      told: /these definitions would be lost, and the plan does not name them: part5, part6, part7, part8/,
    },
  };
  for (const [name, way] of Object.entries(ways)) {
    test(`refused: ${name}`, async () => {
      await tryWay(way);
    });
  }
});

describe("a refused call is refused whole", () => {
  test("a moved file whose change is refused stays where it was, whatever the plan says of moving (S63)", async () => {
    const { files } = await play({
      files: { "a.txt": old },
      lines: [
        plan({
          steps: ["MV a.txt -> new/b.txt", "MODIFY new/b.txt", "WRITE c.txt"],
          purpose: "move a.txt",
          read: ["a.txt"],
        }),
        `MV::a.txt::new/b.txt\n${modify("new/b.txt", [old, other])}${write("c.txt", "c\n")}${finish()}`,
        finish(),
      ],
      options: { allowDelete: true, keep: true },
    });
    expect(files).toEqual({ "a.txt": old, "c.txt": "c\n" });
  });

  test("folders that only a refused call wanted are not made", async () => {
    const text = "// ... rest of the code unchanged ...\n";
    const { files } = await play({
      lines: [
        plan({ steps: ["WRITE a/b/c.js", "WRITE a/d.js", "MKDIR e"] }),
        `${write("a/b/c.js", text)}${write("a/d.js", "d\n")}MKDIR::e\n${finish()}`,
        finish(),
      ],
      options: { keep: true },
    });
    expect(files).toEqual({ "a/d.js": "d\n", "e/": "" });
  });
});

describe("let through", () => {
  test("a 600-line file split into modules, in one reply or over several (D47)", async () => {
    const modules = { "a.js": functions(0, 50, "export "), "b.js": functions(50, 50, "export ") };
    const after = { "app.js": 'import "./a.js";\nimport "./b.js";\n', ...modules };
    const parts = [write("a.js", modules["a.js"]), write("b.js", modules["b.js"]), write("app.js", after["app.js"])];
    const first = plan({
      steps: ["WRITE app.js", "WRITE a.js", "WRITE b.js"],
      complexity: "complex",
      read: ["app.js"],
    });
    for (const replies of [[parts.join("") + finish()], [...parts.slice(0, 2), `${parts[2]}${finish()}`]]) {
      const { outcome, files } = await play({ files: { "app.js": app }, lines: [first, ...replies] });
      expect(outcome).toMatchObject({ code: 0, status: "unverified" });
      expect(files).toEqual(after);
    }
  });

  test("a renamed file with a small change, counted against what it was", async () => {
    const { outcome, files } = await play({
      files: { "a.js": app },
      lines: [
        plan({ steps: ["MV a.js -> b.js", "MODIFY b.js"], read: ["a.js"] }),
        `MV::a.js::b.js\n${modify("b.js", ["  // step 7\n", "  // the seventh step\n"])}${finish()}`,
      ],
    });
    expect(files).toEqual({ "b.js": app.replace("// step 7\n", "// the seventh step\n") });
    expect(outcome.changes.map(({ path, op, added, deleted }) => ({ path, op, added, deleted }))).toEqual([
      { path: "a.js", op: "delete", added: 0, deleted: 0 },
      { path: "b.js", op: "move", added: 1, deleted: 1 },
    ]);
  });

  test("what a command changes within the limits", async () => {
    const { outcome, files } = await play({
      files: { "a.txt": old },
      lines: [
        plan({ steps: ["RUN sed -i 's/line 7$/seven/' a.txt"] }),
        `RUN::sed -i 's/line 7$/seven/' a.txt\n${finish()}`,
      ],
      options: { allowRun: true },
    });
    expect(outcome.code).toBe(0);
    expect(files).toEqual({ "a.txt": old.replace("line 7\n", "seven\n") });
  });
});

describe("what a command did against the guard", () => {
  const overwrite = "seq 1 700 > a.txt";
  const lines = [plan({ steps: [`RUN ${overwrite}`] }), `RUN::${overwrite}\n${finish()}`, finish()];

  test("is taken back at once, also when the run keeps what it did", async () => {
    const ran = await play({ files: { "a.txt": old }, lines, options: { allowRun: true, keep: true } });
    expect(ran.files).toEqual({ "a.txt": old });
    expect(ran.outcome.changes).toEqual([]);
  });

  test("is taken back when a check of the plan did it, and said", async () => {
    const ran = await play({
      files: { "a.txt": old },
      lines: [plan({ steps: ["WRITE b.txt"], checks: [overwrite] }), write("b.txt", "1\n") + finish()],
      options: { allowRun: true },
    });
    expect(ran.files).toEqual({ "a.txt": old, "b.txt": "1\n" });
    const [notice] = ran.eventsOf("notice").filter(({ code }) => code === "guard_refused");
    expect(notice?.text).toStartWith(
      `${overwrite}: what the command changed was taken back. a.txt: 1300 lines changed`,
    );
  });
});

test("a new secret is a question, and headless a refusal with its own code (S54)", async () => {
  const key = `AIza${"Sy4kQ8Zp1LmW7xT".repeat(3).slice(0, 35)}`;
  const lines = [plan({ steps: ["WRITE a.js"] }), `${write("a.js", `const key = "${key}";\n`)}${finish()}`];
  const refused = await play({ lines: [...lines, finish()] });
  expect(refused.outcome).toMatchObject({ code: 12, error: { code: "secret_refused" } });
  expect(refused.files).toEqual({});
  expect(refused.asked(3)).toMatch(
    /a\.js: the new content seems to hold a secret \(line 1: Google key AIza…\[masked\]\)/,
  );
  const allowed = await play({ lines, answers: "yes" });
  expect(allowed.questions.at(-1)?.text).toStartWith("a.js: the new content seems to hold a secret");
  expect(Object.keys(allowed.files)).toEqual(["a.js"]);
});
