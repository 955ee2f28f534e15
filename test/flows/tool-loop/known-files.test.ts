/** A file that the conversation of tool-loop shows whole may be replaced in a later turn, as long as it is still that. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { call, calls, resultsOf } from "../loop.ts";
import { inSession, type Turned, type Turns } from "../turns.ts";

const loop = { flow: toolLoop, options: { interactive: true, mode: "tool-loop" }, answers: "yes" } as const;
const read = calls(call("read", { path: "a.txt" }));
const replace = (content: string) => calls(call("write", { path: "a.txt", content }));
const first = { "a.txt": "one\n" };
const words = (turned: Turned) => resultsOf(turned, 2).map(({ text }) => text);
const again = (turns: Turns) => turns.say("replace it", { ...loop, lines: [replace("two\n"), "Done."] });

test("a file that an earlier turn read or changed is known, also after a resume", async () => {
  await inSession(first, async (turns) => {
    await turns.say("what is in a.txt?", { ...loop, lines: [read, "One."] });
    turns.resume();
    expect(words(await again(turns))).toEqual(["replaced, 4 bytes"]);
    const next = await turns.say("and again", { ...loop, lines: [replace("three\n"), "Done."] });
    expect(words(next)).toEqual(["replaced, 6 bytes"]);
    expect(next.files).toEqual({ "a.txt": "three\n" });
  });
});

test("a file that somebody changed since is to be read again", async () => {
  await inSession(first, async (turns) => {
    await turns.say("what is in a.txt?", { ...loop, lines: [read, "One."] });
    writeFileSync(join(turns.root, "a.txt"), "other\n");
    const next = await again(turns);
    expect(words(next)[0]).toStartWith("a.txt exists and was not shown to you whole as it is now: ");
    expect(next.files).toEqual({ "a.txt": "other\n" });
  });
});

test("a file that a rewound turn had read is to be read again", async () => {
  await inSession(first, async (turns) => {
    await turns.say("what do you see?", { ...loop, lines: ["Nothing yet."] });
    await turns.say("what is in a.txt?", { ...loop, lines: [read, "One."] });
    turns.open.add({ type: "session.rewound", at: "2026", turns: 1 });
    expect(words(await again(turns))[0]).toContain("was not shown to you whole");
  });
});
