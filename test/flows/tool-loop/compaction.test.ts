/** A long tool loop: what is left out, summed up, and known of files. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PaiError } from "../../../src/core/error.ts";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { calling, compact, playLoop, resultsOf, talkIn } from "../loop.ts";
import { faultOf, play, stopper } from "../scripted.ts";
import { openTurns, type Turned, type Turns } from "../turns.ts";

const conversation = talkIn(["one", "did one", "two", "did two"]);

test("one call makes fewer messages of a conversation", async () => {
  const ran = await play({ lines: ["They did both."], flow: compact, conversation });
  expect(ran.requests.length).toBe(1);
  expect(ran.eventsOf("conversation.replaced")[0]?.messages.length).toBe(2);
});

test("the last thing a compaction asks for is the summary, not what the conversation asked", async () => {
  const asked = talkIn(["Delete it", "Which one?", "All"]);
  const ran = await play({ lines: ["Facts."], flow: compact, conversation: asked });
  expect(ran.asked(1)).toEndWith("[User]\nAll\n</conversation>\n\nSummarize this conversation; do not answer it.");
});

test("a secret in a long result is hidden before the result is shortened", async () => {
  const key = ["sk-ant-api03", "Qm7Zt4Xp9Lw2Vb8N".repeat(5)].join("-");
  const messages = [
    { role: "user" as const, text: "Look" },
    { role: "assistant" as const, text: "", calls: [{ id: "1", name: "READ", input: { path: "a" } }], native: null },
    {
      role: "tools" as const,
      results: [{ id: "1", name: "READ", ok: true, text: `${"x ".repeat(490)}${key} ${"y ".repeat(90)}` }],
    },
    { role: "assistant" as const, text: "Seen", calls: [], native: null },
    { role: "user" as const, text: "Go on" },
  ];
  const ran = await play({ lines: ["Facts."], flow: compact, conversation: { messages, tasks: [] } });
  expect(ran.asked(1)).toContain("[…]");
  expect(ran.asked(1)).not.toMatch(/api03|Qm7Z/);
});

test("an interrupt ends a compaction at once and leaves the conversation as it was", async () => {
  const { signal, stop } = stopper();
  const ran = await play({ lines: [{ text: "never", before: stop }], flow: compact, conversation, signal });
  expect(ran.outcome.status).toBe("interrupted");
  expect(ran.eventsOf("conversation.replaced")).toEqual([]);
});

test("a reply that says nothing never becomes a message", async () => {
  const ran = await playLoop(["", "Hello."]);
  expect(ran.requests.map(({ messages }) => faultOf(messages))).toEqual(ran.requests.map(() => null));
  expect(ran.eventsOf("message.added").some(({ message }) => message.role !== "tools" && message.text === "")).toBe(
    false,
  );
});

test("a conversation the server finds too long is summarized once and goes on", async () => {
  const fail = new PaiError("request_too_long", "local finds the request too long");
  const refused = { text: "", fail };
  const ran = await playLoop([refused, "They did both.", "Done."], { conversation });
  expect([ran.purposes, ran.outcome.text]).toEqual(["turn compact turn", "Done."]);
  const again = await playLoop([refused, "They did both.", refused], { conversation });
  expect([again.purposes, again.outcome.code]).toEqual(["turn compact turn", 7]);
  const short = await playLoop([refused]);
  expect([short.purposes, short.outcome.code]).toEqual(["turn", 7]);
});

test("another refusal of a request is not one of its length", async () => {
  const fail = new PaiError("request_rejected", "local rejected the request (HTTP 400): m does not support tools");
  const ran = await playLoop([{ text: "", fail }], { conversation });
  expect([ran.purposes, ran.outcome.code]).toEqual(["turn", 7]);
});

const loop = { flow: toolLoop, options: { interactive: true, mode: "tool-loop" }, answers: "yes" } as const;
const read = calling("read", { path: "a.txt" });
const replace = (content: string) => calling("write", { path: "a.txt", content });
const first = { "a.txt": "one\n" };
const words = (turned: Turned) => resultsOf(turned, 2).map(({ text }) => text);
const again = (turns: Turns) => turns.say("replace it", { ...loop, lines: [replace("two\n"), "Done."] });

test("a file that an earlier turn read or changed is known, also after a resume", async () => {
  const turns = openTurns(first);
  await turns.say("what is in a.txt?", { ...loop, lines: [read, "One."] });
  turns.resume();
  expect(words(await again(turns))).toEqual(["replaced, 4 bytes"]);
  const next = await turns.say("and again", { ...loop, lines: [replace("three\n"), "Done."] });
  expect(words(next)).toEqual(["replaced, 6 bytes"]);
  expect(next.files).toEqual({ "a.txt": "three\n" });
});

test("a file that somebody changed since is to be read again", async () => {
  const turns = openTurns(first);
  await turns.say("what is in a.txt?", { ...loop, lines: [read, "One."] });
  writeFileSync(join(turns.root, "a.txt"), "other\n");
  const next = await again(turns);
  expect(words(next)[0]).toStartWith("a.txt exists and was not shown to you whole as it is now: ");
  expect(next.files).toEqual({ "a.txt": "other\n" });
});
