/** What tools and people write of files and lines is found in each of their forms. */
import { describe, expect, test } from "bun:test";
import { throughLinks } from "../../../src/core/context/mentions.ts";
import { findMatching } from "../../../src/core/context/project.ts";
import { findSignals } from "../../../src/core/context/signals.ts";
import { expectCpu } from "../cpu-time.ts";

const root = "/home/me/work/p";
const paths = [
  "app/(shop)/[id]/page.tsx",
  "cmd/shop/main.go",
  "lib/shop/cart.ex",
  "shop/cart.c",
  "shop/cart.py",
  "src/Cart.cs",
  "src/Cart.php",
  "src/cart.js",
  "src/cart.rs",
  "src/cart.ts",
  "src/main/java/com/acme/other/Cart.java",
  "src/main/java/com/acme/shop/Cart.java",
  "src/main/kotlin/Basket.kt",
  "tests/test_cart.py",
  "cart.rb",
  "deep/shop/cart.rb",
  "Dockerfile",
];

const named = (output: string) =>
  Object.fromEntries(Array.from(findSignals("", output, paths), ([path, { lines }]) => [path, lines]));

describe("an output names a file and its line as", () => {
  test.each([
    ["Python", `  File "${root}/shop/cart.py", line 12, in total`, "shop/cart.py"],
    ["Python in a folder with a space", 'File "/home/me/my work/shop/cart.py", line 12', "shop/cart.py"],
    ["Python on Windows", String.raw`  File "C:\work\p\shop\cart.py", line 12, in total`, "shop/cart.py"],
    ["pytest", "tests/test_cart.py:12: AssertionError", "tests/test_cart.py"],
    ["mypy", "shop/cart.py:12: error: Incompatible return value  [return-value]", "shop/cart.py"],
    ["Node", `    at Cart.total (${root}/src/cart.js:12:15)`, "src/cart.js"],
    ["Node without a function", `    at ${root}/src/cart.js:12:15`, "src/cart.js"],
    ["Node's modules", `    at async file://${root}/src/cart.js:12:15`, "src/cart.js"],
    ["the TypeScript compiler", "src/cart.ts(12,5): error TS2339: Property 'total' does not exist", "src/cart.ts"],
    ["the TypeScript compiler, pretty", "src/cart.ts:12:5 - error TS2339: Property", "src/cart.ts"],
    ["TypeScript in folders with brackets", "app/(shop)/[id]/page.tsx(12,5): error TS2339", "app/(shop)/[id]/page.tsx"],
    ["Vitest", " ❯ src/cart.ts:12:5", "src/cart.ts"],
    ["webpack", "ERROR in ./src/cart.ts 12:5-10", "src/cart.ts"],
    ["ESLint", `${root}/src/cart.js\n  12:5  error  'total' is not defined  no-undef`, "src/cart.js"],
    ["Go's compiler", "cmd/shop/main.go:12:3: undefined: RoundPrice", "cmd/shop/main.go"],
    ["a panic of Go", `main.total(...)\n\t${root}/cmd/shop/main.go:12 +0x1d`, "cmd/shop/main.go"],
    ["a test of Go", "    main.go:12: got 3, want 4", "cmd/shop/main.go"],
    ["Rust's compiler", "error[E0425]: cannot find function\n  --> src/cart.rs:12:5", "src/cart.rs"],
    ["a panic of Rust", "thread 'main' panicked at src/cart.rs:12:5:", "src/cart.rs"],
    ["Java", "\tat com.acme.shop.Cart.total(Cart.java:12)", "src/main/java/com/acme/shop/Cart.java"],
    ["Java with a module", "\tat app//com.acme.shop.Cart.total(Cart.java:12)", "src/main/java/com/acme/shop/Cart.java"],
    ["Java's constructors", "\tat com.acme.shop.Cart.<init>(Cart.java:12)", "src/main/java/com/acme/shop/Cart.java"],
    ["Kotlin without folders", "\tat com.acme.BasketKt.main(Basket.kt:12)", "src/main/kotlin/Basket.kt"],
    [
      "Kotlin's compiler",
      `e: file://${root}/src/main/kotlin/Basket.kt:12:5 Unresolved reference`,
      "src/main/kotlin/Basket.kt",
    ],
    ["gcc", "shop/cart.c:12:5: error: 'total' undeclared", "shop/cart.c"],
    ["gcc's includes", "In file included from shop/cart.c:12,", "shop/cart.c"],
    ["MSVC", String.raw`shop\cart.c(12): error C2065`, "shop/cart.c"],
    ["gdb", "#1  0x0000555 in total (x=1) at shop/cart.c:12", "shop/cart.c"],
    ["C#", `   at Shop.Cart.Total() in ${root}/src/Cart.cs:line 12`, "src/Cart.cs"],
    ["PHP", `PHP Fatal error: Uncaught Error in ${root}/src/Cart.php:12`, "src/Cart.php"],
    ["PHP's warnings", `Warning: Undefined variable in ${root}/src/Cart.php on line 12`, "src/Cart.php"],
    ["a trace of PHP", `#0 ${root}/src/Cart.php(12): Shop\\Cart->total()`, "src/Cart.php"],
    ["Elixir", "    (shop 0.1.0) lib/shop/cart.ex:12: Shop.Cart.total/1", "lib/shop/cart.ex"],
    ["an address on GitHub", "https://github.com/me/p/blob/main/shop/cart.py#L12-L20", "shop/cart.py"],
  ])("%s does", (_, output, path) => {
    expect(named(output)).toEqual({ [path]: [12] });
  });

  test("an absolute path, of which the longest end that is a file is meant", () => {
    expect(named("/srv/deep/shop/cart.rb:12:in 'total'")).toEqual({ "deep/shop/cart.rb": [12] });
    expect(named("/srv/cart.rb:12:in 'total'")).toEqual({ "cart.rb": [12] });
  });

  test("several rows of a linter, each with its line, and none below another line", () => {
    const output = "src/cart.js\n  3:1  error  a\n  9:2  warning  b\n\n  12:5  error  c\n";
    expect(named(output)).toEqual({ "src/cart.js": [3, 9] });
  });
});

