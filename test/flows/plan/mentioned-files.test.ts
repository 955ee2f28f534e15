/** Files a person names with `@` are shown whole, ignored ones too; denied ones never. */
import { expect, test } from "bun:test";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { finish, plan } from "../plans.ts";
import { play } from "../scripted.ts";

const files = { ".gitignore": "out/\n", "out/log.txt": `${"line\n".repeat(4000)}the end\n`, "a.txt": "a\n" };

test("the plan call is shown an ignored file whole, once, and the receipt knows it", async () => {
  const ran = await play({
    files,
    mentioned: ["out/log.txt"],
    lines: [plan({ steps: ["READ a.txt"] }), finish("Read.")],
  });
  expect(ran.asked(1).split("the end").length).toBe(2);
  expect(ran.eventsOf("context.sent")[0]?.files.map(({ path }) => String(path))).toContain("out/log.txt");
});

test("a turn of the tool-loop is shown it before the request", async () => {
  const ran = await play({ files, mentioned: ["a.txt"], task: "explain", flow: toolLoop, lines: ["It is an a."] });
  expect(ran.asked(1)).toMatch(/a\.txt[\s\S]*explain$/);
});

test("what is not text ends the run before any call", async () => {
  const ran = await play({ files: { "b.bin": "a\0b" }, mentioned: ["b.bin"], lines: [] });
  expect([ran.outcome.error?.code, ran.requests.length]).toEqual(["file_unusable", 0]);
});
