/** Changes that run later, when a tool of the project is started, are named under their diff. */
import { expect, test } from "bun:test";
import { describeLater } from "../../src/core/guard/runs-later.ts";
import { toolLoop } from "../../src/flows/tool-loop.ts";
import { change, file } from "../workspace/tree.ts";
import { finish, plan, write } from "./plans.ts";
import { play } from "./scripted.ts";

const json = (scripts: object) => file(JSON.stringify({ name: "x", scripts }));
const later = (path: string, before: string | null, after: string | null) =>
  describeLater(change(path, before === null ? null : file(before), after === null ? null : file(after)));

test("of a package.json the scripts that are new or other ones", () => {
  const before = json({ test: "jest", build: "tsc" });
  const after = json({ test: "jest --ci", build: "tsc", postinstall: "node x.js" });
  expect(describeLater(change("sub/package.json", before, after))).toBe(
    "npm will run test: jest --ci; postinstall: node x.js",
  );
  expect(describeLater(change("package.json", null, before))).toBe("npm will run test: jest; build: tsc");
  expect(describeLater(change("package.json", after, json({ build: "tsc" })))).toBeNull();
  expect(later("package.json", "{}", '{"version": "2"}')).toBeNull();
  const lines = json({ "a\nb": "x\n  ✓ all is well" });
  expect(describeLater(change("package.json", null, lines))).toBe("npm will run a b: x ✓ all is well");
});

test("files that are code to the tool that reads them; no others", () => {
  expect(later("Makefile", "a:\n", "b:\n")).toBe("make runs what stands in it");
  expect(later("tests/conftest.py", null, "x\n")).toBe("pytest runs what stands in it");
  expect(later("src/makefile.ts", null, "x\n")).toBeNull();
  expect(later("Makefile", "a:\n", null)).toBeNull();
});

test("a run says so behind the diff, with a plan and without", async () => {
  const text = '{"scripts": {"prepare": "sh x.sh"}}\n';
  const planned = await play({
    lines: [plan({ steps: ["WRITE package.json"] }), write("package.json", text) + finish()],
  });
  const call = { id: "1", name: "write", input: { path: "package.json", content: text } };
  const free = await play({
    flow: toolLoop,
    lines: [{ text: "", calls: [call] }, "Done."],
    options: { mode: "tool-loop", interactive: true },
    answers: "yes",
  });
  for (const { events } of [planned, free]) {
    const shown = events.flatMap((event) =>
      event.type === "changes.proposed" ? ["diff"] : event.type === "notice" ? [event.text] : [],
    );
    expect(shown).toEqual(["diff", "package.json: npm will run prepare: sh x.sh"]);
  }
  expect(free.questions.map(({ folder }) => folder)).toEqual([null]);
});

test("the question about a plan names them, deletions too", async () => {
  const ran = await play({
    files: { "conftest.py": "x\n" },
    lines: [plan({ steps: ["WRITE package.json", "WRITE Makefile", "RM conftest.py", "WRITE a.txt"] })],
    options: { interactive: true },
    answers: ["no"],
  });
  expect(ran.questions[0]?.text.split("\n").slice(2)).toEqual([
    "It changes what runs code later: package.json (npm runs its scripts), Makefile (make runs what stands in it), conftest.py (pytest runs what stands in it)",
  ]);
});
