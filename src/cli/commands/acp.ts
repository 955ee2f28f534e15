/** `pai acp`: an agent for editors that speak the Agent Client Protocol, over standard input and output. */
import { serveAcp } from "../../acp/serve.ts";
import type { Context } from "../command.ts";
import { openEditorHost } from "../serve/editor-host.ts";
import { openProtocolStreams } from "../serve/streams.ts";

export async function acpCommand(context: Context): Promise<number> {
  await serveAcp(openEditorHost(context), openProtocolStreams(context));
  return 0;
}
