/** MCP servers of the user and of a project, and which of their tools the user has approved. */
import { join } from "node:path";
import * as z from "zod/mini";
import { digest } from "../core/digest.ts";
import { PaiError } from "../core/error.ts";
import { type Fields, isFields, type Json } from "../core/model.ts";
import type { PinnedTool } from "../core/tool-calls.ts";
import type { Places } from "./places.ts";
import { readRegular } from "./safe-file.ts";
import { openStateFile } from "./state-file.ts";

interface NamedServer {
  readonly name: string;
  /** Tools that the user declares read-only; what the server itself says of them is only a claim. */
  readonly looks: readonly string[];
  readonly origin: "config.json" | ".mcp.json";
}

export interface ProgramServer extends NamedServer {
  readonly kind: "program";
  readonly command: string;
  readonly args: readonly string[];
  /** Variables besides those that every command gets. */
  readonly env: Readonly<Record<string, string>>;
  readonly network: boolean;
}

export interface AddressServer extends NamedServer {
  readonly kind: "address";
  readonly url: string;
  /** Header values as written; in the user's own file `${NAME}` is replaced by a variable. */
  readonly headers: Readonly<Record<string, string>>;
}

export type McpServer = ProgramServer | AddressServer;

export const projectServers = ".mcp.json";
const maxBytes = 64 * 1024;
const nameShape = /^[A-Za-z0-9_-]{1,64}$/;

const isTexts = (value: Json | undefined): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

/** Reads the value of `mcpServers`; null: it has another form. */
export function readServers(value: Json, origin: McpServer["origin"]): readonly McpServer[] | null {
  if (!isFields(value)) return null;
  const servers = Object.entries(value).map(([name, fields]) =>
    nameShape.test(name) && isFields(fields) ? readServer(name, fields, origin) : null,
  );
  return servers.every((server) => server !== null) ? servers : null;
}

function readServer(name: string, fields: Fields, origin: McpServer["origin"]): McpServer | null {
  const { command, args = [], env = {}, network = false, url, headers = {}, looks = [] } = fields;
  if (!isTexts(looks)) return null;
  const named = { name, origin, looks: origin === "config.json" ? looks : [] };
  if (command === undefined && typeof url === "string")
    return isServerUrl(url) && isFields(headers) ? { ...named, kind: "address", url, headers: textsOf(headers) } : null;
  if (typeof command !== "string" || command.trim() === "" || !isTexts(args) || !isFields(env)) return null;
  return { ...named, kind: "program", command, args, env: textsOf(env), network: network === true };
}

function isServerUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  return (
    url.protocol === "https:" || (url.protocol === "http:" && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname))
  );
}

const textsOf = (fields: Fields): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, string] => typeof entry[1] === "string"));

/** The servers of a project's `.mcp.json`; a link is not followed. Throws config_invalid for another form. */
export function readProjectServers(root: string): readonly McpServer[] {
  const text = readRegular(join(root, projectServers), { follow: false });
  if (text === null) return [];
  const wrong = () =>
    new PaiError("config_invalid", `${projectServers} does not name MCP servers`, {
      hint: 'it holds {"mcpServers": {"name": {"command": "…", "args": []}}}, or "url" with an https address',
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

const placeOf = (root: string, { origin, name }: McpServer): string =>
  digest(JSON.stringify([origin === projectServers ? root : "", name]));

/** All that an approval is bound to, by its name for people. Values may be secret, so only their digests are kept. */
function partsOf(server: McpServer): Readonly<Record<string, string>> {
  const named = (kind: string, of: Readonly<Record<string, string>>) =>
    Object.entries(of).map(([name, value]) => [`${kind} ${name}`, value] as const);
  const parts =
    server.kind === "address"
      ? [["address", server.url] as const, ...named("header", server.headers)]
      : [
          ["command", server.command] as const,
          ...server.args.map((value, at) => [`argument ${at + 1}`, value] as const),
          ...named("variable", server.env),
          ["network", String(server.network)] as const,
        ];
  return Object.fromEntries(parts.map(([name, value]) => [name, digest(value)]));
}

const pinned = z.object({ name: z.string(), description: z.string(), schema: z.json() });
const approval = z.object({ parts: z.record(z.string(), z.string()), tools: z.array(pinned) });
const approvals = z.object({ approved: z.record(z.string(), approval) });
const fileIn = ({ stateDir }: Places) => openStateFile(stateDir, "mcp.json", approvals, { approved: {} });

const approvalOf = (places: Places, root: string, server: McpServer) =>
  fileIn(places).read().approved[placeOf(root, server)] ?? null;

/** The parts of a server that are not as they were when it was approved, by name: "argument 2"; none if it never was. */
export function changedSince(places: Places, root: string, server: McpServer): readonly string[] {
  const before = approvalOf(places, root, server)?.parts;
  if (before === undefined) return [];
  const now = partsOf(server);
  return Object.keys({ ...now, ...before }).filter((name) => now[name] !== before[name]);
}

/** The approved tools of a server; null: not approved as it is now, so the server is off. */
export const pinnedTools = (places: Places, root: string, server: McpServer): readonly PinnedTool[] | null =>
  changedSince(places, root, server).length > 0 ? null : (approvalOf(places, root, server)?.tools ?? null);

/** Records the approval of a server with its current configuration and tools; null revokes it. */
export function pinTools(places: Places, root: string, server: McpServer, tools: readonly PinnedTool[] | null): void {
  if (places.stateDir === null)
    throw new PaiError("config_invalid", "no state folder to keep the approval in", {
      hint: "set HOME or PAI_STATE_DIR",
    });
  const place = placeOf(root, server);
  fileIn(places).edit(({ approved: { [place]: _, ...others } }) => ({
    approved: tools === null ? others : { ...others, [place]: { parts: partsOf(server), tools: tools as never } },
  }));
}
