/** Names of code in a request and in outputs, and the files that define them. */
import { describe, expect, test } from "bun:test";
import { lineDefining } from "../../../src/core/context/project.ts";
import { symbolsIn } from "../../../src/core/context/symbols.ts";
import { rankFor } from "./rank-files.ts";

const saidBy = (output: string) => symbolsIn("", output).map(({ name }) => name);

describe("an output speaks of a name as", () => {
  test.each([
    ["Python", "NameError: name 'round_price' is not defined"],
    ["an attribute", "AttributeError: 'Cart' object has no attribute 'round_price'"],
    ["Python's frames", '  File "/p/cart.py", line 3, in round_price'],
    ["Node", "ReferenceError: round_price is not defined"],
    ["Node's methods", "TypeError: cart.round_price is not a function"],
    ["Node's frames", "    at Cart.round_price (/p/src/cart.js:12:15)"],
    ["TypeScript", "error TS2339: Property 'round_price' does not exist on type 'Cart'."],
    ["Go", "./main.go:12:3: undefined: round_price"],
    ["Go's packages", "./main.go:12:3: undefined: shop.round_price"],
    ["Go's frames", "main.(*Cart).round_price(0xc000012345, 0x3)"],
    ["Go's tests", "--- FAIL: round_price (0.00s)"],
    ["Rust", "error[E0425]: cannot find function `round_price` in this scope"],
    ["Rust's frames", "   3: shop::cart::round_price"],
    ["Java's compiler", "  symbol:   method round_price(int)"],
    ["Java's frames", "\tat com.acme.shop.Cart.round_price(Cart.java:12)"],
    ["gcc", "shop/cart.c:12:5: error: ‘round_price’ undeclared"],
    ["gcc's functions", "shop/cart.c: In function ‘round_price’:"],
    ["ld", "cart.c:(.text+0x1d): undefined reference to `round_price'"],
    ["gdb", "#1  0x0000555 in round_price (x=1) at shop/cart.c:12"],
    ["Ruby", "cart.rb:12:in 'Cart#round_price': undefined method"],
    ["Ruby before", "cart.rb:12:in `block in round_price'"],
    ["PHP", "PHP Fatal error: Uncaught Error: Call to undefined function Shop\\round_price()"],
    ["PHP's frames", "#0 /p/src/Cart.php(12): Shop\\Cart->round_price()"],
    ["Kotlin", "e: file:///p/Cart.kt:12:5 Unresolved reference: round_price"],
    ["Elixir", "** (UndefinedFunctionError) function Shop.Cart.round_price/1 is undefined"],
  ])("%s does", (_, output) => {
    expect(saidBy(output)).toContain("round_price");
  });

  test("no name of a file", () => {
    expect(saidBy("error in main.go:12: undefined: x\nthread panicked at src/paths.rs:5:1")).toEqual([]);
  });

  test("nothing where there is no name, nor in what went well", () => {
    expect(saidBy("3 passed in 0.02s\nall is well, as expected")).toEqual([]);
    expect(saidBy("tests/test_cart.py::test_round_price PASSED")).toEqual([]);
  });
});

test("a request names what is qualified, in several words, quoted, or capital within a sentence", () => {
  const request =
    "Write the length in Data.Render, keep `total` and roundPrice(); tell the Cart of it. See src/util/money.";
  const names = symbolsIn(request, "").map(({ name }) => name);
  expect(names.slice(0, 5)).toEqual(["Data", "Render", "total", "roundPrice", "Cart"]);
});

test.each([
  ["a.py", "x = 1\n\n    def total(self):\n", "total", 3],
  ["a.py", "total(3)\n", "total", null],
  ["a.py", "x = 1\nclass Cart:\n", "Cart", 2],
  ["a.py", "class Cart(Base):\n", "Cart", 1],
  ["a.rs", "impl fmt::Display for Cart {\nstruct Cart;\n", "Cart", 2],
  ["a.py", "def subtotal():\n  return total\n", "total", null],
  ["a.ts", "export class Cart {\n  total(): number {\n", "total", 2],
  ["a.ts", "import { total } from './b';\ntotal(3);\n", "total", null],
  ["a.go", "func (c *Cart) Total() int {\n", "Total", 1],
  ["a.go", "type Cart struct {\n", "Cart", 1],
  ["a.rs", "pub(crate) fn total(cart: &Cart) -> u32 {\n", "total", 1],
  ["a.java", "class Cart {\n    public int total(int x) {\n", "total", 2],
  ["a.c", "#define TOTAL 3\n", "TOTAL", 1],
  ["a.c", "static int total(struct cart *c)\n{\n", "total", 1],
  ["a.rb", "class Cart\n  def self.total\n", "total", 2],
  ["a.ex", "  defp total(cart) do\n", "total", 1],
  ["a.php", "    public function total(): int {\r\n", "total", 1],
  ["a.cc", "int Cart::total() {\n", "Cart", 1],
  ["a.ex", "defmodule Enum.Empty do\n", "Enum", null],
  ["a.ex", "defmodule Enum.Empty do\n", "Empty", 1],
  ["a.rb", "  class Shop::Cart < Base\n", "Shop", null],
  ["a.go", "/*\npackage main\n*/\npackage main\n", "main", null],
  ["a.pm", "package Cart;\n", "Cart", 1],
  ["a.md", "# Cart.toml and others\n", "Cart", null],
  ["a.md", "# Cart\n", "Cart", 1],
] as const)("%s with %p defines %s in line %p", (path, text, name, line) => {
  expect(lineDefining(path, text, name)).toBe(line);
});

