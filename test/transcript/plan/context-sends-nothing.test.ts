/** `pai context` sends nothing and leaves nothing, and shows what checks print all the same. */
import { expect, test } from "bun:test";
import { openPlace } from "../harness.ts";

const check = "touch left.txt; echo changed > a.py; echo 'FAIL: a.py:1'; exit 1";
const files = { "a.py": "x = 1\n" };

test.concurrent("a check runs on a copy that is thrown away, where the sandbox makes one", async () => {
  await using place = openPlace([], files);
  const { code, stdout, stderr } = await place.pai(["context", "--json", "--check", check, "fix it"]);
  expect(code).toBe(0);
  const isRun = !`${stdout}${stderr}`.includes("checks are not run");
  const { data } = JSON.parse(stdout);
  const [part] = data.parts.filter(({ kind }: { readonly kind: string }) => kind === "checks");
  expect(part.tokens > 30).toBe(isRun);
  expect([place.tree(), place.gemini.requests]).toEqual([files, []]);
});

test.concurrent("without a sandbox it runs none, and says so", async () => {
  await using place = openPlace([], files);
  await place.pai(["config", "set", "sandbox", "off"]);
  const { code, stderr } = await place.pai(["context", "--check", check, "fix it"]);
  expect(code).toBe(0);
  expect(stderr).toContain("checks are not run for a preview without a sandbox that works on a copy");
  expect([place.tree(), place.gemini.requests]).toEqual([files, []]);
});
