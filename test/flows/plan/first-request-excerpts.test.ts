/** What the first request shows of large files, of named ones, and of what a traceback points at. */
import { describe, expect, test } from "bun:test";
import { module } from "../long-files.ts";
import { planTo } from "../plans.ts";
import { play, type Setup } from "../scripted.ts";

const lines = [planTo("MODIFY a.py")];
const first = async (setup: Omit<Setup, "lines">) =>
  (await play({ ...setup, lines, options: { planOnly: true, ...setup.options } })).asked(1);

/** Files that are shown, in order. */
const pathsIn = (text: string) => [...text.matchAll(/<file path="([^"]*)"/g)].map(([, path]) => path ?? "");

const code = { "cart.py": "class Cart: pass\n", "tax.py": "rate = 1\n" };
const fillers = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`other/part${n}.py`, module(20)]));

describe("the first request", () => {
  test("shows of a large file the parts that the words point at, with their lines, and an outline of the rest", async () => {
    const large = module(3000, (n) => (n === 1700 ? "round the invoice total" : "work"));
    const text = await first({ files: { ...fillers, "shop/invoice.py": large }, task: "round the invoice total" });
    expect(text).toContain('<file path="shop/invoice.py" shown="parts of 15000 lines">');
    expect(text).toContain("round the invoice total");
    expect(text).toMatch(/--- shop\/invoice\.py:\d+-\d+\n/);
    expect(text).toMatch(/defines \(name line\): step_0 1, step_\d+ \d+/);
    expect(text).not.toContain("step_1500(value)");
  });

  test("shows the best file whole where that fits, and small ones near it before parts of a long one", async () => {
    const named = (count: number) => module(count, (n) => (n === 9 ? "round the invoice total" : "work"));
    const shop = { "shop/invoice.py": named(150), "shop/total.py": named(40), "shop/round.py": named(900) };
    const files = { ...fillers, ...shop };
    const text = await first({ files, task: "round the total in shop/invoice.py" });
    expect(text).toContain('<file path="shop/invoice.py">');
    expect(text).toContain('<file path="shop/total.py">');
    expect(text).not.toContain('<file path="shop/round.py">');
    expect(text.length).toBeLessThan(30_000);
  });

  test("leaves room for source beside tests that nobody names, and shows no old release of a changelog", async () => {
    const tests = Array.from(
      { length: 60 },
      (_, n) => `def test_total_${n}():\n    # round the invoice total\n    assert total(${n}) == round(${n})\n\n`,
    );
    const log = Array.from({ length: 900 }, (_, n) => `## 1.${900 - n}.0\n\n- Round the invoice total ${n}\n\n`);
    const files = {
      ...fillers,
      "shop/invoice.py": module(500, (n) => (n % 50 === 0 ? "round the invoice total" : "work")),
      "tests/test_total.py": tests.join(""),
      "CHANGES.md": `# Changes\n\n${log.join("")}`,
    };
    const text = await first({ files, task: "round the invoice total, with a changelog entry" });
    const [, shown = ""] = /<file path="tests\/test_total\.py"[^>]*>\n([\s\S]*?)<\/file>/.exec(text) ?? [];
    expect(shown).toContain("def test_total_");
    expect(shown.length).toBeLessThan(6_000);
    expect(text).not.toContain("## 1.898.0");
    expect(text.length).toBeLessThan(30_000);
  });

  test("shows of a test that a check names what matches, and does not fill its room with the rest", async () => {
    const about = (n: number) =>
      `def test_part_${n}():\n${"    # round the invoice total\n".repeat(n < 4 ? 8 : 0)}    assert part(${n})\n\n`;
    const files = {
      ...fillers,
      "shop/invoice.py": module(100, (n) => (n % 10 === 0 ? "round the invoice total" : "work")),
      "tests/test_all.py": `# of a part\n${Array.from({ length: 600 }, (_, n) => about(n)).join("")}`,
    };
    const options = { checks: ["true tests/test_all.py"] };
    const text = await first({ files, task: "round the invoice total", options });
    const [, shown = ""] = /<file path="tests\/test_all\.py"[^>]*>\n([\s\S]*?)<\/file>/.exec(text) ?? [];
    expect(shown).toContain("def test_part_1():");
    expect(shown).not.toContain("def test_part_150():");
  });

  test("shows what the code of a class is about before what its docstring tells", async () => {
    const told = "    The tax of a basket is rounded with the tax rate of a basket.\n".repeat(120);
    const code = Array.from({ length: 300 }, (_, n) => `    def part_${n}(self):\n        return ${n}\n\n`);
    const rounds =
      "    def tax(self, basket):\n        rate = self.rate(basket)\n        return rate * basket.total\n\n";
    const text = `class Basket:\n    """A basket.\n\n${told}    """\n\n${code.join("")}${rounds}${code.join("")}`;
    const shown = await first({ files: { ...fillers, "shop/basket.py": text }, task: "round the tax of a basket" });
    expect(shown).toContain("return rate * basket.total");
  });

  test("has a named file of three megabytes, with its outline and what the task speaks of, and no other so large", async () => {
    const huge = module(40_000, (n) => (n === 30_000 ? "round the invoice total" : "work"));
    expect(huge.length).toBeGreaterThan(3_000_000);
    const files = { ...fillers, "lib/engine.py": huge, "lib/other.py": huge };
    const text = await first({ files, task: "round the invoice total in lib/engine.py" });
    expect(text).toContain('<file path="lib/engine.py" shown="parts of 200000 lines">');
    expect(text).toContain("round the invoice total\n    value = value + 30000");
    expect(text).not.toContain('<file path="lib/other.py"');
    expect(text.length).toBeLessThan(40_000);
  });

  test("never shows generated twins, minified files and licences, but names what it may need", async () => {
    const files = {
      ...fillers,
      LICENSE: "the invoice total is rounded without warranty\n".repeat(100),
      "src/invoice.ts": "export function roundInvoice() {}\n".repeat(200),
      "src/invoice.js": "exports.roundInvoice = () => {};\n".repeat(200),
      "src/invoice.d.ts": "export declare function roundInvoice(): void;\n".repeat(200),
      "src/invoice.js.map": '{"mappings":"invoice"}\n'.repeat(200),
      "dist/app.min.js": `var invoice=${"1+".repeat(2_600_000)}1;`,
    };
    const text = await first({ files, task: "round the invoice total" });
    const shown = pathsIn(text);
    expect(shown[0]).toBe("src/invoice.ts");
    expect(shown.filter((path) => /LICENSE|\.js|\.d\.ts|\.map/.test(path))).toEqual([]);
    const [, likely = ""] = /<likely[^>]*>\n([\s\S]*?)\n<\/likely>/.exec(text) ?? [];
    expect([likely.split("\n")[0], likely.includes("LICENSE")]).toEqual(["src/invoice.ts", false]);
  });

  test("begins a small project with the file that the task names, also one that is not shown otherwise", async () => {
    const { "tax.py": rate = "", ...cart } = code;
    const files = { LICENSE: "MIT\n", "README.md": "# Shop\n", ...cart, "src/tax.py": rate };
    const paths = async (task: string) => pathsIn(await first({ files, task }));
    expect(await paths("say hello in src/tax.py")).toEqual(["src/tax.py", "cart.py", "README.md"]);
    expect(await paths("say hello in README.md")).toEqual(["README.md", "cart.py", "src/tax.py"]);
    expect(await paths("renew the LICENSE")).toEqual(["LICENSE", "cart.py", "src/tax.py", "README.md"]);
    expect(await paths("say hello in the syntax.py")).toEqual(["cart.py", "src/tax.py", "README.md"]);
  });

  test("shows a project of fifty small files whole, and one of as many larger files in parts", async () => {
    const files = (many: number) =>
      Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`m${n}.py`, `part = ${n}\n${"x = 1\n".repeat(many)}`]));
    const small = await first({ files: files(20), task: "say hello" });
    expect(small.match(/<file path=/g)).toHaveLength(50);
    const large = await first({ files: files(200), task: "raise part 7" });
    expect(large.match(/<file path=/g)?.length).toBeLessThan(15);
  });

  test("shows of a small project no file that is made from one beside it, unless it is named", async () => {
    const files = {
      "cart.ts": "export class Cart {}\n",
      "cart.js": "exports.Cart = class {};\n",
      "cart.js.map": '{"mappings":"cart"}\n',
      "tax.js": "exports.rate = 1;\n",
      "tax.d.ts": "export declare const rate: number;\n",
    };
    expect(pathsIn(await first({ files, task: "say hello" }))).toEqual(["cart.ts", "tax.js"]);
    expect(pathsIn(await first({ files, task: "empty the cart" }))).toEqual(["cart.ts", "tax.js"]);
    expect(pathsIn(await first({ files, task: "say hello in cart.js" }))).toEqual(["cart.js", "cart.ts", "tax.js"]);
  });

  test("lists no likely files where all that hold anything are shown whole", async () => {
    const files = { "shop/__init__.py": "", "shop/cart.py": "total = 0\n", "shop/money.py": "cents = 1\n" };
    const text = await first({ files, task: "make the shop count cents in __init__" });
    expect([text.includes("total = 0"), text.includes("<likely")]).toEqual([true, false]);
  });

  test("has a file that is named in capitals, without an ending, also a licence that has no word of the task", async () => {
    const files = { ...fillers, LICENSE: "Permission is hereby granted\n", COPYING: "Permission is hereby granted\n" };
    const asked = await first({ files, task: "which conditions does LICENSE have" });
    expect([asked.includes('<file path="LICENSE">'), asked.includes('<file path="COPYING"')]).toEqual([true, false]);
  });

  test("of a project without a single readable file is made all the same", async () => {
    const files = { "a.bin": "\0\0\0", "b.min.js": "x".repeat(100_000), "empty.py": "" };
    const text = await first({ files, task: "explain a.bin" });
    expect(text).toContain("Request: explain a.bin");
    expect(text).toContain("a.bin");
  });
});
