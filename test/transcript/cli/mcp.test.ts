/** `pai mcp` as a process, driven by the official clients of both eras of the protocol, and by lines that nobody should send. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as EarlierTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { finish, modify, plan, write } from "../../flows/plans.ts";
import { findBinary, openPlace, type Place } from "../harness.ts";

const files = { "a.txt": "one\n" };
const change = [plan({ steps: ["MODIFY a.txt"] }), modify("a.txt", ["one\n", "1\n"]) + finish("Counted.")];
const open = (answers: readonly string[] = change) =>
  openPlace(
    answers.map((text) => ({ text })),
    files,
  );

interface CallOptions {
  /** Gets what is told meanwhile. */
  readonly told?: string[];
  readonly signal?: AbortSignal;
}

interface Said {
  readonly isError: boolean;
  readonly data: { readonly [key: string]: unknown };
  readonly text: string;
}

/** The client of before 2026, and the one of now, which speaks as before or agrees on what is best. */
type Way = "earlier" | "legacy" | "auto";

/** Connects a client to `pai mcp` in the folder of the place; of both clients the same is asked. */
async function connect(place: Place, way: Way, args: readonly string[] = []) {
  const server = {
    command: findBinary(),
    args: ["mcp", ...args],
    cwd: place.root,
    env: { ...place.env },
    stderr: "ignore",
  } as const;
  const about = { name: "test", version: "1" };
  const earlier = async () => {
    const client = new EarlierClient(about);
    await client.connect(new EarlierTransport({ ...server, args: [...server.args] }));
    return client;
  };
  const later = async (mode: "legacy" | "auto") => {
    const client = new Client(about, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport({ ...server, args: [...server.args] }));
    return client;
  };
  const client = way === "earlier" ? await earlier() : await later(way);
  return {
    client,
    async call(name: string, input: Record<string, unknown> = {}, given: CallOptions = {}): Promise<Said> {
      const { told, signal } = given;
      const onprogress = ({ message }: { message?: string | undefined }) => void told?.push(message ?? "");
      const options = { ...(told === undefined ? {} : { onprogress }), ...(signal === undefined ? {} : { signal }) };
      const request = { name, arguments: input };
      const answer =
        client instanceof EarlierClient
          ? await client.callTool(request, undefined, options)
          : await client.callTool(request, options);
      const [first] = answer.content as readonly { readonly type: string; readonly text?: string }[];
      return {
        isError: answer.isError === true,
        data: (answer.structuredContent ?? {}) as Said["data"],
        text: first?.text ?? "",
      };
    },
  };
}

/** The words of the error of a call; "" if there is none. */
const refusal = (calling: Promise<Said>) => calling.then(() => "", String);

describe.each(["earlier", "legacy", "auto"] as const)("the client %s", (mode) => {
  test("plans, applies what was planned, gets the same outcome again, undoes and looks up", async () => {
    await using place = open();
    const { client, call } = await connect(place, mode);
    if (client instanceof Client)
      expect(client.getNegotiatedProtocolVersion()).toBe(mode === "auto" ? "2026-07-28" : "2025-11-25");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["plan", "apply", "undo", "history", "context"]);
    expect(tools.map(({ annotations }) => annotations?.readOnlyHint)).toEqual([true, false, false, true, true]);
    const told: string[] = [];
    const planned = await call("plan", { task: "count a.txt" }, { told });
    expect(planned.isError).toBe(false);
    expect(Object.keys(planned.data)).toEqual(["id", "plan", "promise"]);
    expect(JSON.parse(planned.text)).toEqual(planned.data);
    expect(planned.data["promise"]).toMatchObject({ expected: 2, at_most: 3 });
    // What is told right before the answer may come too late for this client.
    expect(told[0]).toBe("asking gemini:gemini-3.5-flash-lite: plan");
    expect(place.read("a.txt")).toBe("one\n");
    const { id } = planned.data;
    const applied = await call("apply", { id });
    expect(applied.data).toMatchObject({ ok: true, status: "unverified", text: "Counted." });
    expect(place.read("a.txt")).toBe("1\n");
    writeFileSync(join(place.root, "a.txt"), "later\n");
    expect((await call("apply", { id })).data).toEqual(applied.data);
    expect(place.read("a.txt")).toBe("later\n");
    const { run } = applied.data;
    const refused = await call("undo", { run });
    expect([refused.isError, refused.text.includes("changed since: a.txt")]).toEqual([true, true]);
    writeFileSync(join(place.root, "a.txt"), "1\n");
    const undone = await call("undo", { run });
    expect(undone.isError).toBe(false);
    expect(Object.keys(undone.data)).toEqual(["run", "commit", "dry_run", "changes", "merged"]);
    expect(place.read("a.txt")).toBe("one\n");
    expect((await call("undo", { run })).isError).toBe(true);
    const history = await call("history");
    expect(history.data["runs"]).toMatchObject([{ status: "undone" }, {}]);
    expect((await call("context", { task: "what is this?" })).data).toMatchObject({ mode: "single-shot" });
    await client.close();
  });
});

