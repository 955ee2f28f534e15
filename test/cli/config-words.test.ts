/** `pai config` helps: it finds the provider of a key, names the next step, and takes a setting out again. */
import { expect, test } from "bun:test";
import { configCommand } from "../../src/cli/commands/config.ts";
import { openProcess, type Process, type Typed } from "./fake-context.ts";

const say = (process: Process, line: string, typed: Typed = {}) =>
  process.run({ run: configCommand }, { words: line.split(" "), ...typed });

test("a key's beginning tells its provider, and the next step is named", async () => {
  const process = openProcess();
  const { out, err } = await say(process, "set", { stdin: "sk-ant-api03-0123456789abcdef" });
  expect(out).toBe("Stored the anthropic key primary: sk-ant...cdef\n");
  expect(err).toBe("check it: pai config validate --online --provider anthropic\n");
  await say(process, "put model gemini:gemini-3.5-flash-lite");
  expect((await say(process, "set", { stdin: "sk-or-v1-0123456789abcdefghijkl" })).err).toContain(
    "use it: pai config put model openrouter:MAKER/MODEL",
  );
});

test("a setting is taken out of config.json, and one that was not set is not a failure", async () => {
  const process = openProcess();
  await say(process, "put model local:x");
  expect(await say(process, "unset model")).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^model is unset in /),
  });
  expect(await say(process, "unset model")).toEqual({ code: 0, out: "model was not set\n", err: "" });
  expect((await say(process, "get model")).out).toBe("gemini:gemini-3.5-flash-lite\n");
  expect((await say(process, "unset modle")).code).toBe("usage");
});
