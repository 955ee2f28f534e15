/** tool-loop: ask, perform, repeat until a reply holds no call; with native tool calls, one batch for each reply. */

import { grantsSome } from "../../core/command/run-patterns.ts";
import { fence } from "../../core/data-fence.ts";
import { digest } from "../../core/digest.ts";
import { PaiError } from "../../core/error.ts";
import { type Call, type CallResult, fieldOf, type Message, type Tool } from "../../core/model.ts";
import type { RelPath } from "../../core/path.ts";
import type { AnyAction } from "../../core/ports.ts";
import { brokenOff } from "../../core/session/conversation.ts";
import { hintFor } from "../acting.ts";
import { ask, isTooLong, type Reply } from "../ask.ts";
import { makeBriefing, type Part, renderPiped } from "../briefing/briefing.ts";
import { noteSent, pathOfRead, readKnowledge, readMentioned, renderKnowledge } from "../briefing/sources.ts";
import { tellMeanwhile } from "../changes/meanwhile.ts";
import { checksOf } from "../checks/admit.ts";
import { describeCheck, describeFailed, renderBaseline, runChecks } from "../checks/checks.ts";
import { hasOwnWork } from "../commands/commands.ts";
import { renderSince } from "../dialogue.ts";
import { renderAnswerForm, renderLearning } from "../ending/ending.ts";
import { noteAnswer, showMentioned } from "../evidence.ts";
import { perform } from "../perform.ts";
import { loopPrompt } from "../prompts/prompts.ts";
import type { Flow, Run } from "../run.ts";
import { compactConversation, compactIfNeeded, fitResults } from "./compact.ts";
import { createInnerTools, explore, innerToolsOf, toTools } from "./inner-tools.ts";

/** Calls that a run may make, unless the user sets another cap. */
export const maxTurns = 50;

function toolsOf(run: Run, actions: readonly AnyAction[]): readonly Tool[] {
  const { interactive, shell } = run;
  const hasCommands = interactive || grantsSome(shell.allowRun);
  const shown = actions.filter(({ offered, kind }) => offered && (kind !== "command" || hasCommands));
  return [...toTools(shown), ...innerToolsOf(run)];
}

/** Turns a call of a tool into a call of its action; an unknown tool stays. */
function toActionCall(call: Call, byTool: ReadonlyMap<string, AnyAction>): Call {
  const action = byTool.get(call.name) ?? byTool.get(call.name.toLowerCase());
  return action === undefined ? call : { id: call.id, name: action.name, input: action.fromTool(call.input) };
}

const notRun = (calls: readonly Call[], why: string): CallResult[] =>
  calls.map(({ id, name }) => ({ id, name, ok: false, text: `not run: ${why}` }));

interface Loop {
  readonly run: Run;
  readonly tools: readonly Tool[];
  readonly byTool: ReadonlyMap<string, AnyAction>;
  readonly inner: ReturnType<typeof createInnerTools>;
  /** Results of earlier calls, to tell the model when it repeats itself. */
  readonly seen: Map<string, string>;
}

const renderNames = (tools: readonly Tool[]) => `the tools are ${tools.map(({ name }) => name).join(", ")}`;

async function doCalls({ run, tools, byTool, inner, seen }: Loop, calls: readonly Call[]) {
  const results = new Map<string, CallResult>();
  const outer = calls.filter(({ name }) => !inner.has(name)).map((call) => toActionCall(call, byTool));
  const { reports } = await perform(run, outer, null);
  // The inner tools perform looks of their own, which settle what was wished.
  const wished = await showWished(run);
  const known: ReadonlySet<string> = new Set([...byTool.values()].map(({ name }) => name));
  for (const report of reports) {
    const { id, ok } = report;
    const text = known.has(report.name) ? report.text : `unknown tool: ${report.name}; ${renderNames(tools)}`;
    results.set(id, { id, name: "", ok, text });
    await noteAnswer(run, report);
  }
  for (const result of await inner.run(calls.filter(({ name }) => inner.has(name)))) results.set(result.id, result);
  const all = calls.map((call) => {
    const { ok, text } = results.get(call.id) ?? { ok: false, text: "not run" };
    const key = JSON.stringify([call.name, call.input]);
    const said = seen.get(key) === text ? `${text}\n(the same call had this same result before)` : text;
    seen.set(key, text);
    return { id: call.id, name: call.name, ok, text: said };
  });
  return { results: all, wished };
}

/** Cuts the results to the window. A file whose READ was cut does not count as seen. */
function fit({ run, byTool }: Loop, calls: readonly Call[], results: readonly CallResult[]): readonly CallResult[] {
  const fitting = fitResults(run.calling, results);
  for (const [at, call] of calls.entries()) {
    if (fitting[at]?.text === results[at]?.text) continue;
    const { name, input } = toActionCall(call, byTool);
    const path = pathOfRead(run, { name, target: fieldOf(input, "path") });
    if (path !== null) run.overlay.forget(path);
  }
  return fitting;
}

