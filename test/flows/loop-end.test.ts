/** How a tool-loop ends: by its checks, and not by a refusal nobody sees. */
import { expect, test } from "bun:test";
import { toolLoop } from "../../src/flows/tool-loop.ts";
import { type Line, play, type Setup } from "./scripted.ts";

let count = 0;
const call = (name: string, input: Readonly<Record<string, string>>): Line => ({
  text: "",
  calls: [{ id: `e${++count}`, name, input }],
});
const run = (lines: readonly Line[], options: Setup["options"] = {}, files: Setup["files"] = {}) =>
  play({ lines, files, flow: toolLoop, options: { mode: "tool-loop", ...options } });

test("a failing check of the user sends the model back to work, with its output", async () => {
  const lines = [
    call("write", { path: "a.sh", content: "echo broken; exit 1\n" }),
    "Done.",
    call("write", { path: "a.sh", content: "exit 0\n" }),
    "Now it works.",
  ];
  const ran = await run(lines, { checks: ["sh a.sh"] });
  expect(ran.asked(3)).toContain("broken");
  expect(ran.outcome).toMatchObject({ status: "verified", text: "Now it works.", calls: { made: 4, expected: 4 } });
});

test("a check that stays failed ends as 9, with everything taken back", async () => {
  const lines = [call("write", { path: "a.sh", content: "exit 1\n" }), "Done.", "It is fine.", "Really."];
  const ran = await run(lines, { checks: ["sh a.sh"] });
  expect(ran.outcome).toMatchObject({ status: "failed", code: 9, changes: [] });
  expect(ran.files).toEqual({});
});

test("headless, a refusal that leaves nothing done is the end of the run, whatever the model says of it", async () => {
  const files = { "a.txt": "x" };
  expect((await run([call("rm", { path: "a.txt" }), "Deleted."], {}, files)).outcome).toMatchObject({
    status: "failed",
    code: 12,
  });
  const outside = await run([call("write", { path: "b.txt", content: "x" }), "Done."], { only: [["a.txt"]] }, files);
  expect(outside.outcome).toMatchObject({ status: "failed", code: 12 });
});

test("a refusal the model finds a way around within its rights is no failure", async () => {
  const lines = [
    call("write", { path: ".env", content: "x" }),
    call("write", { path: "env.example", content: "x" }),
    "Done.",
  ];
  expect((await run(lines)).outcome).toMatchObject({ status: "unverified", code: 0 });
});
