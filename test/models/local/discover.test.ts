/** Model servers on this machine are found at once and named with their owner. */
import { expect, test } from "bun:test";
import { findServers, renderServer } from "../../../src/models/local/discover.ts";
import { expectPrompt } from "../../core/cpu-time.ts";

const signal = new AbortController().signal;
const listen = (answer: () => Response | Promise<Response>) =>
  Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: answer });

test("names the server, its models and who runs it; passes over anything else", async () => {
  using models = listen(() => Response.json({ data: [{ id: "qwen3:8b" }, { id: "x".repeat(500) }, {}] }));
  using page = listen(() => new Response("<html>", { headers: { "content-type": "text/html" } }));
  using secret = listen(() => new Response("no", { status: 401 }));
  const ports = [models, page, secret].map(({ port }) => [port ?? 0, "Ollama"] as const);
  const found = await findServers({ signal, ports: [...ports, [9, "nobody"]], whoListens: (port) => `ada at ${port}` });
  expect(found).toEqual([
    {
      url: `http://127.0.0.1:${models.port}/v1`,
      usual: "Ollama",
      owner: `ada at ${models.port}`,
      models: ["qwen3:8b"],
    },
  ]);
  expect(found.map(renderServer).join()).toContain(`run by ada at ${models.port}: qwen3:8b`);
});

test("waits 200 ms for all of them together", async () => {
  using silent = listen(() => new Promise<Response>(() => {}));
  const ports = Array.from({ length: 4 }, () => [silent.port ?? 0, "vLLM"] as const);
  await expectPrompt(600, async () => {
    const began = performance.now();
    expect(await findServers({ signal, ports })).toEqual([]);
    return performance.now() - began;
  });
});

test("an owner that is not known is somebody; an interrupt ends the search", async () => {
  using models = listen(() => Response.json({ data: [] }));
  const ports = [[models.port ?? 0, "Ollama"]] as const;
  const [found] = await findServers({ signal, ports });
  expect(found?.owner).toBeNull();
  expect(found === undefined ? "" : renderServer(found)).toEndWith("run by somebody: no models");
  await expect(findServers({ signal: AbortSignal.abort(new Error("stop")), ports })).rejects.toThrow("stop");
});