/** The files that the person's words at a diff name. The conversation shows them, and the dialogue of other modes does not. */
async function showWished(run: Run): Promise<string> {
  const { dialogue, changing } = run;
  const { files } = dialogue;
  dialogue.files = new Map();
  const shown = await showMentioned(run, changing.wish?.words ?? "");
  dialogue.files = files;
  return shown;
}

/** The results; the last one also tells what somebody else did to files of the run, and shows the files in `wished`. */
async function tellWithLast(run: Run, results: readonly CallResult[], wished: string): Promise<readonly CallResult[]> {
  const last = results.at(-1);
  const news = [await tellMeanwhile(run), wished].filter(Boolean).join("\n\n");
  const isNews = last !== undefined && news !== "";
  return isNews ? results.with(-1, { ...last, text: `${last.text}\n\n${news}` }) : results;
}

/** The system prompt. It must stay the same for a whole turn: a change would void the provider's cache and thoughts. */
const renderSystem = (knowledgeText: string): string => [loopPrompt(), knowledgeText].filter(Boolean).join("\n\n");

/** The instructions of every new conversation, tools included, without the project's knowledge files. */
export const instructionsOf = async (run: Run): Promise<string> =>
  renderSystem("") + JSON.stringify(toolsOf(run, run.acting.actions));

function add(run: Run, message: Message): void {
  const { messages, tasks } = run.conversation;
  run.conversation = { messages: [...messages, message], tasks };
  run.emit({ type: "message.added", message });
}

/** Characters kept of a reply that broke off, since every later request of the session holds them. */
const maxBrokenOff = 8000;

async function askTurn(run: Run, tools: readonly Tool[], knowledgeText: string): Promise<Reply> {
  const { conversation } = run;
  const system = renderSystem(knowledgeText);
  const question = { purpose: "turn", system, messages: conversation.messages, tools, format: null } as const;
  let heard = { n: 0, text: "" };
  try {
    return await ask(run, question, (text, n) => {
      heard = { n, text: heard.n === n ? heard.text + text : text };
      run.emit({ type: "model.delta", n, channel: "reply", text });
    });
  } catch (thrown) {
    const { text } = heard;
    const start = text.length > maxBrokenOff ? `${text.slice(0, maxBrokenOff)}\n[…]` : text;
    if (text.trim() !== "") add(run, { role: "assistant", text: `${start}${brokenOff}`, calls: [], native: null });
    throw thrown;
  }
}

/** Asks; when the provider finds the conversation too long, summarizes it and asks once more. */
async function askFitting(run: Run, tools: readonly Tool[], knowledgeText: string): Promise<Reply> {
  try {
    return await askTurn(run, tools, knowledgeText);
  } catch (thrown) {
    if (!isTooLong(thrown) || run.conversation.messages.length <= 2) throw thrown;
    await compactConversation(run);
    return askTurn(run, tools, knowledgeText);
  }
}

/** How many replies in a row may reach their limit without any text. */
const maxSilent = 3;

/** After a reply that was cut: asks for the rest. Throws reply_cut when the last replies held no text at all. */
function goOn(run: Run, cut: readonly string[]): void {
  const silent = cut.slice(-maxSilent).filter((text) => text.trim() === "");
  if (silent.length === maxSilent) {
    throw new PaiError("reply_cut", `${maxSilent} replies in a row reached their limit before they said anything`, {
      hint: "ask for less at once, or choose a model that may write more",
    });
  }
  run.emit({ type: "notice", level: "warning", code: "reply_cut", text: "the reply was cut: asking for the rest" });
  add(run, { role: "assistant", text: `${cut.at(-1)}\n(cut off)`.trimStart(), calls: [], native: null });
  const asked =
    "Your reply was cut at its limit. Go on where it ended; send a call that was cut again, in smaller pieces.";
  add(run, { role: "user", text: asked });
}

/** The message of a later turn: what became of the turns before, context, files and checks, then the request. */
async function composeTurn(run: Run): Promise<readonly Part[]> {
  const past = renderSince(run, ({ mode }) => mode === "tool-loop");
  const files = await readMentioned(run);
  noteSent(run, files);
  const say = (kind: Part["kind"], text: string): readonly Part[] => (text === "" ? [] : [{ kind, text, file: null }]);
  return [
    ...say("conversation", past),
    ...say("context", renderPiped(run)),
    ...files.map((file): Part => ({ kind: "file", text: fence("file", { path: file.path }, file.shown), file })),
    ...say("checks", renderBaseline(run.checking)),
    ...say("request", run.task.text),
  ];
}

