/** What a search finds in the files that the task is about comes first. */
import { expect, test } from "bun:test";
import { finish, plan, write } from "../plans.ts";
import { play } from "../scripted.ts";

/** Paths of the first hits for "total", in the task of rounding an invoice. */
async function pathsFound(others: Readonly<Record<string, string>>): Promise<(string | undefined)[]> {
  const files = { ...others, "shop/invoice.py": `def round_invoice(total):\n    return total\n` };
  const lines = [plan({ steps: ["SEARCH total", "WRITE new.txt"] }), write("new.txt", "x\n") + finish()];
  const { asked } = await play({ files, lines, task: "round the invoice" });
  const [, shown = ""] = /<result action="SEARCH total"[^>]*>\n([\s\S]*?)<\/result>/.exec(asked(2)) ?? [];
  return shown
    .split("\n")
    .slice(0, 3)
    .map((line) => line.split(":")[0]);
}

const inOrder = ["shop/invoice.py", "shop/invoice.py", "a/part0.py"];

test("hits in likely files come before those in other files, also where not all can be shown", async () => {
  const others = Array.from({ length: 400 }, (_, n) => [`a/part${n}.py`, "total = 0\n"] as const);
  expect(await pathsFound(Object.fromEntries(others))).toEqual(inOrder);
});

test("so do those of a project that is shown whole", async () => {
  expect(await pathsFound({ "a/part0.py": "total = 0\n", "a/part1.py": "total = 0\n" })).toEqual(inOrder);
});
