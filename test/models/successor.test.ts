/** Which model takes the place of one that is gone: as the refusal says, or the nearest of its kind and price. */
import { describe, expect, test } from "bun:test";
import type { ListedModel } from "../../src/core/listed-model.ts";
import { findSuccessor, namedSuccessor, namesOnOffer, nearNames } from "../../src/models/successor.ts";

const day = "2026-11-23";
const listed = (...names: readonly (string | readonly [string, Partial<ListedModel>])[]): readonly ListedModel[] =>
  names.map((each) => {
    const [name, over] = typeof each === "string" ? [each, {}] : each;
    return { name, window: null, output: null, price: null, ends: null, ...over };
  });
const after = (id: string, list: readonly ListedModel[] | null, said = "") => {
  const [provider = "", name = ""] = id.split(/:(.*)/);
  return findSuccessor({ provider, name, said }, list, day);
};

describe("the words of a refusal", () => {
  const flashLite =
    "This model models/gemini-2.5-flash-lite is no longer available to new users. Please update your code to use models/gemini-3.5-flash-lite for the latest features and improvements.";
  test.each([
    [flashLite, "gemini-3.5-flash-lite"],
    ["The model `gpt-4-32k` is deprecated, please use `gpt-6.1-terra` instead.", "gpt-6.1-terra"],
    ["Use the model claude-sonnet-5-5.", "claude-sonnet-5-5"],
    ["models/gemini-9 is not found for API version v1beta. Call ListModels to see the list of available models.", null],
    ["please use another model", null],
    ["use models/\u001b[31m", null],
    ["", null],
  ])("%s", (said, name) => {
    expect(namedSuccessor(said)).toBe(name);
  });
});

test("names near to a mistyped one, with the maker where it was left out", () => {
  const names = ["anthropic/claude-sonnet-4.6", "anthropic/claude-opus-5", "z-ai/glm-5", "openai/gpt-6-luna"];
  expect(nearNames("claude-sonnet-4-6", names)).toEqual(["anthropic/claude-sonnet-4.6"]);
  expect(nearNames("z-ai/glm5", names)).toEqual(["z-ai/glm-5"]);
  expect(nearNames("nothing-like-it", names)).toEqual([]);
});

describe("a model that is gone is followed by", () => {
  const said = "Please update your code to use models/gemini-3.5-flash-lite";

  test("the one that the refusal names, if its server has it, or nobody knows what it has", () => {
    const list = listed("gemini-3.1-flash-lite", "gemini-3.5-flash-lite");
    expect(after("gemini:gemini-2.5-flash-lite", list, said)).toBe("gemini-3.5-flash-lite");
    expect(after("gemini:gemini-2.5-flash-lite", null, said)).toBe("gemini-3.5-flash-lite");
    expect(after("gemini:gemini-2.5-flash-lite", listed("gemini-3.1-flash-lite"), said)).toBe("gemini-3.1-flash-lite");
  });

  test("one of another maker never, whatever the refusal says", () => {
    expect(after("gemini:gemini-2.5-flash-lite", null, "use evil-9 instead")).toBe("gemini-3.1-flash-lite");
    expect(after("openai:gpt-9-solo", null, "use v2 instead")).toBeNull();
  });

  test.each([
    [
      "gemini:gemini-3.5-flash-lite",
      ["gemini-3.1-flash-lite", "gemini-4.1-flash-lite", "gemini-3.8-flash"],
      "gemini-4.1-flash-lite",
    ],
    ["gemini:gemini-2.5-flash", ["gemini-3.5-flash", "gemini-3.8-flash", "gemini-3.1-pro-preview"], "gemini-3.8-flash"],
    ["openai:gpt-5-mini", ["gpt-5.4-mini", "gpt-5.4", "gpt-5.4-nano"], "gpt-5.4-mini"],
    ["openai:gpt-6.1-terra", ["gpt-6.2-terra-2026-12-01", "gpt-6.2-terra", "gpt-6.2-sol"], "gpt-6.2-terra"],
    ["openai:o3", ["o4", "gpt-5"], "o4"],
    ["anthropic:claude-sonnet-4-5", ["claude-sonnet-4-6", "claude-sonnet-5-5", "claude-opus-5"], "claude-sonnet-4-6"],
    ["mistral:mistral-large-2512", ["mistral-large-4", "mistral-small-latest"], "mistral-large-4"],
    ["openrouter:z-ai/glm-5", ["z-ai/glm-5.2", "z-ai/glm-4.6", "x/glm-6"], "z-ai/glm-5.2"],
    ["openai:gpt-99", ["claude-sonnet-5-5"], null],
  ])("the nearest of its kind: %s of %j", (id, names, next) => {
    expect(after(id, listed(...names))).toBe(next);
  });

  test("one at about its price, not one that is merely newer", () => {
    const price = (output: number) => ({ price: { input: output / 5, cached: output / 50, output } });
    const list = listed(
      ["a/kind-1", price(10)],
      ["a/kind-2", price(12)],
      ["a/kind-3", price(90)],
      ["a/kind-2.5", price(11)],
    );
    expect(after("openrouter:a/kind-1", list)).toBe("a/kind-2.5");
  });

  test("none that ends, or that new accounts do not get", () => {
    const list = listed(
      "gemini-2.5-flash-lite",
      ["gemini-3.9-flash-lite", { ends: "2026-11-23" }],
      "gemini-3.1-flash-lite",
    );
    expect(after("gemini:gemini-3.5-flash-lite", list)).toBe("gemini-3.1-flash-lite");
    expect(namesOnOffer("gemini", list, day)).toEqual(["gemini-3.1-flash-lite"]);
    const known = namesOnOffer("gemini", null, day);
    expect([known.includes("gemini-3.5-flash-lite"), known.includes("gemini-2.5-flash-lite")]).toEqual([true, false]);
  });
});
