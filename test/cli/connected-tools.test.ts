/** A workspace with tools of servers is the same workspace: its transactions lose nothing on the way. */
import { expect, test } from "bun:test";
import { connectTools } from "../../src/cli/compose/mcp-tools.ts";
import { type McpServer, pinTools } from "../../src/store/mcp-servers.ts";
import { makeHome } from "../store/temp-home.ts";

test("where tools are connected, a change stays that of who made it, and a signal is heard", async () => {
  const { places } = makeHome();
  const server: McpServer = {
    ...({ kind: "program", origin: "config.json", looks: [], env: {}, network: false } as const),
    ...{ name: "notes", command: "notes", args: [] },
  };
  pinTools(places, "/w", server, [{ name: "add", description: "Adds a note.", schema: {} }]);
  const asked: unknown[] = [];
  const transaction = {
    changes: [],
    apply: async (...given: unknown[]) => void asked.push(...given),
    onDisk: () => [],
  };
  const base = { context: { env: {} }, places, root: "/w", settings: { mcpServers: [server] } };
  const workspace = { root: "/w", begin: async () => transaction };
  const tools = connectTools(base as never, workspace as never, (() => {}) as never);
  const begun = await tools?.workspace.begin({ id: "r", task: "t" });
  const { signal } = new AbortController();
  await begun?.apply([], "command", signal);
  expect(asked).toEqual([[], "command", signal]);
  expect(begun?.onDisk?.()).toEqual([]);
});
