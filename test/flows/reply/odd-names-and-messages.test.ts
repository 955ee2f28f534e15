/** What was asked or named before decides nothing: neither the words of a name nor the history of a session. */
import { expect, test } from "bun:test";
import { finish, plan, write } from "../plans.ts";
import { past, play } from "../scripted.ts";

test("MV onto a file is a failure whatever the names say", async () => {
  const files = { "Success.txt": "1\n", b: "2\n" };
  const script = `MV::Success.txt::b\n${finish("Success")}`;
  const ran = await play({ files, lines: [plan({ steps: ["MV Success.txt -> b"] }), script, script] });
  expect([ran.outcome.code, ran.outcome.error?.message, ran.files]).toEqual([
    8,
    "MV Success.txt → b: b exists: nothing is moved over it",
    files,
  ]);
});

test("the system prompt of a purpose is the same in every run, whatever was asked before", async () => {
  const lines = [plan({ steps: ["WRITE a.txt"] }), write("a.txt", "1\n") + finish()];
  const history = Array.from({ length: 9 }, (_, n) => past(`request ${n}`, "done"));
  const [early, late] = [await play({ lines }), await play({ lines, history })];
  expect(late.requests.map(({ system }) => system)).toEqual(early.requests.map(({ system }) => system));
});
