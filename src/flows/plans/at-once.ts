/** The first answer as the work itself: when that is offered, how the answer is read, and how it is mended before anybody is asked. */

import { squash } from "../../core/change.ts";
import { PaiError } from "../../core/error.ts";
import { type Json, type Message, partOf, sizeOf } from "../../core/model.ts";
import type { RefusedAction } from "../../core/outcome.ts";
import type { RelPath } from "../../core/path.ts";
import {
  atOnceBounds,
  doneAtOnce,
  filesNamed,
  linesWanted,
  linesWritten,
  planOfScript,
  readFirstAnswer,
  saidBefore,
} from "../../core/plan/at-once.ts";
import { readPlan } from "../../core/plan/parse-plan.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { moreLooks } from "../../core/plan/promise.ts";
import { commandShown, type LooseTarget } from "../../core/script/loose-reply.ts";
import { asksToKnow, readProse } from "../../core/script/prose.ts";
import type { Script, ScriptAction } from "../../core/script/script.ts";
import { rowOf } from "../../core/vocabulary.ts";
import type { Briefing } from "../briefing/briefing.ts";
import { toReadable } from "../briefing/sources.ts";
import { withinOnly } from "../changes/allowed.ts";
import { withNews } from "../dialogue.ts";
import { formedAnswer, readPlanOrAnswer } from "../ending/answer.ts";
import { leaveOut, lessPlan, skipsIn } from "../phases.ts";
import { atOncePrompt, planRequest } from "../prompts/prompts.ts";
import { rehearse, renderRehearsed } from "../rehearse.ts";
import { askForScript, callsOf, type ScriptReply, wasCut } from "../replies.ts";
import type { Run } from "../run.ts";

export interface AtOnce {
  readonly reply: ScriptReply;
  /** What it would change, as the person sees it. */
  readonly diff: string;
  /** What of it cannot be done, one sentence each. */
  readonly faults: readonly string[];
  readonly files: readonly RelPath[];
  readonly skips: readonly RefusedAction[];
}

export type First =
  | { readonly plan: Plan; readonly atOnce: AtOnce | null; readonly messages: readonly Message[] }
  /** A plan is to be asked for with these messages. `isAgain`: the answer was mere prose. */
  | { readonly plan: null; readonly messages: readonly Message[]; readonly isAgain: boolean };

/** Tokens that the window must have for what comes back. */
const roomForReply = 2_000;
const tokensOfLine = 15;

/** The prompt of a first answer that may be the work; null: it is not offered for this run. */
export function offerAtOnce(run: Run, { isWhole, text, parts }: Briefing): string | null {
  const { planning, invocation, changing, checking, calling, dialogue, interactive } = run;
  const { atOnce } = planning;
  if (atOnce === "never" || planning.planOnly || planning.asksOnly || changing.strict) return null;
  if (!["single-shot", "auto"].includes(invocation.mode) || calling.model.parts !== undefined) return null;
  if (atOnce === "auto" && !(isWhole && (interactive || checking.checks.length > 0))) return null;
  const { window, maxOutputTokens } = partOf(calling.model, "plan");
  const lines = interactive ? linesWanted.person : linesWanted.headless;
  const system = atOncePrompt(Math.min(lines, Math.floor(maxOutputTokens / tokensOfLine)), interactive);
  const sent = dialogue.messages.reduce((sum, message) => sum + sizeOf(message), system.length + text.length);
  if (window - run.ledger.estimate(sent) < roomForReply) return null;
  // What the answer may overwrite is what it was shown whole.
  for (const { file } of parts)
    if (file !== null && file.part === undefined && file.shown === file.text) run.overlay.show(file.path, file.bytes);
  return system;
}

const targetsIn =
  (run: Run) =>
  (text: string): readonly LooseTarget[] =>
    pathsOf(run, filesNamed(text, [])).map((path) => ({ path, isWritten: run.overlay.shown(path) === null }));

const pathsOf = (run: Run, written: readonly string[]): readonly RelPath[] =>
  written.flatMap((path) => toReadable(run, path) ?? []);

