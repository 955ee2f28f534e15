/** An `a` to a batch answers later ones below its folder, `-y` what was promised; and no other question. */
import { expect, test } from "bun:test";
import { decideByAsking, decideByPolicy } from "../../src/cli/compose/view.ts";
import type { RelPath } from "../../src/core/path.ts";
import type { Question } from "../../src/core/question.ts";

const batch = (folder: string | null): Question => ({ kind: "batch", text: "", folder: folder as RelPath | null });

function open(answer: "yes" | "no" | "always") {
  let asked = 0;
  const ask = async () => {
    asked += 1;
    return answer;
  };
  const none = async () => null;
  const allowing = decideByAsking(async () => ({ ask, readLine: none, readMessage: none, askHidden: none }));
  const { decide, forget } = allowing;
  return { decide, forget, allowing, asked: () => asked };
}

test("below the folder nothing is asked again, beside it and outside a batch it is", async () => {
  const { decide, asked } = open("always");
  for (const folder of ["src", "src", "src/ui"]) expect((await decide(batch(folder))).accept).toBe(true);
  expect(asked()).toBe(1);
  await decide(batch("src-other"));
  await decide(batch(null));
  await decide({ kind: "command", text: "rm" });
  expect(asked()).toBe(4);
});

test("allowed at the root, everything is but what asks each time", async () => {
  const { decide, asked } = open("always");
  await decide(batch(""));
  await decide(batch("deep/down"));
  expect(asked()).toBe(1);
  await decide(batch(null));
  expect(asked()).toBe(2);
});

test("what was allowed is asked again once it is forgotten", async () => {
  const { decide, forget, asked } = open("always");
  await decide(batch("src"));
  await decide(batch("src"));
  expect(asked()).toBe(1);
  forget();
  await decide(batch("src"));
  expect(asked()).toBe(2);
});

test("exactly the allowed command, or one that matches a pattern, is not asked about again until it is dropped", async () => {
  const { decide, allowing, asked } = open("always");
  const run = (command?: string): Question => ({
    kind: "command",
    text: "",
    ...(command !== undefined && { commands: [command], isConfined: true }),
  });
  await decide(run("pytest -q"));
  await decide(run("pytest -q"));
  expect(asked()).toBe(1);
  allowing.allowPattern("ls *");
  await decide(run("ls -l src"));
  expect(asked()).toBe(1);
  for (const other of ["pytest -q; rm x", "ls; rm x", undefined]) await decide(run(other));
  expect(asked()).toBe(4);
  expect(allowing.allowed().slice(0, 2)).toEqual([
    { kind: "command", what: "pytest -q" },
    { kind: "pattern", what: "ls *" },
  ]);
  allowing.drop(0);
  await decide(run("pytest -q"));
  expect(asked()).toBe(5);
});

test("-y says yes to a plan, its amendments and a batch, and to nothing that asks for more (R16)", async () => {
  const answers = async (yes: boolean) => {
    const kinds = ["plan", "batch", "amend", "changes", "scope", "command", "keep"] as const;
    const decisions = await Promise.all(kinds.map((kind) => decideByPolicy(yes)({ kind, text: "" })));
    return kinds.filter((_, at) => decisions[at]?.accept);
  };
  expect([await answers(true), await answers(false)]).toEqual([["plan", "batch", "amend"], []]);
});
