/** What every bridge must do, whatever its provider speaks: one suite, run by each bridge's own test file. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PaiError } from "../../src/core/error.ts";
import type { Model } from "../../src/core/model.ts";
import type { Notice } from "../../src/core/question.ts";
import { type OpenOptions, openModel } from "../../src/models/open.ts";
import { expectPrompt } from "../core/cpu-time.ts";
import { describeAgainstMock } from "./contract-mock.ts";
import { options, quiet, request, type Server, serve, sse, take } from "./loopback.ts";

/** One provider, as the suite sees it. */
export interface Bridge {
  readonly id: string;
  /** Base URL of a server that stands at `origin`. */
  readonly baseUrl: (origin: string) => string;
  /** Header that carries the key, and its value. */
  readonly keyHeader: (key: string) => readonly [name: string, value: string];
  /** The whole event stream of a reply that says these pieces and ends by itself. */
  readonly reply: (pieces: readonly string[]) => string;
  /** Ways in which a reply ends, on the wire, with the stop or the code of the error that each is. */
  readonly finishes?: readonly (readonly [name: string, wire: string, end: string])[];
}

/** Aborts a call that never ends by itself, and returns the error that it ends with within 100 ms. */
async function expectEndAtAbort(model: Model, reason?: PaiError): Promise<PaiError | null> {
  let ended: PaiError | null = null;
  await expectPrompt(100, async () => {
    const stop = new AbortController();
    const taken = take(model, stop.signal);
    await Bun.sleep(40);
    const moment = performance.now();
    stop.abort(reason);
    ended = (await taken).error;
    return performance.now() - moment;
  });
  return ended;
}

