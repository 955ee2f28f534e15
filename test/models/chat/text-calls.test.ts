/** Calls in Chat Completions: what is asked, and those written as text. */
import { expect, test } from "bun:test";
import type { Json } from "../../../src/core/model.ts";
import { encodeChat } from "../../../src/models/chat/bridge.ts";
import { createTextCallReader } from "../../../src/models/chat/text-calls.ts";
import { encodeOllama } from "../../../src/models/local/bridge.ts";
import { expectCpu } from "../../core/cpu-time.ts";
import { conversation, request } from "../loopback.ts";

function read(text: string) {
  const reader = createTextCallReader(["read"]);
  let shown = "";
  for (let at = 0; at < text.length; at += 40) shown += reader.push(text.slice(at, at + 40));
  const { text: rest, calls } = reader.end();
  return { text: shown + rest, calls };
}

const endless: readonly (readonly [string, string])[] = [
  ["prose", "A plain sentence of words. ".repeat(40_000)],
  ["brackets that never close", "[".repeat(200_000)],
  ["objects that never close", '{"a":'.repeat(40_000)],
  ["brackets within brackets", `\`\`\`\n${"[".repeat(50_000)}x${"]".repeat(50_000)}`],
  ["quotes that hide brackets", `\`\`\`\n${'"[ '.repeat(60_000)}`],
  ["parameters that never end", `<function=read>${"<parameter=a>".repeat(20_000)}`],
];
test.each(endless)("takes no time for %s", (_name, text) => {
  let all = { text: "", calls: read("").calls };
  expectCpu(1000, () => {
    all = read(text);
  });
  if (all.calls.length === 0) expect(all.text).toBe(text);
});

test("a tool's name may be in capitals, as in native calls", () => {
  const { text, calls } = read('<tool_call>{"name": "Read", "arguments": {"path": "a"}}</tool_call>');
  expect([text, calls]).toEqual(["", [{ name: "Read", input: { path: "a" } }]]);
});

test("a conversation with calls, in both forms", () => {
  const messages = conversation([{ id: "a", name: "read", input: { path: "x" } }], null, "gone", false);
  const start = [
    { role: "system", content: "You are a test." },
    { role: "user", content: "go" },
  ];
  const said = (call: Json) => ({ role: "assistant", content: "", tool_calls: [call] });
  const content = "error: gone";
  expect(encodeChat("m", { ...request, messages }, "")["messages"]).toEqual([
    ...start,
    said({ id: "a", type: "function", function: { name: "read", arguments: '{"path":"x"}' } }),
    { role: "tool", tool_call_id: "a", content },
  ]);
  expect(encodeOllama("m", { ...request, messages }, "", { window: null })["messages"]).toEqual([
    ...start,
    said({ function: { name: "read", arguments: { path: "x" } } }),
    { role: "tool", tool_name: "read", content },
  ]);
});
