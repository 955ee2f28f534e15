/** `pai review`: findings about the changes since a commit, in the shipped schema, without a change. */

import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCommand } from "../contract.ts";
import { openPlace, type Place } from "../harness.ts";
import { talked } from "../replies.ts";

const found = { path: "a.py", line: 2, severity: "high", text: "divides by zero", suggestion: null };
const answer = (...findings: readonly object[]) => talked(JSON.stringify({ findings }));

function commitAll({ root }: Place): void {
  const git = (...args: readonly string[]) =>
    spawnSync("git", ["-C", root, "-c", "user.name=a", "-c", "user.email=a@b.c", ...args]);
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "first");
}

test.concurrent("what changed and is new is reviewed, closed files are not; --fail-on ends with 9", async () => {
  await using place = openPlace([{ text: JSON.stringify({ findings: [found] }) }, answer(found), answer()], {
    "a.py": "def f(a):\n    return a\n",
    ".env": "A=1\n",
  });
  commitAll(place);
  writeFileSync(join(place.root, "a.py"), "def f(a):\n    return a / 0\n");
  writeFileSync(join(place.root, ".env"), "A=swordfish99\n");
  writeFileSync(join(place.root, "new.txt"), "brand new\n");
  const before = place.tree();
  expect(await place.pai(["review"])).toMatchObject({ code: 0, stdout: "a.py:2  high  divides by zero\n" });
  const asked = place.gemini.requests[0]?.body ?? "";
  for (const words of ["return a / 0", "brand new"]) expect(asked).toContain(words);
  expect(asked).not.toContain("swordfish99");
  const failed = await place.pai(["review", "--json", "--fail-on", "high", "a.py"]);
  expect(failed.code).toBe(9);
  expect(readCommand(failed)).toMatchObject({
    data: { findings: [found], parts: 1, calls: 1 },
    error: { code: "check_failed" },
  });
  expect(await place.pai(["review", "--fail-on", "low"])).toMatchObject({ code: 0, stdout: "no findings\n" });
  expect(place.tree()).toEqual(before);
});

test.concurrent("an unknown commit, a missing file, and both at once are usage errors without a call", async () => {
  await using place = openPlace([], { "a.py": "x\n" });
  commitAll(place);
  for (const args of [["--base", "nope"], ["none.py"], ["--base", "HEAD", "a.py"], ["--fail-on", "grave"]])
    expect([args, (await place.pai(["review", ...args])).code]).toEqual([args, 2]);
  expect(place.gemini.requests).toHaveLength(0);
});
