/** Another model only when the user listed it, and never unsaid. */
import { describe, expect, test } from "bun:test";
import { type ErrorCode, PaiError } from "../../src/core/error.ts";
import type { Model, ModelRequest } from "../../src/core/model.ts";
import { fallBack } from "../../src/models/fallback.ts";
import { done, quiet, request, take } from "./loopback.ts";

/** A model that fails with each code in turn, then says its name. */
function model(name: string, codes: readonly ErrorCode[], before = false): Model & { asked: ModelRequest[] } {
  const asked: ModelRequest[] = [];
  return {
    id: `local:${name}`,
    provider: "local",
    name,
    address: null,
    window: name.length * 1000,
    maxOutputTokens: name.length * 100,
    asked,
    async *stream(wanted) {
      asked.push(wanted);
      const code = codes[asked.length - 1];
      if (code === undefined || before) yield { type: "text", text: name };
      if (code !== undefined) throw new PaiError(code, `${name}: ${code}`);
      yield { ...done, served: name };
    },
  };
}

describe("a list of models", () => {
  const switching: ErrorCode[] = ["quota", "credit_exhausted", "provider_down", "network", "tls", "model_unknown"];
  test.each(switching)("%s before the first event goes on with the next, says so, and stays there", async (code) => {
    const notices: string[] = [];
    const [first, second] = [model("first", [code]), model("second", [])];
    const { model: both, current } = fallBack(first, [second], ({ text }) => notices.push(text));
    expect([both.id, both.window, both.maxOutputTokens]).toEqual(["local:first", 5000, 500]);
    expect((await take(both)).text).toBe("second");
    expect((await take(both)).text).toBe("second");
    expect(notices).toEqual([`first: ${code}; going on with local:second`]);
    expect([first.asked.length, second.asked.length, current().name, both.window]).toEqual([1, 2, "second", 6000]);
  });

  test("the next model is asked for what its price and window leave room for, or not at all", async () => {
    const asked = { ...request, maxOutputTokens: 400 };
    const [one, two] = [model("second", []), model("second", [])];
    const { model: both } = fallBack(model("first", ["network"]), [one], () => {});
    for await (const _ of both.stream(asked, quiet, () => 7));
    expect(one.asked[0]?.maxOutputTokens).toBe(7);
    const refuse = () => {
      throw new PaiError("budget_cost", "too dear");
    };
    const stream = fallBack(model("first", ["network"]), [two], () => {}).model.stream(asked, quiet, refuse);
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "budget_cost" });
    expect(two.asked).toEqual([]);
  });

  const staying: ErrorCode[] = ["key_rejected", "request_rejected", "reply_blocked", "reply_empty", "interrupted"];
  test.each(staying)("%s is not a reason to switch", async (code) => {
    const second = model("second", []);
    const { error } = await take(fallBack(model("first", [code]), [second], () => {}).model);
    expect([error?.code, second.asked.length]).toEqual([code, 0]);
  });

  test("nothing is asked of another model once something was seen", async () => {
    const second = model("second", []);
    const { error, text } = await take(fallBack(model("first", ["network"], true), [second], () => {}).model);
    expect([text, error?.code, second.asked.length]).toEqual(["first", "network", 0]);
  });

  test("the last failure counts; a reply is never asked longer than the model in use writes", async () => {
    const second = model("2nd", ["quota"]);
    const { error } = await take(fallBack(model("first", ["network"]), [second], () => {}).model);
    expect(error?.message).toBe("2nd: quota");
    expect(second.asked[0]?.maxOutputTokens).toBe(300);
  });

  test("an aborted run switches to nothing", async () => {
    const second = model("second", []);
    const stop = new AbortController();
    const first: Model = {
      ...model("first", []),
      async *stream() {
        yield* [];
        stop.abort();
        throw new PaiError("network", "lost");
      },
    };
    const { error } = await take(fallBack(first, [second], () => {}).model, stop.signal, request);
    expect([error?.code, second.asked.length, quiet.aborted]).toEqual(["interrupted", 0, false]);
  });
});
