/** Calls of tools that MCP servers have, as commands of the workspace: flows know of no servers. */
import type { AnyAction } from "../../core/action.ts";
import { PaiError, toPaiError } from "../../core/error.ts";
import type { Fields } from "../../core/model.ts";
import type { CommandOptions, CommandResult, Transaction, Workspace } from "../../core/ports.ts";
import { isSameTool, isToolCall, type PinnedTool, readToolCall, renderTools } from "../../core/tool-calls.ts";
import type { ToolClient } from "../../mcp/client.ts";
import { type McpServer, pinnedTools, readProjectServers } from "../../store/mcp-servers.ts";
import type { ToolProcess, ToolProgram } from "../../workspace/command/start-tool.ts";
import { version } from "../commands/version.ts";
import type { Base } from "./base.ts";

/** Starts a program in the sandbox; `network`: it may use it. */
export type StartTool = (program: ToolProgram, network: boolean) => Promise<ToolProcess>;

export interface ConnectedTools {
  /** The same workspace, whose transactions carry out calls of tools. */
  readonly workspace: Workspace;
  /** The actions, with the one that calls offered. */
  readonly offer: (actions: readonly AnyAction[]) => readonly AnyAction[];
  /** What a task is told of the tools. */
  readonly describe: (task: string) => string | null;
  readonly close: () => void;
}

/** The user's servers win over a project's of the same name. */
export function listServers({ settings, root }: Base): readonly McpServer[] {
  const own = settings.mcpServers;
  const names = new Set(own.map(({ name }) => name));
  return [...own, ...readProjectServers(root).filter(({ name }) => !names.has(name))];
}

export async function startServer(
  server: McpServer,
  start: StartTool,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<ToolClient> {
  const [{ connectServer }, { commandEnv }] = await Promise.all([
    import("../../mcp/client.ts"),
    import("../../workspace/command/command-env.ts"),
  ]);
  const program = { argv: [server.command, ...server.args], env: { ...commandEnv(env, []), ...server.env } };
  return connectServer(await start(program, server.network), version, signal);
}

/** null: there is no server that the user said yes to. */
export function connectTools(base: Base, workspace: Workspace, start: StartTool): ConnectedTools | null {
  const pins = new Map<string, { readonly server: McpServer; readonly tools: readonly PinnedTool[] }>();
  for (const server of listServers(base)) {
    const tools = pinnedTools(base.places, workspace.root, server);
    if (tools !== null) pins.set(server.name, { server, tools });
  }
  if (pins.size === 0) return null;
  const { env } = base.context;
  const clients = new Map<string, Promise<ToolClient>>();

  /** The running server, started at its first call. One whose tools changed since the yes is refused. */
  async function clientOf(server: McpServer, signal: AbortSignal): Promise<ToolClient> {
    const known = clients.get(server.name);
    if (known !== undefined) return known;
    const opening = startServer(server, start, env, signal);
    clients.set(server.name, opening);
    opening.catch(() => clients.delete(server.name));
    return opening;
  }

  async function call(command: string, { signal, timeoutMs }: CommandOptions): Promise<readonly [boolean, string]> {
    const asked = readToolCall(command);
    if (asked === null) return [false, 'unreadable: write CALL server.tool {"json": "input"}'];
    const pinned = pins.get(asked.server);
    const tool = pinned?.tools.find(({ name }) => name === asked.tool);
    if (pinned === undefined || tool === undefined) return [false, `there is no tool ${asked.server}.${asked.tool}`];
    const client = await clientOf(pinned.server, signal);
    const now = (await client.tools(signal)).find(({ name }) => name === tool.name);
    if (now === undefined || !isSameTool(now, tool)) {
      return [false, `${asked.server} changed its tool ${tool.name} since you said yes to it; see: pai mcp list`];
    }
    const { ok, text } = await client.call(tool.name, asked.input satisfies Fields, { timeoutMs, signal });
    return [ok, text];
  }

  async function run(command: string, options: CommandOptions): Promise<CommandResult> {
    const began = performance.now();
    const [ok, output] = await call(command, options).catch((thrown): readonly [boolean, string] => {
      options.signal.throwIfAborted();
      if (thrown instanceof PaiError) throw thrown;
      return [false, toPaiError(thrown).message];
    });
    const ms = performance.now() - began;
    return { command, exit: ok ? 0 : 1, timedOut: false, output, ms, changes: [], notes: [] };
  }

  function end(): void {
    for (const opening of clients.values()) opening.then((client) => client.close()).catch(() => {});
    clients.clear();
  }

  const withCalls = (transaction: Transaction): Transaction => ({
    id: transaction.id,
    apply: (changes) => transaction.apply(changes),
    run: (command, options) => (isToolCall(command) ? run(command, options) : transaction.run(command, options)),
    get changes() {
      return transaction.changes;
    },
    get commandPaths() {
      return transaction.commandPaths;
    },
    // Servers end with the run they were started for.
    rollback: () => transaction.rollback().finally(end),
    close: () => transaction.close().finally(end),
  });

  return {
    workspace: { ...workspace, begin: async (started) => withCalls(await workspace.begin(started)) },
    offer: (actions) => actions.map((action) => (action.name === "CALL" ? { ...action, offered: true } : action)),
    describe: (task) => renderTools(new Map([...pins].map(([name, { tools }]) => [name, tools])), task),
    close: end,
  };
}