const rank = (files: Readonly<Record<string, string>>, request: string, output = "") =>
  rankFor(request, files, { output });

const shop = {
  "shop/money.py": "def round_price(x):\n    return x\n",
  "shop/report.py": "from .money import round_price\nround_price(1)\nround_price(2)\nround_price(3)\n",
  "shop/total.py": "round_price(1) + round_price(2)\n",
  "shop/http_headers.py": "x = 1\n",
  "tests/test_money.py": "def test_round():\n    assert round_price(1) == 1\n",
};

test("the file that defines what an output complains of comes first, with the line", async () => {
  const [first] = await rank(shop, "repair this", "E   TypeError: round_price() takes 2 positional arguments");
  expect([first?.path, first?.signal?.lines, first?.signal?.symbols]).toEqual(["shop/money.py", [1], ["round_price"]]);
});

test("a heading is no definition that an output speaks of, and the name of a file speaks of no code", async () => {
  const docs = { ...shop, "docs/money.md": "# round_price\n\nround_price rounds.\n", "Shop.toml": "round_price = 1\n" };
  const said = await rank(docs, "repair this", "TypeError: round_price() takes 2 positional arguments");
  expect(said.filter(({ signal }) => signal !== null).map(({ path }) => path)).toEqual(["shop/money.py"]);
  const code = { ...docs, "shop/read.py": "def toml(): pass\ndef Shop(): pass\n" };
  const symbolsOf = async (request: string) =>
    (await rank(code, request)).find(({ path }) => path === "shop/read.py")?.signal?.symbols;
  expect(await symbolsOf("round the prices in Shop.toml")).toBeUndefined();
  expect(await symbolsOf("let the Shop round the prices in Shop.toml")).toEqual(["Shop"]);
});

test("the file that defines what the request names comes first, and that a name is defined in many says nothing", async () => {
  expect((await rank(shop, "let `round_price` take a currency"))[0]?.path).toBe("shop/money.py");
  const many = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`m${n}.py`, "def round_price(x): pass\n"]));
  expect((await rank({ ...shop, ...many }, "let `round_price` take more")).every(({ signal }) => signal === null)).toBe(
    true,
  );
});

test("two words of a sentence find the class that is written as one, and the file that is called so", async () => {
  const routing = {
    "routing/map.py": "class Map:\n    def bind(self, name): pass\n    def test(self): pass\n",
    "routing/rules.py": "class Rule:\n    def bind(self, map): pass\n",
    "routing/converters.py": "class NumberConverter: pass\n\n\nclass FloatConverter(NumberConverter): pass\n",
    "routing/url_builder.py": "x = 1\n",
  };
  const request =
    "The float converter does not accept negative values.\n\n```python\nm = Map([Rule('/<float:x>')])\nm.bind('test.example').test()\n```\n";
  expect((await rank(routing, request))[0]?.path).toBe("routing/converters.py");
  expect((await rank(routing, "the url builder drops a slash"))[0]?.path).toBe("routing/url_builder.py");
});

test.each([
  ["`shop.errors.NotFound` should say which item", "src/shop/errors.py"],
  ["look into shop.http", "src/shop/http/__init__.py"],
  ["see example.shop.errors.Other.value", "src/shop/view.py"],
])("a dotted name means the module, and its class is no part of the path: %s", async (request, path) => {
  const modules = {
    "src/shop/view.py": "from shop import errors\nlook into value of Other, see it\n",
    "src/shop/errors.py": "class NotFound(Exception): pass\n",
    "src/shop/http/__init__.py": "x = 1\n",
  };
  expect((await rank(modules, request))[0]?.path).toBe(path);
});

test("a file is found by its name in any spelling, and by the scope of a request", async () => {
  expect((await rank(shop, "add the content policy to HttpHeaders"))[0]?.path).toBe("shop/http_headers.py");
  expect((await rank(shop, "report: use another currency"))[0]?.path).toBe("shop/report.py");
  const entries = { ...shop, "ui/date-picker/index.tsx": "x\n", "ops/cargo_add/mod.rs": "x\n", "index.js": "x\n" };
  expect((await rank(entries, "the popup of DatePicker is cut off"))[0]?.path).toBe("ui/date-picker/index.tsx");
  expect((await rank(entries, "cargo_add: keep it"))[0]?.path).toBe("ops/cargo_add/mod.rs");
  expect((await rank(shop, "shop/report/none.py: use another")).every(({ signal }) => signal === null)).toBe(true);
  expect((await rank(shop, "tell the reporter of it")).every(({ signal }) => signal === null)).toBe(true);
});
