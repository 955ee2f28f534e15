/** The reasons that `pai context` gives for a file. */
import { expect, test } from "bun:test";
import type { Command } from "../../src/cli/command.ts";
import { commands } from "../../src/cli/command-table.ts";
import { makeHome } from "../store/temp-home.ts";
import { openProcess } from "./fake-context.ts";

const files = {
  "shop/cart.py": `${"x = 1\n".repeat(900)}def empty_cart(): pass\n`,
  "shop/tax.py": "y = 2\n".repeat(900),
  "README.md": `# Cart\n${"words\n".repeat(3000)}`,
};

test("pai context says which files are likely, and why", async () => {
  const { run } = openProcess(makeHome(), files);
  const context = commands.find(({ name }) => name === "context") as Command;
  const say = async (words: string, flags = {}) => (await run(context, { words: [words], flags })).out;
  const out = await say("empty the cart; see shop/tax.py");
  const first = out.split("\n").slice(0, 4);
  expect(first.map((line) => line.trimEnd())).toEqual([
    "The likeliest files, and why (figures are relative to the highest one):",
    "   1  shop/tax.py   named in the request, words 1.00",
    expect.stringMatching(/^ {3}2 {2}shop\/cart\.py {2}words 0\.\d\d$/),
    expect.stringMatching(/^ {3}3 {2}README\.md {5}words 0\.\d\d, a document file$/),
  ]);
  const named = (await say("tax: let `empty_cart` take more")).split("\n");
  expect(named.slice(1, 3).map((line) => line.replace(/words.*/, "words"))).toEqual([
    "   1  shop/cart.py  defines empty_cart at line 901, words",
    "   2  shop/tax.py   matches tax, words",
  ]);
  const { data } = JSON.parse(await say("empty the cart; see shop/tax.py", { json: true }));
  expect(data.ranking[0]).toMatchObject({
    path: "shop/tax.py",
    kind: "code",
    named: "request",
    lines: [],
    symbols: [],
    history: 0,
  });
});
