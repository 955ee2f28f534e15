/** Connects MCP servers: their tools become commands of the workspace and looks, so that flows need not know them. */

import { defineQuery } from "../../actions/command.ts";
import { noEffects } from "../../core/change.ts";
import { PaiError, toPaiError } from "../../core/error.ts";
import type { AnyAction, CommandOptions, CommandResult, ServerLink, Transaction, Workspace } from "../../core/ports.ts";
import { nameSome } from "../../core/suggest.ts";
import { isSameTool, isToolCall, readToolCall, renderTools, type ServerTools } from "../../core/tool-calls.ts";
import { type CallAnswer, connectServer, type Patience, type ToolClient } from "../../mcp/client.ts";
import { openAddress } from "../../mcp/http-link.ts";
import { parseEndpoint, tlsOf } from "../../models/wire/endpoint.ts";
import { type AddressServer, type McpServer, pinnedTools, readProjectServers } from "../../store/mcp-servers.ts";
import type { Environment } from "../../store/places.ts";
import { commandEnv } from "../../workspace/command/command-env.ts";
import type { OpenedWorkspace } from "../../workspace/open.ts";
import { version } from "../commands/version.ts";
import type { Base } from "./base.ts";

type StartTool = OpenedWorkspace["startTool"];

/** Configured servers; the user's win over a project's of the same name. */
export function listServers({ settings, root }: Base): readonly McpServer[] {
  const own = settings.mcpServers;
  const names = new Set(own.map(({ name }) => name));
  return [...own, ...readProjectServers(root).filter(({ name }) => !names.has(name))];
}

/** Configured servers, without those of a project's unusable file, which `pai mcp list` reports. */
function listUsable(base: Base): readonly McpServer[] {
  try {
    return listServers(base);
  } catch (thrown) {
    if (toPaiError(thrown).code !== "config_invalid") throw thrown;
    return base.settings.mcpServers;
  }
}

/** Files that a tool wrote are not in the project, whatever its answer says. */
const notesOf = ({ thrownAway }: CallAnswer): readonly string[] =>
  thrownAway.length === 0
    ? []
    : [`what the tool wrote is thrown away with its copy of the project: ${nameSome(thrownAway)}`];

const renderAnswer = (answer: CallAnswer): string => [answer.text, ...notesOf(answer)].join("\n");

const refuse = (text: string): CallAnswer => ({ ok: false, text, thrownAway: [] });

const queryMs = 60_000;