test("an installed package is the project's package of that name, wherever the project keeps it", () => {
  const files = ["src/shop/cart.py", "shop/extra/cart.py", "six.py"];
  const found = (output: string) => [...findSignals("", output, files).keys()];
  expect(found('File "/usr/lib/python3/dist-packages/shop/cart.py", line 3')).toEqual(["src/shop/cart.py"]);
  expect(found('File "/venv/lib/python3.12/site-packages/other/cart.py", line 3')).toEqual([]);
});

test.each([
  ["update the README", ["README.md"]],
  ["what does the LICENSE say?", ["LICENSE.txt"]],
  ["sort the AUTHORS", ["docs/AUTHORS.rst"]],
  ["read the readme of the license", []],
])("documents are named by their name in capitals: %s", (request, expected) => {
  const files = ["LICENSE.txt", "README.md", "a/README.md", "b/README.md", "c/README.md", "docs/AUTHORS.rst"];
  expect([...findSignals(request, "", files).keys()]).toEqual(expected);
});

test.each([
  ["rename the helpers in tests/test_*.py.", ["tests/test_cart.py"]],
  ["docs of `**/*.kt` and (*.c)", ["shop/cart.c", "src/main/kotlin/Basket.kt"]],
  ["sort ./src/*.{ts,js}", ["src/cart.ts", "src/cart.js"]],
  ["**bold** is price*count, a comment is /* */ or //**", []],
])("a pattern names the files that it matches: %s", (request, expected) => {
  expect([...findMatching(request, paths).keys()].sort()).toEqual(expected.toSorted());
});

test("what stands behind the asterisk of a pattern names no file", () => {
  const found = (request: string) => [...findSignals(request, "", ["cart.ts", "a/cart.ts", "b/.env.ts"]).keys()];
  expect(found("the types in packages/*/cart.ts and *.env.ts")).toEqual([]);
  expect(found("**cart.ts** and *./a/cart.ts*")).toEqual(["cart.ts", "a/cart.ts"]);
});

test("a file with a space in its name is named with its line, and none that only ends in its last word", () => {
  const files = ["My App/Main View.swift", "My App/Other View.swift", "My App/cart.swift", "to do"];
  const found = (request: string) => [...findSignals(request, "", files)].map(([path, { lines }]) => [path, lines]);
  expect(found("see 'Main View.swift:12'")).toEqual([["My App/Main View.swift", [12]]]);
  expect(found("see My App/cart.swift, and the Other View")).toEqual([["My App/cart.swift", []]]);
  expect(found("say what to do")).toEqual([]);
});

test("what went well names nothing", () => {
  const output = [
    "shop/cart.py::test_total PASSED",
    "PASS src/cart.js",
    "✓ src/cart.ts (3 tests)",
    "ok  \tcmd/shop/main.go",
    "tests/test_cart.py::test_total FAILED",
  ].join("\n");
  expect(Object.keys(named(output))).toEqual(["tests/test_cart.py"]);
});

test("a frame of a library names no file of the project that only has the same name", () => {
  expect(named("\tat java.base/java.util.Cart.get(Cart.java:427)")).toEqual({});
  expect(named('File "/usr/lib/python3.12/domain.py", line 3')).toEqual({});
});

test("a megabyte of data without a name in it is soon looked through", () => {
  for (const piece of ["a.", "/a", "(", "a(", "x=", "::a", "  12:5 ", '"a'])
    expectCpu(1000, () => findSignals(piece.repeat(100_000), piece.repeat(100_000), paths), piece);
});

test.each([
  ["in /etc/nginx/sites-enabled/shop:5", "in /etc/nginx/sites-available/shop:5"],
  ["see sites-enabled/shop.", "see sites-available/shop."],
  ["sites-enabled/shop.bak and my-sites-enabled/shop", "sites-enabled/shop.bak and my-sites-enabled/shop"],
  ["current/app.conf is current", "releases/7/app.conf is current"],
])("%s names what the link leads to", (said, meant) => {
  const links = new Map(Object.entries({ "sites-enabled/shop": "sites-available/shop", current: "releases/7" }));
  expect(throughLinks(said, links)).toBe(meant);
});
