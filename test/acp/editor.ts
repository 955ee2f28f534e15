/** An editor for tests: the protocol's own client on one side, pai on the other, a scripted provider behind it. */
import { readFileSync } from "node:fs";
import {
  type ClientCapabilities,
  client,
  methods,
  ndJsonStream,
  type PromptResponse,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { serveAcp } from "../../src/acp/serve.ts";
import type { Flags } from "../../src/cli/flags.ts";
import { openEditorHost } from "../../src/cli/serve/editor-host.ts";
import { makeContext } from "../cli/fake-context.ts";
import { filesIn, placeFiles } from "../flows/scripted.ts";
import { says } from "../models/chat/chat-wire.ts";
import { serve, sse } from "../models/loopback.ts";
import { type Home, makeHome } from "../store/temp-home.ts";

/** What the provider answers, call by call: a reply, an HTTP status, or (null) nothing, for ever. */
export type Reply = string | number | null;

export interface EditorSetup {
  readonly files?: Readonly<Record<string, string>>;
  readonly replies?: readonly Reply[];
  readonly flags?: Flags;
  readonly capabilities?: ClientCapabilities;
  /** Answers of the person, in order; then yes. "cancelled": the editor took the question away. */
  readonly answers?: readonly ("yes" | "no" | "cancelled")[];
  /** Files as the editor has them, where that is not what is on disk. */
  readonly buffers?: Readonly<Record<string, string>>;
  readonly home?: Home;
}

export async function openEditor(setup: EditorSetup) {
  const { files = {}, replies = [], flags = {}, capabilities = {}, answers = [], buffers = {} } = setup;
  const home = setup.home ?? makeHome();
  placeFiles(home.root, files);
  const provider = serve((n) => {
    const reply = replies[n];
    if (typeof reply === "number") return new Response("{}", { status: reply });
    return reply === null ? new Promise<Response>(() => {}) : sse([says(reply ?? "no reply is left")]);
  });
  const context = makeContext(home, {
    env: {
      HOME: home.places.home ?? "",
      PAI_BASE_URL: `${provider.origin}/v1`,
      OPENROUTER_API_KEY: "sk-or-0123456789abcdef0123",
    },
    flags: { model: "openrouter:a/b", ...flags },
  });
  const [toAgent, toClient] = [new TransformStream<Uint8Array>(), new TransformStream<Uint8Array>()];
  const serving = serveAcp(openEditorHost(context), { input: toAgent.readable, output: toClient.writable });
  const updates: SessionUpdate[] = [];
  const questions: RequestPermissionRequest[] = [];
  const asked: string[] = [];
  const connection = client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.fs.readTextFile, ({ params }) => {
      const name = params.path.replace(`${home.root}/`, "");
      asked.push(name);
      return { content: buffers[name] ?? readFileSync(params.path, "utf8") };
    })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      questions.push(params);
      const answer = answers[questions.length - 1] ?? "yes";
      if (answer === "cancelled") return { outcome: { outcome: "cancelled" } };
      return { outcome: { outcome: "selected", optionId: answer } };
    })
    .connect(ndJsonStream(toAgent.writable, toClient.readable));
  const { agent } = connection;
  await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: capabilities });
  return {
    agent,
    home,
    root: home.root,
    updates,
    questions,
    /** Files whose buffers were asked for. */
    asked,
    calls: () => provider.seen.length,
    open: async () => (await agent.request(methods.agent.session.new, { cwd: home.root, mcpServers: [] })).sessionId,
    prompt: (sessionId: string, text: string): Promise<PromptResponse> =>
      agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] }),
    setMode: (sessionId: string, modeId: string) => agent.request(methods.agent.session.setMode, { sessionId, modeId }),
    load: (sessionId: string, cwd = home.root) =>
      agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] }),
    cancel: (sessionId: string) => agent.notify(methods.agent.session.cancel, { sessionId }),
    /** The first update of this kind. */
    update: <Kind extends SessionUpdate["sessionUpdate"]>(kind: Kind) =>
      updates.find((each): each is Extract<SessionUpdate, { sessionUpdate: Kind }> => each.sessionUpdate === kind),
    /** All that was said, joined. */
    said: () =>
      updates
        .flatMap((update) =>
          update.sessionUpdate === "agent_message_chunk" && update.content.type === "text" ? [update.content.text] : [],
        )
        .join(""),
    files: () =>
      Object.fromEntries(Object.entries(filesIn(home.root)).filter(([name]) => !name.startsWith(".pai_history/"))),
    /** Ends as a closed editor does; resolves when pai has taken back what was under way. */
    async close() {
      connection.close();
      await toAgent.writable.close().catch(() => {});
      await serving;
      await provider.stop();
    },
  };
}

export type Editor = Awaited<ReturnType<typeof openEditor>>;