const half = modify("a.txt", ["one\n", "1\n"]) + finish("All of it is done.");

test.concurrent("what a plan did in part is no success, and is kept", async () => {
  await using place = open([plan({ steps: ["MODIFY a.txt", "WRITE b.txt"] }), half, finish("")]);
  const { client, call } = await connect(place, "auto");
  const { data, isError } = await call("apply", { id: (await call("plan", { task: "count" })).data["id"] });
  expect([isError, data["status"], data["code"], place.read("a.txt")]).toEqual([true, "partial", 15, "1\n"]);
  expect(data["undone"]).toMatchObject([{ action: "WRITE", target: "b.txt" }]);
  await client.close();
});

test.concurrent("a plan whose files have changed since is stale; an id that was never given, and wrong input, are told", async () => {
  await using place = open();
  const { client, call } = await connect(place, "legacy");
  const { data } = await call("plan", { task: "count a.txt" });
  writeFileSync(join(place.root, "a.txt"), "two\n");
  const stale = await call("apply", { id: data["id"] });
  expect([stale.isError, stale.data["code"]]).toEqual([true, 11]);
  expect(place.read("a.txt")).toBe("two\n");
  for (const [name, input, why] of [
    ["apply", { id: "nobody" }, "unknown plan: nobody"],
    ["apply", {}, "id must be a text"],
    ["plan", { task: 7 }, "task must be a text"],
    ["plan", { task: "x", only: "src" }, "only must be a list of texts"],
    ["plan", { task: "x", only: ["!src/**"] }, "cannot begin with"],
    ["plan", { task: "x", bogus: 1 }, 'plan takes no "bogus"; nothing was done; it takes task, only, checks'],
    ["plan", { task: "x", chekcs: ["make"] }, "did you mean checks?"],
    ["apply", { id: "x", only: ["src/**"] }, 'apply takes no "only"'],
    ["undo", {}, "run must be a text"],
    ["undo", { id: "x" }, 'undo takes no "id"; nothing was done; it takes run'],
    ["history", { limit: 3 }, 'history takes no "limit"; nothing was done; it takes no arguments'],
    ["context", { prompt: "x" }, "it takes task"],
  ] as const) {
    const answer = await call(name, input);
    expect([answer.isError, answer.text]).toEqual([true, expect.stringContaining(why)]);
    expect(answer.data["error"]).toMatchObject({ code: "usage" });
  }
  expect(place.gemini.requests.length).toBe(1);
  expect(await refusal(call("rm", {}))).toContain("unknown tool");
  await client.close();
});

test.concurrent("the rights are those of pai's own command line, whatever the caller asks for", async () => {
  const steps = ["WRITE src/b.txt", "WRITE c.txt", "RUN touch ran"];
  const script = `${write("src/b.txt", "b\n")}${write("c.txt", "c\n")}RUN::touch ran\n${finish()}`;
  await using place = open([plan({ steps: steps.slice(0, 1) }), script, plan({ steps }), script]);
  const { client, call } = await connect(place, "legacy", ["--only", "src/**", "--yes"]);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("run");
  const narrowed = await call("plan", { task: "write", only: ["c.txt"], checks: ["touch checked"] });
  const applied = await call("apply", { id: narrowed.data["id"] });
  expect(applied.isError).toBe(true);
  expect(Object.keys(place.tree())).toEqual(["a.txt"]);
  const ran = await call("run", { task: "write both" });
  expect(ran.isError).toBe(true);
  expect(Object.keys(place.tree())).toEqual(["a.txt"]);
  await client.close();
});

test.concurrent("a call that is cancelled is taken back, and so is one whose caller goes; broken lines are answered as faults", async () => {
  await using place = openPlace([{ text: change[0] ?? "" }, { text: change[1] ?? "", delayMs: 60_000 }], files);
  const { client, call } = await connect(place, "legacy");
  const { data } = await call("plan", { task: "count a.txt" });
  const stop = new AbortController();
  const applying = call("apply", { id: data["id"] }, { signal: stop.signal });
  await place.gemini.arrived(2);
  stop.abort();
  expect(await refusal(applying)).toContain("aborted");
  expect((await call("history")).isError).toBe(false);
  expect(place.read("a.txt")).toBe("one\n");
  await client.close();
  const stdin = [
    "nope",
    "[]",
    '{"id":1}',
    '{"jsonrpc":"2.0","id":{},"method":"ping"}',
    '{"jsonrpc":"2.0","id":7,"method":"x"}',
  ];
  const { stdout, code } = await place.pai(["mcp"], { stdin: `${stdin.join("\n")}\n` });
  expect(code).toBe(0);
  const codes = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).error.code);
  expect(codes.sort()).toEqual([-32600, -32600, -32600, -32601, -32700]);
  const version = { "io.modelcontextprotocol/protocolVersion": "2031-01-01" };
  const future = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: version } };
  const later = await place.pai(["mcp"], { stdin: `${JSON.stringify(future)}\n` });
  expect(JSON.parse(later.stdout).error).toMatchObject({ code: -32022, data: { supported: ["2026-07-28"] } });
});

