/** Reading a plan file: a foreign file is called foreign, a damaged plan is told its field. */
import { expect, test } from "bun:test";
import { readPlanFile } from "../../src/cli/plan-file.ts";
import { PaiError } from "../../src/core/error.ts";

const saved = {
  ...{ version: 1, kind: "pai-plan", pai: "0.1.0", created: "2026-11-23T00:00:00.000Z", task: "say hello" },
  ...{ mode: "single-shot", model: "replay:x", only: [], checks: [], plan: { intent: "conversation" } },
  ...{ base: [], looks: [], changes: null, made: null, hash: "0".repeat(64) },
};

function refusalOf(text: string): Pick<PaiError, "code" | "message" | "hint"> {
  try {
    readPlanFile(text, "x.json");
  } catch (thrown) {
    if (thrown instanceof PaiError) return thrown;
    throw thrown;
  }
  throw new Error("it was read");
}

test("a foreign file is refused in one sentence that says what it is not, and how a plan is made", () => {
  const json = ['{"name":"x","version":"1.0"}', "[1,2]", "null", '"text"', '{"kind":"pai-note","task":"say hello"}'];
  for (const text of [...json, "hello there", "\u0000\u007fELF", "", " \n"]) {
    const { code, message, hint } = refusalOf(text);
    expect([text, code]).toEqual([text, "usage"]);
    expect([text, message]).toEqual([
      text,
      expect.stringMatching(/^x\.json is no plan that pai can read: it [a-zA-Z ]+$/),
    ]);
    expect(hint).toBe('make one with: pai plan -o FILE "what to do"');
  }
});

test("a plan of pai with a damaged field is told which", () => {
  for (const [field, value] of [
    ["mode", 5],
    ["task", undefined],
    ["base", {}],
  ] as const) {
    const { code, message } = refusalOf(JSON.stringify({ ...saved, [field]: value }));
    expect([field, code]).toEqual([field, "usage"]);
    expect(message).toStartWith(`x.json is no plan that pai can read: ${field}: `);
  }
});

test("a plan of another version is told that", () => {
  const { code, message } = refusalOf(JSON.stringify({ ...saved, version: 2, base: undefined }));
  expect([code, message]).toEqual([
    "usage",
    "x.json is no plan that pai can read: it has version 2, and this pai reads version 1",
  ]);
});

test("a plan that was edited is told that", () => {
  expect(refusalOf(JSON.stringify(saved)).code).toBe("plan_stale");
});
