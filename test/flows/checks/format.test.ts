/** The user's formatters: when they run, on what, and whose their changes are. */
import { expect, test } from "bun:test";
import { finish, modify, plan } from "../plans.ts";
import { play } from "../scripted.ts";

const files = { "a.txt": "one\n", "b.txt": "b\n" };
const lines = [plan({ steps: ["MODIFY a.txt"] }), modify("a.txt", ["one\n", "two  \n"]) + finish("Done.")];
const trim = "sed -i 's/ *$//' {}";

test("a formatter runs on each changed file before the checks, and what it changes is the run's", async () => {
  const checks = ["! grep -q ' $' a.txt"];
  const ran = await play({ files, lines, options: { formats: [trim], checks } });
  expect([ran.outcome.status, ran.files["a.txt"]]).toEqual(["verified", "two\n"]);
  expect(ran.outcome.changes).toMatchObject([{ path: "a.txt", added: 1, deleted: 1 }]);
  expect(ran.eventsOf("notice").find(({ code }) => code === "format")?.text).toBe(`${trim}: formatted a.txt`);
});

test("without checks it runs too; what it changes in other files is taken back", async () => {
  const ran = await play({ files, lines, options: { formats: ["sed -i 's/ *$/!/' *.txt; touch new.txt"] } });
  expect([ran.outcome.code, ran.files]).toEqual([0, { "a.txt": "two!\n", "b.txt": "b\n" }]);
  expect(ran.eventsOf("notice").map(({ text }) => text)).toContainEqual(
    expect.stringContaining("what it changed elsewhere was taken back: b.txt"),
  );
});

test("one that fails is told, and the run goes on; a failing check takes its work back, too", async () => {
  const told = await play({ files, lines, options: { formats: ["echo no such thing; exit 3"] } });
  expect(told.outcome.code).toBe(0);
  expect(told.eventsOf("notice").map(({ text }) => text)).toContain("echo no such thing; exit 3: exit 3 no such thing");
  const red = await play({
    files,
    lines: [...lines, finish("x")],
    options: { formats: [trim], checks: ["grep -q one a.txt"] },
  });
  expect([red.outcome.code, red.files]).toEqual([9, files]);
});
