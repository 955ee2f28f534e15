/** What a server of the user is asked, in Chat Completions and in Ollama's own form. */
import { expect, test } from "bun:test";
import type { Json, ModelRequest } from "../../../src/core/model.ts";
import { chatForm, encodeChat } from "../../../src/models/chat/encode.ts";
import { encodeOllama } from "../../../src/models/local/bridge.ts";
import { withoutDialect } from "../../../src/models/wire/strict-schema.ts";
import { request } from "../loopback.ts";

test("a conversation with calls, in both forms", () => {
  const messages: ModelRequest["messages"] = [
    { role: "user", text: "go" },
    { role: "assistant", text: "", calls: [{ id: "a", name: "read", input: { path: "x" } }], native: null },
    { role: "tools", results: [{ id: "a", name: "read", ok: false, text: "gone" }] },
  ];
  const start = [
    { role: "system", content: "You are a test." },
    { role: "user", content: "go" },
  ];
  const said = (call: Json) => ({ role: "assistant", content: "", tool_calls: [call] });
  const content = "error: gone";
  expect(
    encodeChat("m", { ...request, messages }, { owner: "", form: chatForm, schemaOf: withoutDialect })["messages"],
  ).toEqual([
    ...start,
    said({ id: "a", type: "function", function: { name: "read", arguments: '{"path":"x"}' } }),
    { role: "tool", tool_call_id: "a", content },
  ]);
  expect(
    encodeOllama("m", { ...request, messages }, { owner: "", window: null, isThinkingOff: false })["messages"],
  ).toEqual([
    ...start,
    said({ function: { name: "read", arguments: { path: "x" } } }),
    { role: "tool", tool_name: "read", content },
  ]);
});
