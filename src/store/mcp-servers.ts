/** MCP servers of the user and of a project, and the tools of them that the user has said yes to. */
import { join } from "node:path";
import { digest } from "../core/digest.ts";
import { PaiError } from "../core/error.ts";
import { isFields, type Json } from "../core/model.ts";
import type { PinnedTool } from "../core/tool-calls.ts";
import type { Places } from "./places.ts";
import { readPrivate, readRegular, withLock, writePrivate } from "./safe-file.ts";

export interface McpServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Values of variables, besides those that every command gets. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether it may use the network. */
  readonly network: boolean;
  /** The file that names it. */
  readonly origin: "config.json" | ".mcp.json";
}

export const projectServers = ".mcp.json";
const maxBytes = 64 * 1024;
const nameShape = /^[A-Za-z0-9_-]{1,64}$/;

const isTexts = (value: Json | undefined): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

/** The servers of a value of `mcpServers`; null: it is not one. Others than programs (a URL) are passed over. */
export function readServers(value: Json, origin: McpServer["origin"]): readonly McpServer[] | null {
  if (!isFields(value)) return null;
  const servers: McpServer[] = [];
  for (const [name, server] of Object.entries(value)) {
    if (!nameShape.test(name) || !isFields(server)) return null;
    const { command, args = [], env = {}, network = false } = server;
    if (command === undefined && server["url"] !== undefined) continue;
    if (typeof command !== "string" || command.trim() === "" || !isTexts(args) || !isFields(env)) return null;
    const variables = Object.entries(env).filter((entry): entry is [string, string] => typeof entry[1] === "string");
    servers.push({ name, command, args, env: Object.fromEntries(variables), network: network === true, origin });
  }
  return servers;
}

/** The servers that a project names. A link is not followed. Throws config_invalid for a file of another form. */
export function readProjectServers(root: string): readonly McpServer[] {
  const text = readRegular(join(root, projectServers), { follow: false });
  if (text === null) return [];
  const wrong = () =>
    new PaiError("config_invalid", `${projectServers} does not name MCP servers`, {
      hint: 'it holds {"mcpServers": {"name": {"command": "…", "args": []}}}',
    });
  if (text.length > maxBytes) throw wrong();
  let json: Json;
  try {
    json = JSON.parse(text) as Json;
  } catch {
    throw wrong();
  }
  const servers = readServers(isFields(json) ? (json["mcpServers"] ?? {}) : null, projectServers);
  if (servers === null) throw wrong();
  return servers;
}

/** What a yes to a server holds for: another command, argument, variable, network or origin is another server. */
function identityOf(root: string, { name, command, args, env, network, origin }: McpServer): string {
  const where = origin === projectServers ? root : "";
  return digest(JSON.stringify([where, name, command, args, Object.entries(env).sort(), network]));
}

const fileIn = (stateDir: string): string => join(stateDir, "mcp.json");

function readAll(places: Places): Map<string, readonly PinnedTool[]> {
  const text = places.stateDir === null ? null : readPrivate(fileIn(places.stateDir));
  if (text === null) return new Map();
  try {
    const { servers } = JSON.parse(text) as { readonly servers: Readonly<Record<string, readonly PinnedTool[]>> };
    return new Map(Object.entries(servers).filter(([, tools]) => Array.isArray(tools)));
  } catch {
    return new Map();
  }
}

/** The tools of a server that the user said yes to; null: none, the server is off. */
export function pinnedTools(places: Places, root: string, server: McpServer): readonly PinnedTool[] | null {
  return readAll(places).get(identityOf(root, server)) ?? null;
}

/** Binds a yes to the server as it is configured and to its tools as they are; null takes it back. */
export function pinTools(places: Places, root: string, server: McpServer, tools: readonly PinnedTool[] | null): void {
  if (places.stateDir === null) {
    throw new PaiError("config_invalid", "there is no state folder to keep a yes in", {
      hint: "set HOME or PAI_STATE_DIR",
    });
  }
  const file = fileIn(places.stateDir);
  withLock(file, () => {
    const all = readAll(places);
    if (tools === null) all.delete(identityOf(root, server));
    else all.set(identityOf(root, server), tools);
    writePrivate(file, `${JSON.stringify({ version: 1, servers: Object.fromEntries(all) }, null, 2)}\n`);
  });
}
