/** The reasons that `pai context` gives for a file. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { commands } from "../../src/cli/command-table.ts";
import { openProcess } from "./fake-context.ts";

function open(files: Readonly<Record<string, string>>) {
  const { home, run } = openProcess();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home.root, name)), { recursive: true });
    writeFileSync(join(home.root, name), text);
  }
  const pai = async (name: string, flags = {}, words: readonly string[] = []) => {
    const command = commands.find((each) => each.name === name);
    if (command === undefined) throw new Error(`there is no pai ${name}`);
    return run(command, { words, flags });
  };
  return Object.assign(pai, { root: home.root });
}

const files = {
  "shop/cart.py": `${"x = 1\n".repeat(900)}def empty_cart(): pass\n`,
  "shop/tax.py": "y = 2\n".repeat(900),
  "README.md": `# Cart\n${"words\n".repeat(3000)}`,
};

test("pai context says which files are likely, and why", async () => {
  const pai = open(files);
  const { out } = await pai("context", {}, ["empty the cart; see shop/tax.py"]);
  expect(
    out
      .split("\n")
      .slice(0, 4)
      .map((line) => line.trimEnd()),
  ).toEqual([
    "The likeliest files, and why (figures are relative to the highest one):",
    "   1  shop/tax.py   named in the request, words 1.00",
    expect.stringMatching(/^ {3}2 {2}shop\/cart\.py {2}words 0\.\d\d$/),
    expect.stringMatching(/^ {3}3 {2}README\.md {5}words 0\.\d\d, a document$/),
  ]);
  const named = (await pai("context", {}, ["tax: let `empty_cart` take more"])).out.split("\n");
  expect(named.slice(1, 3).map((line) => line.replace(/words.*/, "words"))).toEqual([
    "   1  shop/cart.py  defines empty_cart at line 901, words",
    "   2  shop/tax.py   is called tax, words",
  ]);
  const { data } = JSON.parse((await pai("context", { json: true }, ["empty the cart; see shop/tax.py"])).out);
  expect(data.ranking[0]).toMatchObject({
    path: "shop/tax.py",
    kind: "code",
    named: "request",
    lines: [],
    symbols: [],
    history: 0,
  });
});