test.concurrent("run is narrowed by only and checks of its call, within the rights of the command line", async () => {
  const steps = ["WRITE src/b.txt"];
  const script = write("src/b.txt", "b\n") + finish("Written.");
  await using place = open([plan({ steps }), script, plan({ steps }), script, script, plan({ steps }), script]);
  const { client, call } = await connect(place, "legacy", ["--yes", "--allow-run=test -f *"]);
  const outside = await call("run", { task: "write", only: ["docs/**"] });
  expect([outside.isError, outside.data["code"], Object.keys(place.tree())]).toEqual([true, 12, ["a.txt"]]);
  const asked = place.gemini.requests.length;
  const withheld = await call("run", { task: "write", checks: ["rm -r src"] });
  expect([withheld.isError, withheld.text]).toEqual([
    true,
    "pai mcp may not run these checks: rm -r src; nothing was done; it has to be started with --allow-run='rm -r src'",
  ]);
  expect(withheld.data["error"]).toMatchObject({ code: "command_refused" });
  expect(place.gemini.requests.length).toBe(asked);
  await client.close();
  await using other = open([plan({ steps }), script, script, plan({ steps }), script]);
  const held = await connect(other, "legacy", ["--yes", "--allow-run=test -f *"]);
  const failed = await held.call("run", { task: "write", checks: ["test -f never"] });
  expect([failed.isError, failed.data["code"], other.read("src/b.txt")]).toEqual([true, 9, null]);
  const passed = await held.call("run", { task: "write", only: ["src/**"], checks: ["test -f src/b.txt"] });
  expect([passed.isError, passed.data["status"], other.read("src/b.txt")]).toEqual([false, "verified", "b\n"]);
  await held.client.close();
});

test.concurrent("a plan can be applied by another process, once, and in its own folder only", async () => {
  await using place = open();
  const first = await connect(place, "legacy");
  const { id } = (await first.call("plan", { task: "count a.txt", only: ["a.txt"] })).data;
  await first.client.close();
  await using stranger = openPlace([], files);
  const elsewhere = await connect({ ...stranger, env: { ...place.env } }, "legacy");
  expect((await elsewhere.call("apply", { id })).text).toContain(`unknown plan: ${id}`);
  await elsewhere.client.close();
  const second = await connect(place, "legacy");
  const applied = await second.call("apply", { id });
  expect([applied.isError, place.read("a.txt")]).toEqual([false, "1\n"]);
  await second.client.close();
  const third = await connect(place, "legacy");
  expect((await third.call("apply", { id })).data).toEqual(applied.data);
  expect(place.gemini.requests.length).toBe(2);
  await third.client.close();
});

test.concurrent("with --ephemeral a plan is gone with its process; a kept one that was damaged is unknown", async () => {
  await using place = open([...change, ...change]);
  const passing = await connect(place, "legacy", ["--ephemeral"]);
  const { id } = (await passing.call("plan", { task: "count a.txt" })).data;
  await passing.client.close();
  const next = await connect(place, "legacy");
  expect((await next.call("apply", { id })).text).toContain("unknown plan");
  const kept = (await next.call("plan", { task: "count a.txt" })).data["id"];
  await next.client.close();
  const folder = join(place.home, ".local/state/pai-code/plans");
  for (const name of readdirSync(folder)) writeFileSync(join(folder, name), '{"at": 1e15, "plan": {"saved": 7}}');
  const last = await connect(place, "legacy");
  expect((await last.call("apply", { id: kept })).text).toContain("unknown plan");
  await last.client.close();
});

test.concurrent("calls leave no descriptor open, however many there are", async () => {
  await using place = open([...change, ...Array.from({ length: 8 }, () => change).flat()]);
  const server = await connect(place, "auto");
  const own = () =>
    readdirSync("/proc").filter((pid) => {
      try {
        return (
          readlinkSync(`/proc/${pid}/cwd`) === place.root && readFileSync(`/proc/${pid}/cmdline`).includes("\0mcp\0")
        );
      } catch {
        return false;
      }
    });
  const count = () => readdirSync(`/proc/${own()[0]}/fd`).length;
  await server.call("history");
  await server.call("plan", { task: "count" });
  const before = count();
  for (let at = 0; at < 60; at += 1)
    await server.call(at % 2 === 0 ? "history" : "context", at % 2 === 0 ? {} : { task: "count" });
  for (let at = 0; at < 4; at += 1) await server.call("plan", { task: `count ${at}` });
  expect(count() - before).toBeLessThan(5);
  await server.client.close();
});
