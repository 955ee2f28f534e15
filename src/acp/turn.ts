/** One turn of an editor's session: reads the message, then answers a command or shows a run and asks its questions. */
import { fileURLToPath } from "node:url";
import {
  type AgentContext,
  type ClientCapabilities,
  type ContentBlock,
  methods,
  type PermissionOption,
  type PromptRequest,
  type PromptResponse,
  type StopReason,
  type ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import { type ErrorCode, orNull, PaiError } from "../core/error.ts";
import type { Outcome } from "../core/outcome.ts";
import { type Plan, workOf } from "../core/plan/plan.ts";
import type { Decide, Decision, Question } from "../core/question.ts";
import { rowOf } from "../core/vocabulary.ts";
import { asBlock, openDoor, showCall } from "./door.ts";
import { createFace } from "./face.ts";
import type { EditorTalk, Host } from "./host.ts";

export interface TurnPlace {
  readonly showing: Host["showing"];
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  readonly talk: EditorTalk;
  /** The editor's own spelling of the folder. */
  readonly folder: string;
}

/** Reads a file's text by its path relative to the root; null: there is none. */
type Read = (path: string) => Promise<string | null>;

export const senderOf = ({ showing, client, talk }: Pick<TurnPlace, "showing" | "client" | "talk">) =>
  openDoor(showing, (update) => client.notify(methods.client.session.update, { sessionId: talk.id, update }));

/** Reads files as the editor has them; null: the editor cannot tell. */
function bufferOf({ client, capabilities, talk, folder }: TurnPlace): Read | null {
  if (capabilities.fs?.readTextFile !== true) return null;
  return async (path) => {
    const { content } = await client.request(methods.client.fs.readTextFile, {
      sessionId: talk.id,
      path: `${folder}/${path}`,
    });
    return content;
  };
}

/** Reads from the texts that came with the message before it asks the editor; parts of a file are ignored. */
function heldOr(readBuffer: Read | null, held: ReadonlyMap<string, string>, talk: EditorTalk): Read | null {
  if (held.size === 0) return readBuffer;
  return async (path) => {
    const text = held.get(path);
    const isPart = text !== undefined && (await talk.readText(path))?.includes(text) === true;
    return text === undefined || isPart ? ((await readBuffer?.(path)) ?? null) : text;
  };
}

const options: PermissionOption[] = [
  { optionId: "yes", name: "Yes, this once", kind: "allow_once" },
  { optionId: "no", name: "No, leave everything as it is", kind: "reject_once" },
];

const shownOnly: Decision = {
  accept: true,
  by: "policy",
  reason: "the plan is only shown; each change is asked about",
};

/** Whether a plan runs commands: it is then asked about as a whole, since no later question shows them. */
const runsCommands = (plan: Plan | null): boolean =>
  plan !== null &&
  ((plan.execution_plan?.checks.length ?? 0) > 0 ||
    workOf(plan).some(({ action }) => rowOf(action)?.kind === "command"));

/** Throws conflict for a file with changes that the editor has not saved. `readBuffer`: a file as the editor has it. */
async function refuseUnsaved(paths: readonly string[], readBuffer: Read | null, talk: EditorTalk): Promise<void> {
  if (readBuffer === null) return;
  const unsaved: string[] = [];
  for (const path of paths) {
    const [buffer, disk] = await Promise.all([
      readBuffer(path).catch(() => null),
      talk.readText(path).catch(() => null),
    ]);
    if (buffer !== null && disk !== null && toLines(buffer) !== toLines(disk)) unsaved.push(path);
  }
  if (unsaved.length === 0) return;
  throw new PaiError("conflict", `not saved in the editor: ${unsaved.join(", ")}`, {
    hint: "save or revert these files, then ask again; nothing was changed",
  });
}

/** The text without what editors leave out: byte order mark, last line ending, carriage returns. */
const toLines = (text: string) =>
  text
    .replace(/^\uFEFF/, "")
    .replaceAll("\r\n", "\n")
    .replace(/\n$/, "");

/** Asks the questions of a run in the editor; each approval is for one time. */
function decideByEditor(
  { showing, client, talk }: TurnPlace,
  face: ReturnType<typeof createFace>,
  readBuffer: Read | null,
  signal: AbortSignal,
): Decide {
  let asked = 0;

  async function ask(toolCall: ToolCallUpdate): Promise<Decision> {
    await face.shown();
    signal.throwIfAborted();
    const ended = Promise.withResolvers<never>();
    ended.promise.catch(() => {});
    const onAbort = () => ended.reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const permission = client.request(methods.client.session.requestPermission, {
        sessionId: talk.id,
        toolCall: showCall(toolCall, showing),
        options,
      });
      const { outcome } = await Promise.race([permission, ended.promise]);
      if (outcome.outcome === "cancelled") throw new PaiError("interrupted", "interrupted");
      if (outcome.optionId === "yes") return { accept: true, by: "user", reason: "yes" };
      return { accept: false, by: "user", reason: "no", feedback: null };
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  async function askInWords({ kind, text, diff }: Question): Promise<Decision> {
    asked += 1;
    const [title = ""] = text.split("\n");
    const shown = asBlock(showing.question(text, kind === "command"));
    return ask({
      toolCallId: `question-${asked}`,
      title,
      kind: kind === "command" || kind === "plan" ? "execute" : "edit",
      status: "pending",
      content: [
        {
          type: "content",
          content: { type: "text", text: diff === undefined ? shown : `${shown}\n\n${asBlock(diff, "diff")}` },
        },
      ],
    });
  }

  return async (question) => {
    switch (question.kind) {
      case "plan":
        return runsCommands(face.plan()) ? askInWords(question) : shownOnly;
      case "keep":
        return { accept: false, by: "policy", reason: "a failed run is taken back", feedback: null };
      case "batch": {
        await face.shown();
        const batch = face.batch();
        if (batch === null) return askInWords(question);
        const changed = batch.changes.filter(({ op }) => op !== "create" && op !== "mkdir");
        const paths = changed.map(({ from, path }) => from ?? path);
        await refuseUnsaved(paths, readBuffer, talk);
        return ask(batch.toolCall);
      }
      default:
        return askInWords(question);
    }
  };
}

/** Does one turn. Throws errors that the editor must show as such; a cancelled turn is a response. */
export async function doTurn(
  place: TurnPlace,
  { prompt }: PromptRequest,
  signal: AbortSignal,
): Promise<PromptResponse> {
  const { talk, folder } = place;
  const send = senderOf(place);
  const message = readPrompt(prompt, [folder, talk.root]);
  const [, name = "", words = ""] = /^\/(\S+)\s*([\s\S]*)$/.exec(message.text) ?? [];
  if (talk.commands.some((command) => command.name === name)) {
    const said = await talk.command(name, words.trim(), signal);
    await send({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: said } });
    return { stopReason: "end_turn" };
  }
  const readBuffer = bufferOf(place);
  await refuseUnsaved(message.mentions, heldOr(readBuffer, message.held, talk), talk);
  const readShown = (path: string) => talk.readText(path).then((whole) => whole && talk.cover(whole));
  const face = createFace({ send, readText: readShown, absolute: (path) => `${folder}/${path}` });
  const decide = decideByEditor(place, face, readBuffer, signal);
  const { text, mentions, context } = message;
  const outcome = await talk.run({ text, mentions, context, sink: face.sink, decide, signal });
  if (signal.aborted) {
    await face.finish(outcome);
    return { ...responseOf(outcome), stopReason: "cancelled" };
  }
  const { error } = outcome;
  // The turn could not take place: that becomes an error of the protocol, which the editor shows.
  if (error !== null && outcome.calls.made === 0 && reasons[error.code] === undefined) {
    await face.shown();
    throw new PaiError(error.code, error.message, { hint: error.hint });
  }
  await face.finish(outcome);
  const used = outcome.usage.input + outcome.usage.output;
  const cost = outcome.cost === null ? {} : { cost: { amount: outcome.cost, currency: "USD" } };
  await send({ sessionUpdate: "usage_update", used, size: talk.window, ...cost });
  return responseOf(outcome);
}

const reasons: Readonly<Partial<Record<ErrorCode, StopReason>>> = {
  interrupted: "cancelled",
  terminated: "cancelled",
  hangup: "cancelled",
  declined: "end_turn",
  budget_calls: "max_turn_requests",
  budget_tokens: "max_tokens",
  budget_cost: "max_tokens",
  reply_cut: "max_tokens",
  reply_blocked: "refusal",
};

/** `usage` is still a draft in the protocol; clients that do not know it ignore it. */
function responseOf(outcome: Outcome): PromptResponse {
  const { usage, cost, error, status, run } = outcome;
  const stopReason = error === null ? "end_turn" : (reasons[error.code] ?? "end_turn");
  const counted = {
    totalTokens: usage.input + usage.output,
    inputTokens: usage.input,
    outputTokens: usage.output,
    thoughtTokens: usage.thought,
    cachedReadTokens: usage.cached,
  };
  const response = { stopReason, usage: counted, _meta: { pai: { run, status, code: outcome.code, cost } } };
  return response;
}

/** The limit of a task file, too. A longer text fits into no model, and would stay in the session. */
const maxCharacters = 8 * 1024 * 1024;

/** The path of a `file:` URI relative to the root; null: it is not a file. Throws path_refused for one outside. */
function pathOf(uri: string, roots: readonly string[]): string | null {
  const absolute = uri.startsWith("/") ? uri : orNull(() => fileURLToPath(uri));
  if (absolute === null) return null;
  const root = roots.find((each) => absolute.startsWith(`${each}/`));
  if (root !== undefined) return absolute.slice(root.length + 1);
  throw new PaiError("path_refused", `${absolute} is outside ${roots[0]}`, {
    hint: "open a session in the folder of that file",
  });
}

/** Reads the blocks of a message. `roots`: the session's folder, as the editor spells it and its real path. */
function readPrompt(blocks: readonly ContentBlock[], roots: readonly string[]) {
  const said: string[] = [];
  const mentions = new Set<string>();
  /** Parts of files and texts without a file. */
  const context: string[] = [];
  /** By path: texts of files that came with the message, as the editor has them. */
  const held = new Map<string, string>();

  function readResource(uri: string, text: string | null): void {
    const path = pathOf(uri, roots);
    if (path === null) {
      if (text !== null) context.push(`From ${uri}:\n${text}`);
      else said.push(uri);
      return;
    }
    mentions.add(path);
    said.push(`@${path}`);
    if (text === null) return;
    if (uri.includes("#")) context.push(`The part of ${path} that the user selected:\n${text}`);
    else held.set(path, text);
  }

  for (const block of blocks) {
    if (block.type === "text") said.push(block.text);
    else if (block.type === "resource_link") readResource(block.uri, null);
    else if (block.type === "resource")
      readResource(block.resource.uri, "text" in block.resource ? block.resource.text : null);
    else throw new PaiError("usage", `pai reads text and files, not ${block.type}`);
  }
  const text = joinWords(said);
  if (text === "") throw new PaiError("usage", "the message is empty");
  if (context.reduce((sum, part) => sum + part.length, text.length) > maxCharacters)
    throw new PaiError("usage", "the message is longer than 8 MiB", { hint: "link files instead of pasting them" });
  return { text, mentions: [...mentions], context: context.length === 0 ? null : context.join("\n\n"), held };
}

/** Joins the pieces of a message: editors cut a sentence where it names a file. */
const joinWords = (said: readonly string[]): string =>
  said
    .reduce((all, each) => (all === "" || /\s$/.test(all) || /^\s/.test(each) ? all + each : `${all} ${each}`), "")
    .trim();