/** The user's message; the first one holds a briefing without the knowledge files, which are in the instructions. */
export async function composeMessage(run: Run): Promise<readonly Part[]> {
  if (run.conversation.messages.length > 0) return composeTurn(run);
  const { parts } = await makeBriefing(run);
  return parts.filter(({ kind }) => kind !== "knowledge");
}

/** Notes the files of earlier turns, so that changes by others are told; those shown whole may be replaced unread. */
async function noteShown({ overlay, conversation }: Run, parts: readonly Part[]): Promise<void> {
  for (const [path, hash] of Object.entries(conversation.known ?? {}) as [RelPath, string][]) {
    const blob = await overlay.read(path).catch(() => null);
    if (blob?.kind === "file" && digest(blob.bytes) === hash) overlay.show(path, blob.bytes);
  }
  for (const { file } of parts) {
    if (file !== null && file.part === undefined && file.shown === file.text) overlay.show(file.path, file.bytes);
  }
}

export const toolLoop: Flow = async (run) => {
  if (run.calling.model.parts !== undefined) {
    throw new PaiError("usage", `tool-loop makes no plan, so it has no use for two models: ${run.calling.model.id}`, {
      hint: `name one: --model ${run.calling.model.parts.work.id}, or choose another way of working with --mode`,
    });
  }
  const { ledger, calling } = run;
  const at_most = calling.caps.calls ?? maxTurns;
  const parts = await composeMessage(run);
  await noteShown(run, parts);
  add(run, { role: "user", text: parts.map(({ text }) => text).join("\n\n") });
  const { actions } = run.acting;
  const knowledgeFiles = await readKnowledge(run);
  const knowledgeText = [renderKnowledge(run, knowledgeFiles), renderLearning(run.ending), renderAnswerForm(run.ending)]
    .filter((part) => part !== "")
    .join("\n\n");
  // By both names, since models that know scripts and plans also call actions by the names in these.
  const byTool = new Map(
    actions.flatMap((action) => [action.tool, action.name].map((name) => [name, action] as const)),
  );
  const tools = toolsOf(run, actions);
  const inner = createInnerTools(run, (task) => explore(run, task, actions));
  const findRest = watchEnd(run);
  const loop: Loop = { run, tools, byTool, inner, seen: new Map() };
  /** Texts of the last replies in a row that were cut before any call was whole. */
  let cut: readonly string[] = [];
  // How many calls a loop takes is unknown: only the cap is promised.
  ledger.promise({ expected: at_most, at_most });
  for (;;) {
    await compactIfNeeded(run);
    const reply = await askFitting(run, tools, knowledgeText);
    const { text, calls, native } = reply;
    const isCut = reply.stop === "length";
    run.ending.text = cut.join("") + text;
    if (isCut && calls.length === 0) {
      cut = [...cut, text];
      goOn(run, cut);
      continue;
    }
    cut = [];
    add(run, { role: "assistant", text, calls, native });
    if (calls.length === 0) {
      const rest = await findRest();
      if (rest === null) return;
      add(run, { role: "user", text: rest });
      continue;
    }
    const { results, wished } = isCut
      ? { results: notRun(calls, "the reply was cut; send it again in smaller pieces"), wished: "" }
      : await doCalls(loop, calls);
    add(run, { role: "tools", results: await tellWithLast(run, fit(loop, calls, results), wished) });
  }
};

const maxCorrections = 2;

/** Headless, nobody sees a refusal, so it fails a run in which nothing was done. */
function throwRefused({ acting, changing, interactive }: Run): void {
  const { forbidden } = acting.tally;
  if (interactive || forbidden === null) return;
  const { code, name, target, text } = forbidden;
  throw new PaiError(code, `${name} ${target}: ${text}`, { hint: hintFor(forbidden, changing) });
}

/** Returns what tells a model that stopped what is left to do; null: nothing. It throws check_failed, or the refusal. */
function watchEnd(run: Run): () => Promise<string | null> {
  const checks = run.changing.dryRun ? [] : checksOf(run);
  let corrections = 0;

  return async () => {
    if (!hasOwnWork(run)) {
      throwRefused(run);
      return null;
    }
    const failed = (await runChecks(run, checks)).filter(({ fatal }) => fatal);
    const [first] = failed;
    if (first === undefined) return null;
    if (corrections === maxCorrections || run.ledger.exhausted)
      throw new PaiError("check_failed", describeFailed(first));
    corrections += 1;
    const outputs = failed.map((check) => describeCheck(check));
    const parts = [...outputs, await tellMeanwhile(run), "Correct what the failed check shows."];
    return parts.filter(Boolean).join("\n\n");
  };
}
