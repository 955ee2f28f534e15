/** `pai mcp`: plan, apply and undo as tools for other agents, by the Model Context Protocol on standard input and output. */
import { serveMcp } from "../../mcp/serve.ts";
import type { Context } from "../command.ts";
import { openAgentHost } from "../serve/agent-host.ts";
import { openProtocolStreams } from "../serve/streams.ts";

export async function mcpCommand(context: Context): Promise<number> {
  await serveMcp(openAgentHost(context), openProtocolStreams(context));
  return 0;
}
