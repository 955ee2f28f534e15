/** What the tree of the first request names beside the files that the request lists or shows anyway. */
import { expect, test } from "bun:test";
import { renderTree } from "../../../src/core/context/tree.ts";

test("a file that is told elsewhere is left out, and what stands beside it is named", () => {
  const paths = ["a.md", "src/cart.py", "src/tax.py", "tests/test_cart.py", "empty/"];
  expect(renderTree(paths, 1_000, new Set())).toBe("./: a.md\nsrc/: cart.py tax.py\ntests/: test_cart.py\nempty/:");
  const told = new Set(["src/tax.py", "tests/test_cart.py"]);
  expect(renderTree(paths, 1_000, told)).toBe("./: a.md\nsrc/: cart.py\nempty/:");
});

test("where little fits, the root and folders of told files keep twelve names", () => {
  const named = (folder: string) => Array.from({ length: 30 }, (_, n) => `${folder}file_${n}.py`);
  const folders = Array.from({ length: 40 }, (_, n) => named(`part${n}/deep/`)).flat();
  const tree = renderTree([...named(""), ...folders], 2_000, new Set(["part7/deep/file_2.py"]));
  const [root, ...rest] = tree.split("\n");
  expect(root).toMatch(/^\.\/: (?:file_\d+\.py ){12}\+18$/);
  expect(rest.find((line) => line.startsWith("part7/deep/:"))).toMatch(/^part7\/deep\/: (?:file_\d+\.py ){12}\+17$/);
  expect(tree).not.toContain("part7/deep/file_2.py");
  expect(tree).not.toMatch(/^part8\/deep/m);
  expect(tree.length).toBeLessThanOrEqual(2_000);
});
