/** `pai stats` as scripts and terminals meet it. */
import { expect, test } from "bun:test";
import { openPlace } from "../harness.ts";
import { hello } from "../replies.ts";

test.concurrent("--csv is plain lines of fields that every tool of a pipe reads", async () => {
  await using place = openPlace(hello);
  expect((await place.pai(["run", "-y", "make hello.txt"])).code).toBe(0);
  const { stdout, code } = await place.pai(["stats", "--csv", "--by", "model"]);
  const [head = "", row = "", ...rest] = stdout.split("\n");
  expect([code, rest]).toEqual([0, [""]]);
  expect(stdout).not.toMatch(/[\r\\]/);
  expect(head.split(",").slice(0, 2)).toEqual(["model", "runs"]);
  expect([head.split(",").at(-1), row.split(",").length]).toEqual(["undone", head.split(",").length]);
  expect(row).toMatch(/^gemini:[\w.-]+,1,1,/);
});

test.concurrent("--csv and --json at once is a usage error", async () => {
  await using place = openPlace();
  const { code, stdout } = await place.pai(["stats", "--csv", "--json"]);
  expect([code, stdout]).toEqual([2, expect.stringContaining("--csv and --json exclude each other")]);
});