/** Runs the contract for one bridge. */
export function describeBridge(bridge: Bridge): void {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  const open = (origin: string, over: Partial<OpenOptions> = {}) =>
    openModel(options({ id: bridge.id, baseUrl: bridge.baseUrl(origin), ...over }));

  describe(`${bridge.id} keeps the contract`, () => {
    let server: Server;
    beforeAll(() => {
      process.on("unhandledRejection", note);
      server = serve();
    });
    afterAll(async () => {
      await server.stop();
      process.off("unhandledRejection", note);
    });

    test("yields the text in order and exactly one done, last, with the key that paid", async () => {
      server.answer = () => sse([bridge.reply(["hel", "lo ", "wörld 🌍"])]);
      const { text, done } = await take(await open(server.origin));
      expect(text).toBe("hello wörld 🌍");
      expect(done).toMatchObject({ stop: "end", key: "primary" });
    });

    test("sends the key in its header and nowhere in the URL, says who asks, and no header of an SDK", async () => {
      server.answer = () => sse([bridge.reply(["x"])]);
      await take(await open(server.origin, { keys: [{ id: "k", key: "AIzaSECRET" }] }));
      const last = server.seen.at(-1);
      const [name, value] = bridge.keyHeader("AIzaSECRET");
      expect([last?.headers.get(name), last?.headers.get("user-agent")]).toEqual([value, "pai/test"]);
      expect(last?.path).not.toContain("SECRET");
      const foreign = /^x-pai|stainless|foreign|organization|project/;
      expect([...(last?.headers.keys() ?? [])].filter((each) => foreign.test(each))).toEqual([]);
    });

    test("keeps the query of its base URL", async () => {
      server.answer = () => sse([bridge.reply(["x"])]);
      const plain = await open(server.origin);
      const asking = await openModel(
        options({ id: bridge.id, baseUrl: `${bridge.baseUrl(server.origin)}?api-version=2024-10-21&tenant=a%20b` }),
      );
      expect(asking.address).toBe(plain.address);
      await take(asking);
      expect(server.seen.at(-1)?.path).toMatch(/^\/[^?]+\?(alt=sse&)?api-version=2024-10-21&tenant=a%20b$/);
    });

    test("sends no half of a character, wherever a text was cut", async () => {
      server.answer = () => sse([bridge.reply(["x"])]);
      const messages = [{ role: "user", text: "an emoji cut in two: \ud83d" }] as const;
      await take(await open(server.origin), quiet, { ...request, system: "\ude00 here, too", messages });
      const body = JSON.stringify(server.seen.at(-1)?.body);
      expect(body).toContain("an emoji cut in two: \ufffd");
      expect(body).toContain("\ufffd here, too");
      expect(body).not.toMatch(/\\ud83d|\\ude00/);
    });

    test("sends nothing when the signal is aborted already (fault 3)", async () => {
      const before = server.seen.length;
      const { error } = await take(await open(server.origin), AbortSignal.abort());
      expect(error?.code).toBe("interrupted");
      expect(server.seen.length).toBe(before);
    });

    test("ends within 100 ms of an abort in the middle of a reply, with the signal's own reason (fault 4)", async () => {
      const whole = bridge.reply(["one", "two"]);
      server.answer = () => sse([whole.slice(0, whole.indexOf("two") - 10)], { open: true });
      const model = await open(server.origin);
      for (const reason of [undefined, new PaiError("timeout", "too late")]) {
        const error = await expectEndAtAbort(model, reason);
        expect(error?.code).toBe(reason === undefined ? "interrupted" : "timeout");
      }
    });

    test("ends within 100 ms of an abort before the first byte", async () => {
      server.answer = () => new Promise(() => {});
      expect((await expectEndAtAbort(await open(server.origin)))?.code).toBe("interrupted");
    });

    test("lets the caller walk away in the middle", async () => {
      server.answer = () => sse([bridge.reply(["one", "two"])]);
      const model = await open(server.origin);
      for await (const event of model.stream(request, quiet)) {
        expect(event.type).toBe("text");
        break;
      }
      expect((await take(model)).text).toBe("onetwo");
    });

    test("never takes a stream that was cut for a reply, wherever it was cut", async () => {
      const whole = new TextEncoder().encode(bridge.reply(["{", "é🌍}"]));
      let cut = 0;
      server.answer = () => sse([whole.slice(0, cut)]);
      const model = await open(server.origin);
      for (cut = 0; cut < whole.length; cut += 1) {
        const { error, text } = await take(model);
        if (error === null) expect(text).toBe("{é🌍}");
        else expect(["reply_cut", "reply_empty"]).toContain(error.code);
      }
    });

    test("shows text as it arrives, and what arrived together as one event", async () => {
      const whole = bridge.reply(["one", "two", "three"]);
      const cut = whole.indexOf("three") - 30;
      const shown = Promise.withResolvers<void>();
      server.answer = () => {
        const body = new ReadableStream<Uint8Array>({
          async start(controller) {
            controller.enqueue(new TextEncoder().encode(whole.slice(0, cut)));
            await Promise.race([shown.promise, Bun.sleep(10_000)]);
            controller.enqueue(new TextEncoder().encode(whole.slice(cut)));
            controller.close();
          },
        });
        return new Response(body, { headers: { "content-type": "text/event-stream" } });
      };
      const seen: string[] = [];
      for await (const event of (await open(server.origin)).stream(request, quiet)) {
        if (event.type === "text") seen.push(event.text);
        if (seen.join("").endsWith("two")) shown.resolve();
      }
      expect(seen.join("|")).toMatch(/^one\|?two\|three$/);
    });

    test("refuses every redirect and never follows it with the key", async () => {
      for (const status of [301, 302, 303, 307, 308]) {
        const before = server.seen.length;
        server.answer = () => new Response(null, { status, headers: { location: `${server.origin}/elsewhere` } });
        expect((await take(await open(server.origin))).error?.code).toBe("redirected");
        expect(server.seen.length).toBe(before + 1);
      }
    });

    test("retries a refused connection once, then names the address", async () => {
      const notices: Notice[] = [];
      const slept: number[] = [];
      const gone = serve();
      await gone.stop();
      const sleep = async (ms: number) => void slept.push(ms);
      const model = await open(gone.origin, { notify: (notice) => notices.push(notice), sleep });
      const { error } = await take(model);
      expect(error).toMatchObject({ code: "network" });
      expect(error?.message).toContain(gone.origin);
      expect(error?.message).toContain("refused");
      expect(slept).toEqual([1000]);
      expect(notices).toHaveLength(1);
    });

    test("answers on loopback whatever the proxy variables say", async () => {
      server.answer = () => sse([bridge.reply(["direct"])]);
      const dead = "http://127.0.0.1:9";
      const saved = { ...process.env };
      Object.assign(process.env, { HTTP_PROXY: dead, http_proxy: dead, HTTPS_PROXY: dead, ALL_PROXY: dead });
      try {
        const model = await open(server.origin, { proxyEnv: process.env });
        expect((await take(model)).text).toBe("direct");
      } finally {
        for (const name of ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"]) {
          if (saved[name] === undefined) delete process.env[name];
          else process.env[name] = saved[name];
        }
      }
    });

    for (const [name, wire, end] of bridge.finishes ?? [])
      test(`${name} ends as it should, after one request`, async () => {
        const before = server.seen.length;
        server.answer = () => new Response(wire);
        const { done, error } = await take(await open(server.origin));
        expect<string | undefined>(done?.stop ?? error?.code).toBe(end);
        if (end !== "provider_down") expect(server.seen.length - before).toBe(1);
      });

    test("leaves no rejection unhandled in any of these cases (fault 2)", async () => {
      await Bun.sleep(20);
      expect(unhandled).toEqual([]);
    });
  });

  describeAgainstMock(bridge);
}
