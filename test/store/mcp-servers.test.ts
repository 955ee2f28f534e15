/** Approvals of MCP servers: bound to all of a server, and they tell which part of it changed since. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { changedSince, pinnedTools, pinTools, readServers } from "../../src/store/mcp-servers.ts";
import { makeHome } from "./temp-home.ts";

const tools = [{ name: "add", description: "Adds.", schema: {} }];
const serverOf = (fields: object) => {
  const [server] = readServers({ s: fields as never }, ".mcp.json") ?? [];
  if (server === undefined) throw new Error("no server");
  return server;
};
const first = { command: "node", args: ["a.mjs"], env: { TOKEN: "s3cret" } };

test.each([
  [{ ...first, args: ["--x", "a.mjs"] }, ["argument 1", "argument 2"]],
  [{ ...first, args: [] }, ["argument 1"]],
  [{ ...first, command: "bun", env: { TOKEN: "other" } }, ["command", "variable TOKEN"]],
  [{ ...first, network: true, env: {} }, ["network", "variable TOKEN"]],
  [
    { url: "https://h.example", headers: { A: "b" } },
    ["address", "argument 1", "command", "header A", "network", "variable TOKEN"],
  ],
])("what was changed since the yes is named, and there are no tools until the next: %j", (fields, changed) => {
  const { places } = makeHome();
  const server = serverOf(first);
  expect([pinnedTools(places, "/w", server), changedSince(places, "/w", server)]).toEqual([null, []]);
  pinTools(places, "/w", server, tools);
  expect([pinnedTools(places, "/w", server), changedSince(places, "/w", server)]).toEqual([tools, []]);
  const now = serverOf(fields);
  expect([pinnedTools(places, "/w", now), changedSince(places, "/w", now).toSorted()]).toEqual([null, changed]);
  // A yes in one project is none in another.
  expect(pinnedTools(places, "/other", server)).toBeNull();
  pinTools(places, "/w", now, tools);
  expect([pinnedTools(places, "/w", now), pinnedTools(places, "/w", server)]).toEqual([tools, null]);
  expect(readFileSync(join(places.stateDir, "mcp.json"), "utf8")).not.toMatch(/s3cret|other/);
  pinTools(places, "/w", now, null);
  expect([pinnedTools(places, "/w", now), changedSince(places, "/w", now)]).toEqual([null, []]);
});
