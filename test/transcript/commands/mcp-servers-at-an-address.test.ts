/** MCP servers behind an address, tools that only look, and calls in the tool-loop, through the compiled binary. */
import { afterAll, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { plan, talk } from "../../flows/plans.ts";
import { needs, seenInside } from "../../needs.ts";
import { copies } from "../../workspace/sandbox/here.ts";
import { type Answer, configure, openPlace, type Place } from "../harness.ts";
import { called, says } from "../replies.ts";

const program = { command: process.execPath, args: [join(import.meta.dir, "../../mcp-server.ts"), "kind", "/tmp"] };

/** A place whose user has these servers in config.json. */
function open(servers: object, answers: readonly Answer[]): Place {
  const place = openPlace(answers, { "a.txt": "one\n" });
  configure(place, { mcpServers: servers });
  return place;
}
const told = (place: Place) => place.gemini.requests.map(({ body }) => body).join("\n");
const looks = (step: string) => says(plan({ steps: [step] }));

/** A server as others write them, that speaks only HTTP and wants a header. */
const web = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    if (request.headers.get("authorization") !== "Bearer t0ken") return new Response("", { status: 401 });
    if (request.method !== "POST") return new Response("");
    const { id, method, params } = (await request.json()) as { id?: number; method: string; params?: { name: string } };
    if (id === undefined) return new Response("", { status: 202 });
    const tool = { name: "find", description: "Finds issues", inputSchema: { type: "object" } };
    const hello = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "w", version: "1" } };
    const answers: Record<string, object> = {
      initialize: hello,
      "tools/list": { tools: [tool, { ...tool, name: "close" }] },
      "tools/call": { content: [{ type: "text", text: `${params?.name}: issue 7 is open` }] },
    };
    return Response.json({ jsonrpc: "2.0", id, result: answers[method] });
  },
});
afterAll(() => web.stop(true));
const variable = "ISSUES_TOKEN";
const issues = {
  url: `http://127.0.0.1:${web.port}/mcp`,
  headers: { Authorization: `Bearer \${${variable}}` },
  looks: ["find"],
};
const token = { [variable]: "t0ken" };

test.concurrent("a tool that the user calls a look is asked before any plan, without a flag, behind an address too", async () => {
  await using place = open({ issues }, [looks('QUERY issues.find {"text": "crash"}'), says(talk("Issue 7 is open."))]);
  const trusted = await place.pai(["mcp", "trust", "issues", "-y"], { env: token });
  expect([trusted.code, trusted.stdout]).toEqual([0, "issues is on: 2 tools\n"]);
  expect(trusted.stderr).toContain("sends the headers Authorization; only look, by your word: find");
  const ran = await place.pai(["run", "-y", "--json", "which issues are open?"], { env: token });
  expect(JSON.parse(ran.stdout)).toMatchObject({ status: "answered", code: 0, looks: 1, actions: { failed: 0 } });
  expect(told(place)).toContain("issues.find (QUERY): Finds issues");
  expect(place.gemini.requests.at(-1)?.body).toContain("find: issue 7 is open");
  expect(told(place)).not.toContain("t0ken");
});

test.concurrent("a tool that nobody called a look is refused as one; a missing variable and a refusing server are one line", async () => {
  await using place = open({ issues }, [looks("QUERY issues.close {}"), says(talk("It is not closed."))]);
  await place.pai(["mcp", "trust", "issues", "-y"], { env: token });
  await place.pai(["run", "-y", "--json", "close it"], { env: token });
  expect(place.gemini.requests.at(-1)?.body).toContain("issues.close is a command, not a look");
  const without = await place.pai(["mcp", "trust", "issues", "-y"]);
  expect([without.code, without.stderr]).toEqual([3, expect.stringContaining("wants the variable ISSUES_TOKEN")]);
  const wrong = await place.pai(["mcp", "trust", "issues", "-y"], { env: { ISSUES_TOKEN: "x" } });
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("wants a login")]);
});

test.concurrent("a project may neither call a tool a look nor choose what of the environment leaves, and http is for this machine", async () => {
  await using place = openPlace([looks("QUERY issues.find {}"), says(talk("No."))], {
    ".mcp.json": JSON.stringify({ mcpServers: { issues } }),
  });
  const trusted = await place.pai(["mcp", "trust", "issues", "-y"], { env: token });
  expect([trusted.code, trusted.stderr]).toEqual([1, expect.stringContaining("wants a login")]);
  writeFileSync(join(place.root, ".mcp.json"), '{"mcpServers": {"x": {"url": "http://example.org/mcp"}}}');
  const listed = await place.pai(["mcp", "list"]);
  expect([listed.code, listed.stderr]).toEqual([3, expect.stringContaining(".mcp.json does not name MCP servers")]);
});

needs(copies, seenInside).describe("in the tool-loop", () => {
  test.concurrent("call_tool and query_tool reach the server; without --allow-run only the look does", async () => {
    const call = called(["call_tool", { tool: "t.add", input: { a: 41 } }]);
    const query = called(["query_tool", { tool: "t.add", input: { a: 1 } }]);
    await using place = open({ t: { ...program, looks: ["add"] } }, [
      call,
      query,
      says("Both."),
      call,
      query,
      says("One."),
    ]);
    await place.pai(["mcp", "trust", "t", "-y"]);
    const both = await place.pai(["run", "-y", "--allow-run", "--mode", "tool-loop", "--json", "add"]);
    expect(JSON.parse(both.stdout)).toMatchObject({ text: "Both.", code: 0 });
    expect(place.gemini.requests[1]?.body).toContain("add says 42");
    expect(place.gemini.requests[2]?.body).toContain("add says 2");
    await place.pai(["run", "-y", "--mode", "tool-loop", "--json", "add"]);
    const later = place.gemini.requests
      .slice(3)
      .map(({ body }) => body)
      .join("\n");
    expect([later.includes("add says 42"), later.includes("add says 2")]).toEqual([false, true]);
  });
});

const everything = Bun.which("mcp-server-everything");
needs("mcp-server-everything").test("the official test server over HTTP is trusted and called", async () => {
  const port = 20_000 + (process.pid % 20_000);
  const child = spawn(everything ?? "", ["streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: "ignore",
  });
  try {
    const url = `http://127.0.0.1:${port}/mcp`;
    while (
      !(await fetch(url).then(
        () => true,
        () => false,
      ))
    )
      await Bun.sleep(50);
    const step = 'QUERY s.echo {"message": "hi"}';
    await using place = open({ s: { url, looks: ["echo"] } }, [looks(step), says(talk("It said hi."))]);
    expect((await place.pai(["mcp", "trust", "s", "-y"])).stdout).toStartWith("s is on: ");
    const ran = await place.pai(["run", "-y", "--json", "echo hi"]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ status: "answered", looks: 1 });
    expect(place.gemini.requests.at(-1)?.body).toContain("Echo: hi");
  } finally {
    child.kill("SIGKILL");
  }
});
