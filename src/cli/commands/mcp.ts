/** `pai mcp`: serves pai's tools to other agents; `list`, `trust` and `revoke` manage MCP servers for pai. */

import { commandWording } from "../../core/approval-wording.ts";
import { PaiError } from "../../core/error.ts";
import { describeTool, isSameTool, type PinnedTool } from "../../core/tool-calls.ts";
import { serveMcp } from "../../mcp/serve.ts";
import { changedSince, type McpServer, pinnedTools, pinTools, projectServers } from "../../store/mcp-servers.ts";
import { counted } from "../../ui/amount.ts";
import { visible, visibleLine } from "../../ui/sanitize.ts";
import { showResult } from "../answer-document.ts";
import type { Context } from "../command.ts";
import { type Here, openHere } from "../compose/compose-task.ts";
import { listServers, startServer } from "../compose/mcp-tools.ts";
import { askYes, isApproved } from "../compose/view.ts";
import { openAgentHost } from "../serve/agent-host.ts";
import { openProtocolStreams } from "../serve/streams.ts";

const renderServer = (server: McpServer) =>
  visibleLine(server.kind === "address" ? server.url : [server.command, ...server.args].join(" "));

/** Rights of a server that the user should know before approving it, besides its address or command. */
function renderRights(server: McpServer): string {
  const rights = [
    server.kind === "program" && server.network ? "with the network" : [],
    server.kind === "address" && Object.keys(server.headers).length > 0
      ? `sends the headers ${Object.keys(server.headers).join(", ")}`
      : [],
    server.looks.length > 0 ? `only look, by your word: ${server.looks.join(", ")}` : [],
  ].flat();
  return visibleLine(rights.join("; "));
}

const describeServer = (server: McpServer) => ({
  name: server.name,
  ...(server.kind === "address"
    ? { url: server.url, headers: Object.keys(server.headers) }
    : { command: server.command, args: server.args, variables: Object.keys(server.env), network: server.network }),
  looks: server.looks,
  origin: server.origin,
});

function findServer(here: Here, name: string | undefined): McpServer {
  const servers = listServers(here.base);
  const found = servers.find((server) => server.name === name);
  if (found !== undefined) return found;
  throw new PaiError("usage", name === undefined ? "which server?" : `there is no MCP server ${name}`, {
    hint:
      servers.length === 0 ? "name one under mcpServers in config.json" : servers.map((each) => each.name).join(", "),
  });
}

function renderChanged({ base, workspace }: Here, server: McpServer): string | null {
  const changed = changedSince(base.places, workspace.root, server);
  return changed.length === 0 ? null : visibleLine(`changed since the last yes: ${changed.join(", ")}`);
}

async function askTools(context: Context, here: Here, server: McpServer): Promise<readonly PinnedTool[]> {
  const client = await startServer(server, here.startTool, context.env, context.signal).catch((thrown) => {
    throw thrown instanceof PaiError
      ? thrown
      : new PaiError("failed", `the MCP server ${server.name} did not start: ${(thrown as Error).message}`, {
          hint: renderServer(server),
        });
  });
  try {
    return await client.tools(context.signal);
  } finally {
    client.close();
  }
}

/** Everything that a model will see of a tool: an approval covers only what was shown. */
const renderTool = (tool: PinnedTool) => `  ${visible(describeTool(tool)).replaceAll("\n", "\n  ")}\n`;

function compareTools(before: readonly PinnedTool[], now: readonly PinnedTool[]): readonly string[] {
  const named = new Map(before.map((tool) => [tool.name, tool]));
  const lines: string[] = [];
  for (const tool of now) {
    const known = named.get(tool.name);
    named.delete(tool.name);
    if (known !== undefined && isSameTool(known, tool)) continue;
    if (known !== undefined) lines.push(`- ${describeTool(known)}`);
    lines.push(`+ ${describeTool(tool)}`);
  }
  return [...lines, ...[...named.keys()].map((name) => `- ${name}`)];
}

async function list(context: Context): Promise<number> {
  const here = await openHere(context);
  const servers = listServers(here.base).map((server) => ({
    server,
    tools: pinnedTools(here.base.places, here.workspace.root, server),
  }));
  const rows = servers.map(({ server, tools }) => {
    const changed = renderChanged(here, server);
    const off = changed === null ? "off; switch it on with:" : `off: ${changed}; see:`;
    const state = tools === null ? `${off} pai mcp trust ${server.name}` : counted(tools.length, "tool");
    const rights = renderRights(server);
    return `${server.name}  ${renderServer(server)}  (${server.origin}${rights === "" ? "" : `; ${rights}`})\n  ${state}\n`;
  });
  const data = servers.map(({ server, tools }) => ({
    ...describeServer(server),
    on: tools !== null,
    tools: tools?.map(({ name }) => name) ?? [],
  }));
  const text = rows.length === 0 ? "no MCP servers are configured\n" : rows.join("");
  return showResult(context, "mcp", { servers: data }, text);
}

async function requireYes(context: Context, server: McpServer, text: string): Promise<void> {
  const line = `pai mcp trust ${server.name} -y`;
  if (!isApproved(context, { needs: "pai mcp trust needs a yes", line })) await askYes(context, text);
}

/** A project's server is not started or contacted before the user has approved its description. */
async function requireStart(context: Context, here: Here, server: McpServer): Promise<void> {
  const more = [renderRights(server), renderChanged(here, server) ?? ""].filter(Boolean);
  context.err(`${server.name}: ${renderServer(server)}\n${more.map((line) => `  ${line}\n`).join("")}`);
  if (server.origin !== projectServers) return;
  await requireYes(context, server, commandWording.startServer(server.kind));
}

async function trust(context: Context, name: string | undefined): Promise<number> {
  const here = await openHere(context);
  const server = findServer(here, name);
  const { places } = here.base;
  const { root } = here.workspace;
  await requireStart(context, here, server);
  const tools = await askTools(context, here, server);
  const before = pinnedTools(places, root, server);
  const count = counted(tools.length, "tool");
  const changes = before === null ? [] : compareTools(before, tools);
  if (before !== null && changes.length === 0) {
    const data = { server: server.name, tools: tools.length };
    return showResult(context, "mcp", data, `${server.name} is on; nothing has changed\n`);
  }
  context.err(
    before === null ? tools.map(renderTool).join("") : `changed since the last yes:\n${visible(changes.join("\n"))}\n`,
  );
  await requireYes(context, server, commandWording.callTools(count, server.name));
  pinTools(places, root, server, tools);
  const names = tools.map((tool) => tool.name);
  return showResult(context, "mcp", { server: server.name, tools: names }, `${server.name} is on: ${count}\n`);
}

async function revoke(context: Context, name: string | undefined): Promise<number> {
  const here = await openHere(context);
  const server = findServer(here, name);
  pinTools(here.base.places, here.workspace.root, server, null);
  return showResult(context, "mcp", { server: server.name }, `${server.name} is off\n`);
}

export async function mcpCommand(context: Context): Promise<number> {
  const [word, name, ...more] = context.words;
  if (more.length > 0) throw new PaiError("usage", "pai mcp takes one server at a time");
  switch (word) {
    case undefined:
      await serveMcp(openAgentHost(context), openProtocolStreams(context));
      return 0;
    case "list":
      return list(context);
    case "trust":
      return trust(context, name);
    case "revoke":
      return revoke(context, name);
    default:
      throw new PaiError("usage", `pai mcp cannot ${word}`, {
        hint: "pai mcp, or pai mcp list, trust NAME, revoke NAME",
      });
  }
}