const isChange = ({ cmd }: ScriptAction) => rowOf(cmd)?.kind === "change";

function untouched(run: Run, { actions }: Script, files: readonly RelPath[]): readonly RelPath[] {
  const changed = new Set(actions.filter(isChange).flatMap(({ path = "", to = "" }) => pathsOf(run, [path, to])));
  return files.filter((path) => !changed.has(path));
}

/** The script without commands that are checks of the user, which run behind its changes anyway, and without amendments. */
function withoutChecks({ checking }: Run, script: Script): Script {
  const checks = new Set(script.actions.some(isChange) ? checking.checks.map((check) => check.trim()) : []);
  const isLeftOut = ({ cmd, arg = "" }: ScriptAction) =>
    ["amend", "skip"].includes(rowOf(cmd)?.kind ?? "") || (rowOf(cmd)?.form === "command" && checks.has(arg.trim()));
  return { ...script, actions: script.actions.filter((action) => !isLeftOut(action)) };
}

/** Whether a script is small and harmless enough to be done at once; else it counts as a plan. */
function isWithinBounds(run: Run, script: Script): boolean {
  const { acting, changing, overlay, workspace } = run;
  const work = script.actions.filter(({ cmd }) => !["finish", "check"].includes(rowOf(cmd)?.kind ?? ""));
  if (work.length > acting.maxActions || linesWritten(script) > atOnceBounds.lines) return false;
  const made = new Set<RelPath>();
  for (const { cmd, path = "" } of work) {
    const target = doneAtOnce.has(cmd) ? toReadable(run, path) : null;
    if (target === null || !withinOnly(changing.only, target)) return false;
    if (workspace.concern(target) !== null || workspace.whyClosed(target) !== null) return false;
    if (cmd === "MODIFY" && overlay.shown(target) === null && !made.has(target)) return false;
    made.add(target);
  }
  return made.size > 0 && made.size <= atOnceBounds.paths;
}

/** Whether a larger script may be done after a yes to exactly its actions: none depends on what another would show first. */
function isWhole(run: Run, { actions }: Script): boolean {
  const { acting, interactive, overlay } = run;
  const kinds = actions.map(({ cmd }) => rowOf(cmd)?.kind);
  const lastChange = kinds.lastIndexOf("change");
  const steps = kinds.filter((kind) => kind === "change" || kind === "command").length;
  if (!interactive || steps > acting.maxActions || lastChange < 0 || kinds.includes("look")) return false;
  if (kinds.slice(0, lastChange).includes("command")) return false;
  return actions.every(({ cmd, path = "" }, at) => {
    const isMade = actions.slice(0, at).some((earlier) => earlier.cmd === "WRITE" && earlier.path === path);
    const target = toReadable(run, path);
    return cmd !== "MODIFY" || isMade || (target !== null && overlay.shown(target) !== null);
  });
}

async function findFaults(run: Run, script: Script, files: readonly RelPath[]) {
  const { steps, complaints } = await rehearse(run, callsOf(script.actions, "try"));
  const missing = untouched(run, script, files);
  const isClosed = script.actions.some(({ cmd }) => cmd === "FINISH") || (files.length > 0 && missing.length === 0);
  const cannot = complaints.filter(({ code }) => code !== "nothing_done");
  return {
    diff: renderRehearsed(run, squash(steps.flatMap(({ changes }) => changes))),
    paths: new Set(
      cannot.flatMap(({ call }) => toReadable(run, String((call.input as { path?: unknown }).path ?? "")) ?? []),
    ),
    texts: [
      ...cannot.map(({ text }) => `FAILED: ${text}`),
      ...script.warnings.map(({ line, text }) => `line ${line}: ${text}`),
      ...missing.map((path) => `FILES names ${path}, and no action changes it.`),
      ...(isClosed ? [] : ["The answer was not finished: FINISH is missing."]),
    ],
  };
}

