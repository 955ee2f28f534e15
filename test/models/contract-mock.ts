/** Every bridge against a server that others wrote, with its ways to misbehave. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { LLMock } from "@copilotkit/aimock";
import { type OpenOptions, openModel } from "../../src/models/open.ts";
import { options, take } from "./loopback.ts";

/** The part of the contract that the server's own fixtures can show. */
export function describeAgainstMock(bridge: {
  readonly id: string;
  readonly baseUrl: (origin: string) => string;
}): void {
  const open = (origin: string, over: Partial<OpenOptions> = {}) =>
    openModel(options({ id: bridge.id, baseUrl: bridge.baseUrl(origin), ...over }));

  describe(`${bridge.id} against a server that others wrote`, () => {
    let mock: LLMock;
    beforeAll(async () => {
      const { LLMock } = await import("@copilotkit/aimock");
      mock = new LLMock({ port: 0, host: "127.0.0.1", chunkSize: 3, logLevel: "silent" });
      await mock.start();
    });
    afterAll(() => mock.stop());
    afterEach(() => {
      mock.clearChaos();
      mock.clearFixtures();
    });

    test("reads two calls of one reply as two (fault 1)", async () => {
      const calls = [
        { name: "read", arguments: '{"path":"a"}' },
        { name: "tree", arguments: "{}" },
      ];
      mock.onMessage("say hello", { toolCalls: calls });
      const { done, calls: read } = await take(await open(mock.url));
      expect(read).toMatchObject([
        { name: "read", input: { path: "a" } },
        { name: "tree", input: {} },
      ]);
      expect(new Set(read.map(({ id }) => id)).size).toBe(2);
      expect(done?.stop).toBe("calls");
    });

    test("waits as long as a rate limit says, five times, and says when to come back", async () => {
      mock.onMessage("say hello", { content: "never seen" });
      mock.setChaos({ rateLimitRate: 1 });
      const slept: number[] = [];
      const sleep = async (ms: number) => void slept.push(ms);
      const { error } = await take(await open(mock.url, { sleep }));
      expect(error).toMatchObject({ code: "quota", retryAfter: 1 });
      expect(slept).toEqual([1000, 1000, 1000, 1000, 1000]);
    });

    test("tells reasoning from text, and a limit from an end", async () => {
      const cut = { content: "one two", reasoning: "hmm", finishReason: "length" };
      mock.onMessage("say hello", cut);
      const { text, done, thoughts } = await take(await open(mock.url));
      expect([text, done?.stop, thoughts]).toEqual(["one two", "length", "hmm"]);
    });

    test("ends in an error, never in a reply, when the server drops, garbles or disconnects", async () => {
      mock.onMessage("say hello", { content: "never seen" });
      for (const chaos of [{ dropRate: 1 }, { malformedRate: 1 }, { disconnectRate: 1 }]) {
        mock.setChaos(chaos);
        const { error } = await take(await open(mock.url));
        expect(["provider_down", "network", "reply_invalid"]).toContain(error?.code ?? "none");
      }
    });
  });
}
