/** What pai asks, in Gemini's words. */
import { describe, expect, test } from "bun:test";
import type { ModelRequest } from "../../../src/core/model.ts";
import { encodeGemini } from "../../../src/models/gemini/bridge.ts";
import { request } from "../loopback.ts";

describe("encodeGemini", () => {
  const model = "gemini-2.5-flash-lite";

  test("says everything explicitly", () => {
    const schema = { type: "object", properties: { b: { type: "string" }, a: { type: "integer" } }, required: ["b"] };
    const written = { $schema: "https://json-schema.org/draft/2020-12/schema", ...schema };
    const tools = [
      { name: "read", description: "Reads", schema: written },
      { name: "read_tasks", description: "Lists", schema: { type: "object", properties: {} } },
    ];
    expect(encodeGemini(model, { ...request, tools })).toEqual({
      contents: [{ role: "user", parts: [{ text: "say hello" }] }],
      systemInstruction: { role: "system", parts: [{ text: "You are a test." }] },
      tools: [
        {
          functionDeclarations: [
            { name: "read", description: "Reads", parametersJsonSchema: schema },
            { name: "read_tasks", description: "Lists" },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: "AUTO" } },
      generationConfig: { maxOutputTokens: 1000 },
    });
    expect(encodeGemini(model, { ...request, format: { name: "plan", schema } })["generationConfig"]).toEqual({
      maxOutputTokens: 1000,
      responseMimeType: "application/json",
      responseJsonSchema: schema,
    });
    expect(encodeGemini(model, { ...request, tools, toolChoice: "none" })["toolConfig"]).toEqual({
      functionCallingConfig: { mode: "NONE" },
    });
  });

  test("rebuilds the reply of another model, with the id and the signature that Gemini 3 wants of foreign calls", () => {
    const messages: ModelRequest["messages"] = [
      { role: "user", text: "go" },
      {
        role: "assistant",
        text: "I read",
        calls: [{ id: "c", name: "read", input: { path: "a" } }],
        native: { model: "other", content: { role: "assistant" } },
      },
      { role: "tools", results: [{ id: "c", name: "read", ok: false, text: "no such file" }] },
      { role: "assistant", text: "", calls: [], native: null },
    ];
    const call = { functionCall: { name: "read", args: { path: "a" } } };
    const rest = (id: object) => ({
      role: "user",
      parts: [{ functionResponse: { ...id, name: "read", response: { error: "no such file" } } }],
    });
    const start = { role: "user", parts: [{ text: "go" }] };
    expect(encodeGemini(model, { ...request, messages })["contents"]).toEqual([
      start,
      { role: "model", parts: [{ text: "I read" }, call] },
      rest({}),
    ]);
    const signed = {
      functionCall: { id: "c", ...call.functionCall },
      thoughtSignature: "skip_thought_signature_validator",
    };
    for (const newer of ["gemini-3-flash", "gemini-flash-latest", "models/gemini-3.1-pro-preview", "gemini-4-argon"])
      expect(encodeGemini(newer, { ...request, messages })["contents"]).toEqual([
        start,
        { role: "model", parts: [{ text: "I read" }, signed] },
        rest({ id: "c" }),
      ]);
  });
});