/** The script with the actions of a second reply in place of those on the same files, and without what that one skips and `failed`. */
function joinScripts(run: Run, first: Script, second: Script, failed: ReadonlySet<string> = new Set()): Script {
  const targetOf = (action: ScriptAction) =>
    isChange(action) ? toReadable(run, action.path ?? "") : (action.arg?.trim() ?? null);
  const changed = second.actions.filter(isChange).flatMap((action) => targetOf(action) ?? []);
  const again = new Set<string>([...failed, ...changed, ...skipsIn(run, second).map(({ target }) => target)]);
  const kept = first.actions.filter((action) => {
    const target = targetOf(action);
    return action.cmd !== "FINISH" && (target === null || !again.has(target));
  });
  const finish = [...second.actions, ...first.actions].find(({ cmd }) => cmd === "FINISH");
  const more = second.actions.filter(({ cmd }) => cmd !== "FINISH");
  const actions = [...kept, ...more, ...(finish === undefined ? [] : [finish])];
  return { ...second, actions, remarks: first.remarks };
}

const mendRequest = (texts: readonly string[]): string =>
  `Nothing of it is done yet:\n${texts.join("\n")}\nSend only what is wrong or missing, corrected, ended with FINISH; the rest of your script is kept. A file that needs no change: leave it out of a new FILES line.`;

/** The script of a reply as work to show, and what it lacks; null: it is too large for that and counts as a plan. */
async function asWork(run: Run, reply: ScriptReply, { files, skips }: Pick<AtOnce, "files" | "skips">) {
  const isSmall = isWithinBounds(run, reply.script);
  if (!isSmall && !isWhole(run, reply.script)) return null;
  const found = await findFaults(run, reply.script, files);
  if (!isSmall && found.texts.length > 0) return null;
  return { found, atOnce: { reply, diff: found.diff, faults: found.texts, files, skips } };
}

/** The script as work to show, mended by one more call; else it counts as a plan. A text: the model took it back with that. */
async function mend(run: Run, system: string, reply: ScriptReply) {
  const script = withoutChecks(run, reply.script);
  const skips = [...skipsIn(run, reply.script)];
  const isNeeded = (path: RelPath) => !skips.some(({ target }) => target === path);
  const files = pathsOf(run, filesNamed(reply.text, reply.script.actions)).filter(isNeeded);
  const said = saidBefore(reply.text, reply.script.actions);
  const work = await asWork(run, { ...reply, script }, { files, skips });
  const first = { atOnce: work?.atOnce ?? null, script, said, files, skips };
  if (work === null) return first;
  run.ledger.reserve(0);
  if (work.found.texts.length === 0 || !run.ledger.spare) return first;
  const { paths, texts } = work.found;
  const [fault = ""] = texts;
  run.emit({ type: "notice", level: "info", code: "mending", text: `asking again: ${fault.split("\n", 1)[0]}` });
  const again = await withNews(run, () => [mendRequest(texts)]);
  const messages: readonly Message[] = [...reply.messages, { role: "user", text: again }];
  run.dialogue.messages = messages;
  const second = await askForScript(run, { purpose: "repair", system, messages, targets: targetsIn(run) });
  run.dialogue.messages = second.messages;
  const named = filesNamed(second.text, second.script.actions);
  skips.push(...skipsIn(run, second.script));
  const wanted = (named.length === 0 ? files : pathsOf(run, named)).filter(isNeeded);
  const joined = withoutChecks(run, joinScripts(run, script, second.script, paths));
  if (wasCut(second.script))
    return { ...first, atOnce: { ...work.atOnce, reply: { ...work.atOnce.reply, messages: second.messages } } };
  const [only, ...more] = second.script.actions;
  const words = more.length === 0 && only?.cmd === "FINISH" ? (only.arg ?? "") : "";
  if (run.interactive && words !== "" && !joined.actions.some(isChange)) return words;
  const left = await asWork(run, { ...second, script: joined }, { files: wanted, skips });
  const saidNow = saidBefore(second.text, second.script.actions) || said;
  return { ...first, atOnce: left?.atOnce ?? null, script: joined, said: saidNow, files: wanted };
}

