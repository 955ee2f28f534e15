/** Files a person names with `@` are shown whole, ignored ones too; denied ones never. */
import { expect, test } from "bun:test";
import { findMentions } from "../../../src/cli/at-paths.ts";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { openBare } from "../../workspace/bare.ts";
import { finish, plan } from "../plans.ts";
import { makeFolder, play } from "../scripted.ts";

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

test("a message's words behind @ are files, words, or refused", async () => {
  const place = makeFolder({ ...files, ".env": "TOKEN=x\n", "two words.txt": "", "资料/说明.md": "" });
  const { workspace } = await openBare(place.root, place.state);
  const find = async (text: string) => (await findMentions(workspace, text)).map(String);
  expect(await find('see @a.txt, (not a@a.txt) and @"two words.txt" and @out/log.txt @a.txt.')).toEqual([
    "a.txt",
    "two words.txt",
    "out/log.txt",
  ]);
  expect(await find("请看@a.txt，并修改它")).toEqual(["a.txt"]);
  expect(await find("(@out/log.txt) @a.txtの中身と @资料/说明.md、それから")).toEqual([
    "out/log.txt",
    "a.txt",
    "资料/说明.md",
  ]);
  expect(await find(`me@a.txt https://example.org/@a.txt import { x } from "@/lib/x"`)).toEqual([]);
  expect(await find("@decorator and @types/node and @out")).toEqual([]);
  expect(find("look at @.env")).rejects.toMatchObject({
    code: "usage",
    message: expect.stringContaining(".env"),
  });
  expect(find("@../outside.txt")).rejects.toMatchObject({ code: "usage" });
  place.remove();
});