/** null: the user has approved no server. */
export function connectTools(base: Base, workspace: Workspace, start: StartTool) {
  const trusted = new Map<string, ServerTools & { readonly server: McpServer }>();
  for (const server of listUsable(base)) {
    const tools = pinnedTools(base.places, workspace.root, server);
    if (tools !== null) trusted.set(server.name, { server, tools, looks: server.looks });
  }
  if (trusted.size === 0) return null;
  const hasLooks = [...trusted.values()].some(({ looks }) => looks.length > 0);
  const { env } = base.context;
  const clients = new Map<string, Promise<ToolClient>>();

  async function clientOf(server: McpServer, signal: AbortSignal): Promise<ToolClient> {
    const known = clients.get(server.name);
    if (known !== undefined) return known;
    const opening = startServer(server, start, env, signal);
    clients.set(server.name, opening);
    opening.catch(() => clients.delete(server.name));
    return opening;
  }

  function find(command: string) {
    const asked = readToolCall(command);
    if (asked === null) return refuse('unreadable: write server.tool {"json": "input"}');
    const from = trusted.get(asked.server);
    const tool = from?.tools.find(({ name }) => name === asked.tool);
    if (from === undefined || tool === undefined) return refuse(`unknown tool: ${asked.server}.${asked.tool}`);
    return { from, tool, input: asked.input };
  }

  /** A tool that has changed since the approval is not called. */
  async function call(command: string, { signal, timeoutMs }: Patience): Promise<CallAnswer> {
    const found = find(command);
    if ("ok" in found) return found;
    const { from, tool, input } = found;
    const client = await clientOf(from.server, signal);
    const now = (await client.tools(signal)).find(({ name }) => name === tool.name);
    if (now === undefined || !isSameTool(now, tool)) {
      const { name } = from.server;
      return refuse(`${name} changed its tool ${tool.name} since you said yes to it; see: pai mcp trust ${name}`);
    }
    return client.call(tool.name, input, { timeoutMs, signal });
  }

  /** A failing server becomes an answer; an interrupt is thrown. */
  const callSafely = (command: string, options: Patience): Promise<CallAnswer> =>
    call(command, options).catch((thrown): CallAnswer => {
      options.signal.throwIfAborted();
      if (thrown instanceof PaiError) throw thrown;
      return refuse(toPaiError(thrown).message);
    });

  async function run(command: string, options: CommandOptions): Promise<CommandResult> {
    const began = performance.now();
    const answer = await callSafely(command, options);
    const ms = performance.now() - began;
    const held = { level: null, network: true, isCopy: false, withheld: [], hidden: [], wall: null };
    const effects = { ...noEffects, notes: notesOf(answer) };
    return { exit: answer.ok ? 0 : 1, timedOut: false, output: renderAnswer(answer), ms, held, effects };
  }

  async function query(command: string, signal: AbortSignal): Promise<CallAnswer> {
    const found = find(command);
    if ("ok" in found) return found;
    const { from, tool } = found;
    if (!from.looks.includes(tool.name))
      return refuse(
        `${from.server.name}.${tool.name} is a command, not a look: it is called by CALL, as a step of the plan if there is one (call_tool)`,
      );
    const answer = await callSafely(command, { signal, timeoutMs: queryMs });
    return { ...answer, text: renderAnswer(answer) };
  }

  function offer(actions: readonly AnyAction[]): readonly AnyAction[] {
    return actions.map((action) => {
      if (action.name === "CALL") return { ...action, offered: true };
      return action.name === "QUERY" && hasLooks ? { ...defineQuery(query), offered: true } : action;
    });
  }

  function end(): void {
    for (const opening of clients.values()) opening.then((client) => client.close()).catch(() => {});
    clients.clear();
  }

  const withCalls = (transaction: Transaction): Transaction => ({
    ...transaction,
    // A call of a tool is never a check, since checks may run twice, and on a copy.
    run: (command, options) =>
      isToolCall(command) && options.sandbox === "proposal" ? run(command, options) : transaction.run(command, options),
    get changes() {
      return transaction.changes;
    },
    // Servers end with their run.
    rollback: () => transaction.rollback().finally(end),
    close: () => transaction.close().finally(end),
  });

  return {
    workspace: {
      ...workspace,
      begin: async (started) => withCalls(await workspace.begin(started)),
    } satisfies Workspace,
    offer,
    describe: (task: string) => renderTools(trusted, task),
    close: end,
  };
}

/** Throws sandbox_missing if no sandbox keeps a program off the project, config_invalid for an unusable address. */
export async function startServer(server: McpServer, start: StartTool, env: Environment, signal: AbortSignal) {
  if (server.kind === "address") return connectServer(openServerAddress(server, env), version, signal);
  const program = { argv: [server.command, ...server.args], env: { ...commandEnv(env, []), ...server.env } };
  return connectServer(await start(program, server.network), version, signal);
}

function openServerAddress(server: AddressServer, env: Environment): ServerLink {
  const { origin } = new URL(server.url);
  const { proxy } = parseEndpoint(origin, env);
  // Without the environment: the user's client certificate is for the model's provider.
  const tls = tlsOf(parseEndpoint(origin, {}));
  const headers = Object.fromEntries(
    Object.entries(server.headers).map(([name, value]) => [name, fillVariables(server, value, env)]),
  );
  const send = (init: RequestInit) => fetch(server.url, { ...init, ...tls, redirect: "manual", timeout: false, proxy });
  return openAddress(headers, send);
}

/** Replaces `${NAME}`, but only in the user's own file: no project chooses which variables leave the machine. */
function fillVariables(server: AddressServer, text: string, env: Environment): string {
  if (server.origin !== "config.json") return text;
  return text.replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = env[name];
    if (value !== undefined) return value;
    throw new PaiError("config_invalid", `the MCP server ${server.name} wants the variable ${name}, which is not set`, {
      hint: "set it, or write the header's value into config.json",
    });
  });
}
