/** Starts a configured MCP server, or connects to one that is already running. */

import { PaiError } from "../../core/error.ts";
import { connectServer, type ServerLink, type ToolClient } from "../../mcp/client.ts";
import { openAddress } from "../../mcp/http-link.ts";
import { parseEndpoint, tlsOf } from "../../models/wire/endpoint.ts";
import { createSseReader } from "../../models/wire/sse.ts";
import type { AddressServer, McpServer, ProgramServer } from "../../store/mcp-servers.ts";
import { commandEnv } from "../../workspace/command/command-env.ts";
import type { OpenedWorkspace } from "../../workspace/open.ts";
import { version } from "../commands/version.ts";

export type StartTool = OpenedWorkspace["startTool"];

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws sandbox_missing if no sandbox keeps a program off the project, config_invalid for an unusable address. */
export async function startServer(
  server: McpServer,
  start: StartTool,
  env: Environment,
  signal: AbortSignal,
): Promise<ToolClient> {
  const link = server.kind === "program" ? startProgram(server, start, env) : openServerAddress(server, env);
  return connectServer(await link, version, signal);
}

async function startProgram(server: ProgramServer, start: StartTool, env: Environment): Promise<ServerLink> {
  const program = { argv: [server.command, ...server.args], env: { ...commandEnv(env, []), ...server.env } };
  return start(program, server.network);
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
  return openAddress({ headers, send, createReader: createSseReader });
}

/**
 * Replaces `${NAME}` by a variable, but only in the user's own file: a project must not choose which variables leave
 * the machine.
 */
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
