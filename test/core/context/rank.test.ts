/** The files a request is about: by its words in names and contents, by similar commits, and by what names them. */
import { expect, test } from "bun:test";
import { kindOf } from "../../../src/core/context/kind.ts";
import { findUnlisted } from "../../../src/core/context/project.ts";
import { scoreHistory } from "../../../src/core/context/similar-commits.ts";
import { termsOf } from "../../../src/core/context/words.ts";
import type { RelPath } from "../../../src/core/path.ts";
import type { SurveyHistory } from "../../../src/core/ports.ts";
import { rankFor } from "./rank-files.ts";

interface Given {
  readonly request: string;
  readonly files: Readonly<Record<string, string>>;
  readonly output?: string;
  readonly commits?: SurveyHistory["commits"];
}

const rank = async ({ request, files, ...given }: Given) =>
  (await rankFor(request, files, given)).map(({ path }) => path);

const shop = {
  "docs/guide.md": "the cart holds items, the cart is emptied, a cart for everyone\n",
  "shop/cart.py": "class Cart:\n    def add(self, item): pass\n",
  "shop/report.py": "def total(cart): pass\n",
  "tests/test_cart.py": "def test_cart(): Cart()\n",
  "main.py": "from shop.cart import Cart\n",
};

test.each([
  ["code comes before documents and tests of the same words", "round the prices in the cart", shop, "shop/cart.py"],
  ["a named file comes before one whose words are named", "fix cart in shop/report.py", shop, "shop/report.py"],
  ["and one whose name alone is named", "fix cart in report.py", shop, "shop/report.py"],
  [
    "rare words weigh more than common ones",
    "price discount",
    { "a.py": "price price", "b.py": "price discount", "c.py": "price", "d.py": "price" },
    "b.py",
  ],
  [
    "a name with a dot is looked for as it is written",
    "use self.host which is always up to date",
    { "a.py": "self.name = host\nhost\nself\n".repeat(3), "b.py": "self.host = 1", "c.py": "self.port = 1" },
    "b.py",
  ],
  [
    "a preposition is no part of a name: values to",
    "give the values to vault owners",
    { "chart.py": "values_to = 3\n", "store.py": "def open_vault(values): pass\n", "main.py": "pass\n" },
    "store.py",
  ],
  [
    "what is made from a file beside it never comes before its source",
    "empty the cart",
    { "a.js": "cart cart cart", "a.ts": "cart", "b.min.js": "cart cart", "a.js.map": "cart cart cart" },
    "a.ts",
  ],
])("%s", async (_, request, files: Readonly<Record<string, string>>, first) => {
  expect((await rank({ request, files }))[0]).toBe(first);
});

test("tests come before code where the request asks for them", async () => {
  const [first, second] = await rank({ request: "write tests for the cart", files: shop });
  expect([first, second]).toContain("tests/test_cart.py");
});

test("a traceback names files by their absolute paths, a part of a name does not", async () => {
  const output = 'File "/home/me/p/shop/report.py", line 2\nFile "/home/me/p/main.py", line 1';
  const repair = (output: string) => rank({ request: "repair this", files: shop, output });
  expect((await repair(output)).slice(0, 2).sort()).toEqual(["main.py", "shop/report.py"]);
  expect(await repair('File "/home/me/p/domain.py", line 2')).toEqual([]);
});

test("neighbouring words and identifiers find each other in every spelling", async () => {
  const files = { "a.py": "map = default\n".repeat(3), "b.ts": "const defaultMap = 1", "c.py": "default_map = 1" };
  expect((await rank({ request: "the default map is shared", files })).slice(0, 2).sort()).toEqual(["b.ts", "c.py"]);
  expect((await rank({ request: "`defaultMap` is shared", files })).slice(0, 2).sort()).toEqual(["b.ts", "c.py"]);
  const named = { "src/from-json.ts": "x", "src/json.ts": "x", "src/other.ts": "x" };
  expect((await rank({ request: "fromJson drops null", files: named }))[0]).toBe("src/from-json.ts");
});

test("files that commits with the same words changed rank higher, moved ones too", async () => {
  const others = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`src/part${at}.py`, "x = 1"]));
  const files = { ...others, "src/new/pager.py": "x = 1", "src/other.py": "x = 1", "src/pages.py": "pager" };
  const commits = [
    { subject: "close the pager when output ends", body: "", files: ["old/pager.py"] },
    { subject: "speed", body: "", files: ["src/other.py"] },
  ];
  expect((await rank({ request: "keep output open", files, commits }))[0]).toBe("src/new/pager.py");
});

