/** How a tool-loop ends: by its checks, and not by a refusal nobody sees. */
import { expect, test } from "bun:test";
import type { Json } from "../../../src/core/model.ts";
import { call, calls, playLoop } from "../loop.ts";

const reply = (name: string, input: Json) => calls(call(name, input));

test("a failing check of the user sends the model back to work, with its output", async () => {
  const lines = [
    reply("write", { path: "a.sh", content: "echo broken; exit 1\n" }),
    "Done.",
    reply("write", { path: "a.sh", content: "exit 0\n" }),
    "Now it works.",
  ];
  const ran = await playLoop(lines, { options: { checks: ["sh a.sh"] } });
  expect(ran.asked(3)).toContain("broken");
  expect(ran.outcome).toMatchObject({
    status: "verified",
    text: "Now it works.",
    calls: { made: 4, expected: 50, at_most: 50 },
  });
});

test("headless, a refusal that leaves nothing done is the end of the run, whatever the model says of it", async () => {
  const files = { "a.txt": "x" };
  expect((await playLoop([reply("rm", { path: "a.txt" }), "Deleted."], { files })).outcome).toMatchObject({
    status: "failed",
    code: 12,
  });
  const outside = await playLoop([reply("write", { path: "b.txt", content: "x" }), "Done."], {
    files,
    options: { only: [["a.txt"]] },
  });
  expect(outside.outcome).toMatchObject({ status: "failed", code: 12 });
});

test("a refusal the model finds a way around within its rights is not a failure", async () => {
  const lines = [
    reply("write", { path: ".env", content: "x" }),
    reply("write", { path: "env.example", content: "x" }),
    "Done.",
  ];
  expect((await playLoop(lines)).outcome).toMatchObject({ status: "unverified", code: 0 });
});

test("headless, a command that may not run and nothing else is 12 with the flag, whatever the model says of it", async () => {
  const { outcome } = await playLoop([reply("bash", { command: "pytest -q" }), "All tests pass."]);
  expect(outcome).toMatchObject({ code: 12, status: "failed", error: { code: "command_refused" } });
  expect(outcome.error?.hint).toContain("--allow-run");
});

test("at a terminal an answer is an answer, whatever the user's check says of the files", async () => {
  for (const check of ["true", "false"]) {
    const setup = { options: { checks: [check], interactive: true }, files: { "a.txt": "x" } };
    const { outcome } = await playLoop([reply("read", { path: "a.txt" }), "It holds x."], setup);
    expect([outcome.status, outcome.code, outcome.text]).toEqual(["answered", 0, "It holds x."]);
  }
});
