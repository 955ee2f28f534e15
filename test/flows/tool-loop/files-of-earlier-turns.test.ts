/** A file that an earlier turn showed or changed, and in which somebody else writes while a later turn works. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { calling, resultsOf } from "../loop.ts";
import { openTurns } from "../turns.ts";

const setup = {
  flow: toolLoop,
  answers: "yes",
  options: { mode: "tool-loop", interactive: true, allowRun: true },
} as const;
const edit = (from: string, to: string) => calling("edit", { path: "a.txt", old_str: from, new_str: to });

test.each([
  ["shown by one turn, and changed by hand before the next", [], "1\n2\n3\n4\n5!\n"],
  ["changed by an edit of a turn with a command", [edit("5", "5!"), calling("bash", { command: "true" })], null],
])("%s: what somebody writes in it while a later turn works is told with the edit", async (_, first, between) => {
  const turns = openTurns({ "a.txt": "1\n2\n3\n4\n5\n", "b.txt": "b\n" });
  const put = (text: string) => writeFileSync(join(turns.root, "a.txt"), text);
  await turns.say("look", { ...setup, lines: [...first, "Seen."] });
  if (between !== null) put(between);
  await turns.say("wait", { ...setup, lines: ["Well."] });
  turns.resume();
  const ran = await turns.say("edit", {
    ...setup,
    lines: [
      calling("bash", { command: "echo ready" }),
      { ...edit("1\n", "one\n"), before: () => put("1\n2\n3\n4\n5!\nby hand\n") },
      "Done.",
    ],
  });
  const told = "a.txt: somebody else changed it meanwhile, too; what of it is not your edit is theirs, and stays.";
  expect(resultsOf(ran, 3).at(-1)?.text).toEndWith(told);
  expect([ran.files["a.txt"], ran.outcome.merged]).toEqual(["one\n2\n3\n4\n5!\nby hand\n", ["a.txt"]]);
});