function talk({ dialogue }: Run, reply: string): First {
  const nothing = { analysis: null, execution_plan: null, intelligence_notes: null };
  return { plan: { intent: "conversation", reply, ...nothing }, atOnce: null, messages: dialogue.messages };
}

async function takeScript(run: Run, system: string, reply: ScriptReply): Promise<First> {
  const taken = await mend(run, system, reply);
  if (typeof taken === "string") return talk(run, taken);
  const { atOnce, script, said, files, skips } = taken;
  // A person says yes below these lines.
  leaveOut(run, skips, run.interactive);
  const left = atOnce === null ? untouched(run, script, files) : [];
  // What cannot be read is there.
  const now = await Promise.all(left.map((path) => run.workspace.read(path, 0).catch(() => undefined)));
  const { made = [], edited = [] } = Object.groupBy(left, (_, at) => (now[at] === null ? "made" : "edited"));
  return { plan: planOfScript(script, said, { made, edited }), atOnce, messages: run.dialogue.messages };
}

/** What prose leads to that answers, or shows the command for it; null: neither. */
async function takeProse(run: Run, system: string, reply: ScriptReply, prose: ReturnType<typeof readProse>) {
  if (formedAnswer(run, reply.text) !== null) return talk(run, reply.text);
  if (answersInProse(run, prose, false)) return talk(run, reply.text.trim());
  const command = prose === null ? null : commandShown(reply.text);
  return command && takeScript(run, system, { ...reply, script: { ...reply.script, actions: [command] } });
}

const answerNow = "Answer with what you have seen: the whole answer, or, where something must be changed, a plan.";

export const mayLook = ({ ledger, planning }: Run): boolean =>
  planning.rounds < planning.maxRounds && !ledger.exhausted;

/** The failure of a run whose model only looks. A session keeps what was seen. */
export function looksUsedUp({ interactive, invocation, ledger, planning, task }: Run): PaiError {
  const { asksOnly, maxRounds, rounds } = planning;
  if (ledger.capped && rounds < maxRounds)
    return new PaiError("budget_calls", "no call is left for the result of a look", {
      hint: "--max-calls allows more",
    });
  const more = asksOnly ? "name what to look at, with @FILE or --show PATH" : moreLooks(invocation.mode, maxRounds);
  const goOn = `say "go on": what was seen is kept, and there are ${maxRounds} more`;
  const inSession = interactive && task.dialogue !== undefined;
  const message = `the ${maxRounds} looks of one request are used up, and there is no answer yet`;
  return new PaiError("reply_invalid", message, {
    hint: inSession ? `${goOn}; ${more.replace("--mode", "/mode")}` : more,
  });
}

/** What was said last: the request, or what the person said to its plan. What only asks is a question in any words. */
export const requestOf = ({ planning: { asksOnly, corrections }, task }: Run): string =>
  (corrections.at(-1) ?? task.text) + (asksOnly ? "?" : "");

/** Whether prose is the whole answer: to a person or a question at once; where nobody reads it, only the last one after looks. */
export function answersInProse(run: Run, prose: ReturnType<typeof readProse>, isLast: boolean): boolean {
  const isRead = run.interactive || run.planning.asksOnly;
  const hasLooked = run.planning.rounds > 0;
  if (prose === "answer") return isRead || asksToKnow(requestOf(run)) || (isLast && hasLooked);
  return prose !== null && isRead && isLast;
}

/** Shows an answer about a plan that still waits, if it did not stream: no outcome will hold it. */
export function sayOfWaiting({ emit, interactive, ledger, planning }: Run, text: string): void {
  if (interactive && planning.corrections.length > 0)
    emit({ type: "model.delta", n: ledger.made, channel: "reply", text });
}

function takeJson(run: Run, value: Json, text: string): First | string {
  const reading = readPlanOrAnswer(run, value, text, { readValue: readPlan, planOf: (plan) => plan });
  if (!reading.ok) return `That is not a usable plan: ${reading.why}.`;
  if (reading.value.intent === "conversation") sayOfWaiting(run, reading.value.reply);
  return { plan: reading.value, atOnce: null, messages: run.dialogue.messages };
}

