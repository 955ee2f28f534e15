/** The agent for editors: sessions and turns over the Agent Client Protocol, version 1, on one pair of streams. */
import {
  type AgentContext,
  type AgentRequestHandlersByMethod,
  type AgentRequestMethod,
  agent,
  type ClientCapabilities,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type PromptRequest,
  type PromptResponse,
  RequestError,
} from "@agentclientprotocol/sdk";
import { PaiError, toPaiError } from "../core/error.ts";
import type { ProtocolStreams } from "../core/ports.ts";
import type { Choice, EditorTalk, Host } from "./host.ts";
import { doTurn, senderOf } from "./turn.ts";

interface Open {
  readonly talk: EditorTalk;
  /** The editor's own spelling of the folder. */
  readonly folder: string;
  turn: AbortController | null;
}

/** No person sends a longer message, even with files. */
const maxMessageBytes = 64 * 1024 * 1024;

function toRequestError(thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown;
  const { code, message, hint } = toPaiError(thrown);
  const said = hint === null ? message : `${message}; ${hint}`;
  const data = { code, hint };
  if (code === "no_key") return RequestError.authRequired(data, said);
  if (["usage", "root_refused", "path_refused"].includes(code)) return RequestError.invalidParams(data, said);
  return RequestError.internalError(data, said);
}

type Send = ReturnType<typeof senderOf>;

async function greet(send: Send, talk: EditorTalk, notes: readonly string[]): Promise<void> {
  await send({
    sessionUpdate: "available_commands_update",
    availableCommands: [...talk.commands, ...talk.customs].map((each) => ({ ...each, input: { hint: "" } })),
  });
  for (const note of notes)
    await send({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: `${note}\n` } });
}

async function replay(send: Send, talk: EditorTalk): Promise<void> {
  for (const { request, text } of talk.turns) {
    await send({ sessionUpdate: "user_message_chunk", content: { type: "text", text: request } });
    if (text !== "") await send({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }
}

/** Serves one editor until it disconnects, then takes back every running turn, and resolves when they have ended. */
export async function serveAcp(host: Host, { input, output }: ProtocolStreams): Promise<void> {
  const { showing } = host;
  const sessions = new Map<string, Open>();
  const running = new Set<Promise<unknown>>();
  let capabilities: ClientCapabilities = {};

  const find = (id: string): Open => {
    const open = sessions.get(id);
    if (open === undefined) throw RequestError.invalidParams({ sessionId: id }, `unknown session: ${id}`);
    return open;
  };

  async function openSession(folder: string, id: string | null, client: AgentContext): Promise<Open> {
    if (!folder.startsWith("/")) throw RequestError.invalidParams({ cwd: folder }, "cwd must be an absolute path");
    const notes: string[] = [];
    const talk = await host.open(folder, id, (text) => notes.push(text));
    sessions.get(talk.id)?.turn?.abort(new PaiError("interrupted", "the session was opened again"));
    const open: Open = { talk, folder: folder.replace(/(.)\/+$/, "$1"), turn: null };
    sessions.set(talk.id, open);
    // Later, since the editor knows the session only once it has the answer.
    setTimeout(() => void greet(senderOf({ showing, client, talk }), talk, notes).catch(() => {}), 0);
    return open;
  }

  async function prompt(params: PromptRequest, client: AgentContext): Promise<PromptResponse> {
    const open = find(params.sessionId);
    if (open.turn !== null) throw RequestError.invalidRequest(undefined, "a turn of this session is under way");
    const turn = new AbortController();
    open.turn = turn;
    const { talk, folder } = open;
    const working = doTurn({ showing, client, capabilities, talk, folder }, params, turn.signal);
    running.add(working);
    try {
      return await working;
    } catch (thrown) {
      if (turn.signal.aborted) return { stopReason: "cancelled" };
      throw thrown;
    } finally {
      running.delete(working);
      open.turn = null;
    }
  }

  const interrupt = (open: Open | undefined): void =>
    open?.turn?.abort(new PaiError("interrupted", "cancelled in the editor"));

  const app = agent({ name: "pai" });
  /** Answers a request; what `handle` throws becomes an error of the protocol. */
  const on = <Method extends AgentRequestMethod>(
    method: Method,
    handle: AgentRequestHandlersByMethod[Method],
  ): void => {
    const guarded = async (context: unknown): Promise<unknown> => {
      try {
        return await (handle as typeof guarded)(context);
      } catch (thrown) {
        throw toRequestError(thrown);
      }
    };
    app.onRequest(method, guarded as AgentRequestHandlersByMethod[Method]);
  };

  on(methods.agent.initialize, ({ params }) => {
    capabilities = params.clientCapabilities ?? {};
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "pai", title: "pai", version: host.version },
      authMethods: [
        {
          type: "terminal",
          id: "pai-key",
          name: "Store an API key",
          description: "Runs pai key set, which asks for the key",
          args: ["key", "set"],
        },
      ],
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
    };
  });
  on(methods.agent.authenticate, () => {
    host.requireKey();
    return {};
  });
  on(methods.agent.session.new, async ({ params, client }) => {
    const { talk } = await openSession(params.cwd, null, client);
    return { sessionId: talk.id, ...describeSession(talk) };
  });
  on(methods.agent.session.load, async ({ params, client }) => {
    const { talk } = await openSession(params.cwd, params.sessionId, client);
    await replay(senderOf({ showing, client, talk }), talk);
    return describeSession(talk);
  });
  on(methods.agent.session.resume, async ({ params, client }) =>
    describeSession((await openSession(params.cwd, params.sessionId, client)).talk),
  );
  on(methods.agent.session.list, async ({ params }) => ({
    sessions: (await host.list(params.cwd ?? null)).map(({ id, root, title, changed }) => ({
      sessionId: id,
      cwd: root,
      title: showing.text(title),
      updatedAt: changed,
    })),
  }));
  on(methods.agent.session.close, ({ params }) => {
    const open = find(params.sessionId);
    interrupt(open);
    sessions.delete(params.sessionId);
    open.talk.close();
    return {};
  });
  on(methods.agent.session.setMode, ({ params }) => {
    find(params.sessionId).talk.setMode(params.modeId);
    return {};
  });
  on(methods.agent.session.setConfigOption, async ({ params }) => {
    const { talk } = find(params.sessionId);
    const value = String(params.value);
    if (params.configId === "mode") talk.setMode(value);
    else if (params.configId === "model") await talk.setModel(value);
    else throw new PaiError("usage", `unknown option: ${params.configId}`);
    return { configOptions: describeSession(talk).configOptions };
  });
  on(methods.agent.session.prompt, ({ params, client }) => prompt(params, client));
  app.onNotification(methods.agent.session.cancel, ({ params }) => interrupt(sessions.get(params.sessionId)));

  const connection = app.connect(ndJsonStream(output, input, { maxMessageBytes }));
  await connection.closed.catch(() => {});
  for (const open of sessions.values()) interrupt(open);
  await Promise.allSettled(running);
  for (const { talk } of sessions.values()) talk.close();
}

function describeSession({ mode, modes, model, models }: EditorTalk) {
  const toOption = (id: "mode" | "model", name: string, current: string, choices: readonly Choice[]) => ({
    id,
    name,
    category: id,
    type: "select" as const,
    currentValue: current,
    options: choices.map(({ name, description }) => ({ value: name, name, description })),
  });
  return {
    modes: { currentModeId: mode, availableModes: modes.map((each) => ({ ...each, id: each.name })) },
    configOptions: [toOption("mode", "Way of working", mode, modes), toOption("model", "Model", model, models)],
  };
}
