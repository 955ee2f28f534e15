/** The files a request is about, by its words and by what a traceback names. */
import { expect, test } from "bun:test";
import { rankContents, rankPaths } from "../../../src/core/context/rank.ts";

const paths = ["docs/guide.md", "shop/cart.py", "shop/report.py", "main.py"];
const first = (request: string, context = "") => rankPaths(request, paths, context).map(({ path }) => path);

test("a named file comes before one whose words are named", () => {
  expect(first("fix cart in shop/report.py")).toEqual(["shop/report.py", "shop/cart.py"]);
});

test("a traceback names files by their absolute paths, a part of a name does not", () => {
  expect(first("repair this", 'File "/home/me/p/shop/cart.py", line 2\nFile "/home/me/p/main.py", line 1')).toEqual([
    "main.py",
    "shop/cart.py",
  ]);
  expect(first("repair this", 'File "/home/me/p/domain.py", line 2')).toEqual([]);
});

test("rare words of the request weigh more than common ones", () => {
  const contents = new Map([
    ["a.py", "price price"],
    ["b.py", "price discount"],
    ["c.py", "price"],
  ]);
  expect(rankContents("price discount", [], contents)[0]?.path).toBe("b.py");
});