export async function tryAtOnce(run: Run, system: string, messages: readonly Message[]): Promise<First> {
  const { dialogue } = run;
  dialogue.messages = messages;
  const request = requestOf(run);
  const shows = { code: asksToKnow(request) };
  const reply = await askForScript(run, { purpose: "execute", system, messages, targets: targetsIn(run), shows });
  dialogue.messages = reply.messages;
  const { script, text, seen } = reply;
  const ask = (why: string, isAgain = false): First => ({
    plan: null,
    messages: [...reply.messages, { role: "user", text: `${why}\n\n${planRequest()}` }],
    isAgain,
  });
  if (wasCut(script)) {
    run.emit({ type: "notice", level: "warning", code: "reply_cut", text: "the answer was cut: asking for a plan" });
    return ask("Your answer was cut, and nothing of it was done. Send a plan first.");
  }
  const less = lessPlan(run, script);
  if (less !== null) return { plan: less, atOnce: null, messages: reply.messages };
  const answer = readFirstAnswer(script, text, seen);
  switch (answer.kind) {
    case "plan":
      return ask("Send the plan.");
    case "unclear": {
      const prose = filesNamed(text, script.actions).length > 0 ? null : readProse(text, request);
      const taken = await takeProse(run, system, reply, prose);
      if (taken !== null) return taken;
      const told = `unusable answer (${answer.why}): asking for a plan`;
      run.emit({ type: "notice", level: "warning", code: "answer_unusable", text: told });
      return ask(`That could not be used: ${answer.why}. Send a plan, or the whole answer.`, prose !== null);
    }
    case "json": {
      const taken = takeJson(run, answer.value, text);
      return typeof taken === "string" ? ask(taken) : taken;
    }
    case "answer": {
      if (filesNamed(text, script.actions).length > 0)
        return ask("Your answer names files and changes none; nothing was done. Send a plan first.");
      run.ending.next = answer.next;
      return talk(run, answer.text);
    }
    case "looks":
      if (run.ledger.exhausted) throw looksUsedUp(run);
      if (!mayLook(run)) return ask(`No look is left. ${answerNow}`);
      return { plan: planOfScript(script, saidBefore(text, script.actions)), atOnce: null, messages: reply.messages };
    case "script":
      return takeScript(run, system, reply);
  }
}

export const finishOf = (atOnce: AtOnce | null): string =>
  atOnce?.reply.script.actions.find(({ cmd }) => cmd === "FINISH")?.arg ?? "";

const pathsBy = (run: Run, atOnce: AtOnce | null, ...names: readonly string[]): readonly RelPath[] =>
  (atOnce?.reply.script.actions ?? []).flatMap(({ cmd, path = "" }) =>
    names.length === 0 || names.includes(cmd) ? (toReadable(run, path) ?? []) : [],
  );

/** Files that the work named as needed and did nothing about. What it did about others is planned. */
export function undoneFiles(run: Run, atOnce: AtOnce | null): readonly RefusedAction[] {
  const changes = run.changing.dryRun ? run.changing.staged : (run.begun?.changes ?? []);
  const settled = new Set<string>([...changes.map(({ path }) => path), ...pathsBy(run, atOnce)]);
  const why = "named as needed, and no reply changed it";
  return (atOnce?.files ?? [])
    .filter((path) => !settled.has(path))
    .map((target) => ({ action: "MODIFY", target, why }));
}

/** The files whose edits a person saw as a diff, without those that the work also writes whole; none where no diff was seen. */
export function seenEdits(run: Run, atOnce: AtOnce | null): ReadonlySet<RelPath> {
  if (run.planning.seenDiff === null) return new Set();
  const written = new Set(pathsBy(run, atOnce, "WRITE"));
  return new Set(pathsBy(run, atOnce, "MODIFY").filter((path) => !written.has(path)));
}