test.each([
  ["src/core/rank.ts", "code"],
  ["Makefile", "code"],
  ["scripts/release.sh", "side"],
  ["docs/conf.py", "side"],
  ["build/src/index.ts", "side"],
  ["src/packaging/tags.py", "code"],
  ["src/vendor/six.py", "side"],
  ["test/rank.test.ts", "test"],
  ["pkg/tree_test.go", "test"],
  ["models/cart_spec.rb", "test"],
  ["src/cart.spec.ts", "test"],
  ["lib/common/arg_spec.py", "code"],
  ["conftest.py", "test"],
  ["bench/sort.ts", "test"],
  ["src/v3/benchmarks/union.ts", "test"],
  ["play.ts", "test"],
  ["src/play.ts", "code"],
  ["README.md", "document"],
  ["config/app.yaml", "document"],
  ["CHANGES.rst", "changelog"],
  ["changelogs/fragments/1.yml", "changelog"],
  ["src/history.ts", "code"],
  ["package-lock.json", "generated"],
  ["static/app.min.js", "generated"],
  ["api/user.pb.go", "generated"],
] as const)("%s is %s", (path, kind) => {
  expect(kindOf(path)).toBe(kind);
});

test("a short name with a digit is a word, and not the beginning of a longer number", async () => {
  const files = { "a.py": "def f1(x): pass\n", "b.py": "def f12(x): pass\n", "c.py": "k8s.apply(s3)\n" };
  expect(await rank({ request: "fix f1", files })).toEqual(["a.py"]);
  expect(await rank({ request: "repair the upload to S3", files })).toEqual(["c.py"]);
  expect(await rank({ request: "start the k8s pods", files })).toEqual(["c.py"]);
  expect(termsOf("12 items, 3 of them in 1 of 4 places").flatMap(({ spellings }) => spellings)).not.toContain("12");
});

test("in a short history no file counts as often changed", () => {
  const changes = (path: string) => ({ subject: "", body: "", files: [path] });
  const often = (commits: readonly string[]) =>
    scoreHistory(commits.map(changes), [], new Set(["a.py", "b.py"])).frequency;
  expect(often(["a.py"]).get("a.py")).toBeLessThan(0.5);
  expect(often(["a.py", ...Array(12).fill("b.py")]).get("b.py")).toBe(1);
});

test("beside a file that is mentioned, one that only says what most say is not ranked", async () => {
  const files = {
    "nginx.conf": "nginx main",
    shop: "server",
    "koi-utf": "made for nginx",
    fastcgi: "nginx fails here",
    "mime.types": "of nginx",
    ...Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`map${at}`, "nginx"])),
  };
  const request = "nginx fails";
  expect(await rank({ request, files, output: "in /etc/nginx/./shop:5\nnginx.conf test" })).not.toContain("koi-utf");
  expect((await rank({ request, files, output: "/etc/nginx/shop:5" })).slice(0, 2)).toEqual(["shop", "fastcgi"]);
  expect(await rank({ request, files })).toContain("koi-utf");
});

const there = new Set(["far/deep/total.py", "far/cart.py", "near.py"]);
const find = (written: string) => (there.has(written) ? (written as RelPath) : null);
const listed = new Set(["near.py", "src/a.py"]);

test.each([
  ["the total in far/deep/total.py is wrong, see near.py", "", ["far/deep/total.py"]],
  ["repair this", 'File "/home/me/project/far/cart.py", line 2, in total', ["far/cart.py"]],
  ["far/cart.py:12 and far/cart.py:14", "", ["far/cart.py"]],
  ["far/none.py and src/a.py", "", []],
] as const)("in %p %p", (request, output, paths) => {
  expect(findUnlisted({ request, output }, listed, { find })).toEqual([...paths]);
});

test("it comes first, with its lines, and nothing is looked for where all is listed", async () => {
  const rank = async (given: { readonly find?: typeof find }) =>
    (await rankFor("the total in far/deep/total.py:12 is wrong", { "near.py": "", "src/a.py": "" }, given)).map(
      ({ path, signal }) => [path, signal?.lines],
    );
  expect(await rank({ find })).toEqual([["far/deep/total.py", [12]]]);
  expect(await rank({})).toEqual([]);
});
