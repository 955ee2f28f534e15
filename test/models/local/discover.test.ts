/** Model servers on this machine are found at once and named with their owner. */
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
  const found = await findServers({ signal, ports: [...ports, [9, "nobody"]] });
  expect(found).toEqual([
    {
      url: `http://127.0.0.1:${models.port}/v1`,
      usual: "Ollama",
      owner: { uid: process.getuid?.() ?? 0, process: { name: expect.any(String), pid: process.pid } },
      models: ["qwen3:8b", "x".repeat(100)],
    },
  ]);
  expect(found.map(renderServer).join()).toContain(`process ${process.pid}`);
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

test("an owner the kernel does not tell is somebody; an interrupt ends the search", async () => {
  using models = listen(() => Response.json({ data: [] }));
  const ports = [[models.port ?? 0, "Ollama"]] as const;
  const [found] = await findServers({ signal, ports, proc: "/nowhere" });
  expect(found?.owner).toBeNull();
  expect(found === undefined ? "" : renderServer(found)).toEndWith("run by somebody: no models");
  await expect(findServers({ signal: AbortSignal.abort(new Error("stop")), ports })).rejects.toThrow("stop");
});

test("names who listens on loopback, not who has the port at another address", async () => {
  using models = listen(() => Response.json({ data: [] }));
  const port = models.port ?? 0;
  const row = (address: string, uid: number) =>
    `0: ${address}:${port.toString(16).toUpperCase().padStart(4, "0")} 00000000:0000 0A 0:0 00:0 0 ${uid} 0 1 1\n`;
  const proc = mkdtempSync(join(tmpdir(), "pai-proc-"));
  const ownerOf = async (...rows: readonly string[]) => {
    writeFileSync(join(proc, "net/tcp"), `sl local_address\n${rows.join("")}`);
    const [found] = await findServers({ signal, ports: [[port, "Ollama"]], proc });
    return found?.owner?.uid;
  };
  mkdirSync(join(proc, "net"));
  expect(await ownerOf(row("0A00000A", 5), row("0100007F", 7))).toBe(7);
  expect(await ownerOf(row("00000000", 5), row("0100007F", 7))).toBe(7);
  expect(await ownerOf(row("0A00000A", 5), row("00000000", 7))).toBe(7);
  expect(await ownerOf(row("0A00000A", 5))).toBeUndefined();
  rmSync(proc, { recursive: true });
});
