/** Action scripts of the model: asked for, resumed when cut, read, performed; and made anew as the person at the diff wants. */

import { fence } from "../core/data-fence.ts";
import { PaiError } from "../core/error.ts";
import type { Call, Json, Message, Purpose } from "../core/model.ts";
import type { Rights } from "../core/plan/scope.ts";
import { type LooseTarget, readLooseReply } from "../core/script/loose-reply.ts";
import { chooseTag, completeFinish, parseScript, usualTag } from "../core/script/parser.ts";
import { readAmendments } from "../core/script/read-amend.ts";
import { joinRest, keptOf, renderResume } from "../core/script/resume.ts";
import { parseReadRange, type Script, type ScriptAction, splitRange } from "../core/script/script.ts";
import { withoutOpenThought } from "../core/script/thought.ts";
import { createWordsReader } from "../core/script/words.ts";
import { cutDiff } from "../core/session/became.ts";
import { type Form, rowOf } from "../core/vocabulary.ts";
import { amend, findImplicit, noteRefused } from "./amend.ts";
import { targetOfCall } from "./approval.ts";
import { ask, askedAfter, type ModelQuestion, type Reply, replied } from "./ask.ts";
import { toReadable } from "./briefing/sources.ts";
import { waiting } from "./changes/batch.ts";
import { changedFileOf } from "./commands/commands.ts";
import { withNews } from "./dialogue.ts";
import type { RunEnding } from "./ending/ending.ts";
import { noesOf } from "./ending/outcome.ts";
import { showMentioned } from "./evidence.ts";
import { type BatchReport, joinBatches, perform } from "./perform.ts";
import { renderDone } from "./phases.ts";
import type { Run } from "./run.ts";

export interface ScriptQuestion {
  readonly purpose: Purpose;
  readonly system: string;
  readonly messages: readonly Message[];
  /** Files that the plan has yet to change: edits outside of actions are read if it is clear which one they mean. */
  readonly targets: (text: string) => readonly LooseTarget[];
  /** Shows a person the words of the reply while it arrives; `code`: fences in it are words, too. */
  readonly shows?: { readonly code: boolean };
}

export interface ScriptReply {
  readonly script: Script;
  /** The reply as the model wrote it, joined with its rest if it was resumed. */
  readonly text: string;
  readonly tag: string;
  readonly messages: readonly Message[];
  /** What a reply without actions holds instead, as words after "it held"; "": only prose. */
  readonly seen: string;
}

function nameTag(messages: readonly Message[], tag: string): readonly Message[] {
  const last = messages.at(-1);
  if (tag === usualTag || last?.role !== "user") return messages;
  const text = `${last.text}\n\nA text above holds a line that would end a body: write ${tag} in place of ${usualTag} in every header and END.`;
  return [...messages.slice(0, -1), { role: "user", text }];
}

function askAloud(run: Run, question: ModelQuestion, shows: ScriptQuestion["shows"]): Promise<Reply> {
  if (shows === undefined || !run.interactive) return ask(run, question);
  let reader = createWordsReader(shows.code);
  let current = 0;
  return ask(run, question, (piece, n) => {
    if (n !== current) reader = createWordsReader(shows.code);
    current = n;
    const text = piece === "" ? reader.end() : reader.push(piece);
    if (text !== "") run.emit({ type: "model.delta", n, channel: "reply", text });
  });
}

/** Makes one call, and one for the rest of a cut reply. No line that the model was shown is the tag that closes bodies. */
export async function askForScript(run: Run, question: ScriptQuestion): Promise<ScriptReply> {
  const { purpose, system, targets } = question;
  const tag = chooseTag(question.messages.flatMap((message) => (message.role === "user" ? [message.text] : [])));
  const messages = nameTag(question.messages, tag);
  const read = (path: string) => {
    const readable = toReadable(run, path);
    const bytes = readable === null ? null : run.veiled.stage().shown(readable);
    return bytes === null ? null : new TextDecoder().decode(bytes);
  };
  const reply = await askAloud(run, { purpose, system, messages, format: null }, question.shows);
  const parse = (text: string, { stop }: Reply) =>
    completeFinish(parseScript(stop === "end" ? withoutOpenThought(text) : text, { stop, read, tag }), text, tag);
  const script = parse(reply.text, reply);
  const said = [...messages, replied(reply)];
  if (script.cut === null || !run.ledger.spare)
    return { tag, messages: said, ...readLoose(script, reply.text, targets, read) };
  run.emit({ type: "notice", level: "warning", code: "reply_cut", text: "the reply was cut: asking for the rest" });
  // The cut line is dropped and asked for again: models would not continue in the middle of a line.
  const resume = askedAfter(messages, keptOf(reply.text, script.cut), renderResume(script.cut));
  const rest = await askForRest(run, { purpose: "resume", system, messages: resume, format: null });
  if (rest === null) return { script, text: reply.text, tag, messages: said, seen: "" };
  const { text, isLost } = joinRest(reply.text, script.cut, rest.text);
  const whole = parse(text, rest);
  const { cmd, path, line } = script.cut;
  const lost = isLost ? [{ line, text: `${cmd}::${path} was cut and not continued` }] : [];
  const joined: Script = { ...whole, warnings: [...whole.warnings, ...lost] };
  return { script: joined, text, tag, messages: [...resume, replied(rest)], seen: "" };
}

const isMessage = ({ cmd }: ScriptAction) => rowOf(cmd)?.kind === "finish";

/** Turns a whole reply without actions into a script of its edits, if nothing has to be guessed. */
function readLoose(
  script: Script,
  text: string,
  targets: ScriptQuestion["targets"],
  read: (path: string) => string | null,
): Omit<ScriptReply, "tag" | "messages"> {
  if (wasCut(script) || !script.actions.every(isMessage)) return { script, text, seen: "" };
  const { actions, seen, prose } = readLooseReply(text, targets(text), read);
  if (actions.length === 0) return { script, text, seen };
  const finish = script.actions[0] ?? { cmd: "FINISH", arg: prose, next: [], line: 1 };
  const whole = { ...script, actions: [...actions, finish], remarks: [], truncated: false, isWhole: true };
  return { script: whole, text, seen: "" };
}

async function askForRest(run: Run, question: ModelQuestion): Promise<Reply | null> {
  try {
    return await ask(run, question);
  } catch (thrown) {
    if (thrown instanceof PaiError && thrown.code.startsWith("reply_")) return null;
    throw thrown;
  }
}

/** Not where all bodies are closed and only FINISH lacks, nor where only the message of the FINISH behind actions is cut. */
export const wasCut = ({ actions, truncated, isWhole }: Script): boolean =>
  truncated && !isWhole && !actions.slice(1).some(isMessage);

/** The actions that may be done: no incomplete ones, and in a cut reply no deletions, moves and commands. */
function usable(script: Script): Script["actions"] {
  const whole = script.actions.filter(({ partial, cmd }) => partial !== true || rowOf(cmd)?.kind === "finish");
  return wasCut(script) ? whole.filter(({ cmd }) => rowOf(cmd)?.unsafeWhenCut !== true) : whole;
}

function respell({ planning }: Run, action: ScriptAction): ScriptAction {
  const path = planning.respelled.get(action.path ?? "");
  return path === undefined ? action : { ...action, path };
}

export type ScriptWork = Awaited<ReturnType<typeof performScript>>;

/** Whether a RUN is not performed: it is a check, which runs at the end anyway, or it may not run here. */
function isLeftOut({ acting, checking, planning }: Run, { scope }: Rights, { cmd, arg = "" }: ScriptAction): boolean {
  const command = arg.trim();
  if (rowOf(cmd)?.form !== "command" || scope.commands.has(command)) return false;
  if (acting.tally.withheld.has(command)) return true;
  return [...checking.checks, ...(planning.plan?.execution_plan?.checks ?? [])].some(
    (check) => check.trim() === command,
  );
}

/**
 * The commands before the first change that ran before this call, and whose output the request shows, unless something,
 * or a file that they run, has changed since.
 */
async function ranBefore(run: Run, actions: readonly ScriptAction[]): Promise<readonly ScriptAction[]> {
  const { begun, shell } = run;
  const first = actions.findIndex(({ cmd }) => rowOf(cmd)?.kind === "change");
  const ran: ScriptAction[] = [];
  for (const action of first === -1 ? actions : actions.slice(0, first)) {
    const command = (action.arg ?? "").trim();
    const isRan = action.cmd === "RUN" && shell.ran.get(command) === (begun?.changes.length ?? 0);
    if (isRan && (await changedFileOf(run, command)) === null) ran.push(action);
  }
  return ran;
}

type Performing = { readonly rights: Rights; readonly prefix: string; readonly planned: number };

/** Performs the script's actions, up to the limit of one reply. `prefix` makes the ids of its calls unique. */
async function performScript(run: Run, script: Script, { rights, prefix, planned }: Performing) {
  const all = usable(script).map((action) => respell(run, action));
  const known = await ranBefore(run, all);
  const whole = all.filter((action) => !known.includes(action));
  const { requests, faults } = readAmendments(whole);
  const calls = callsOf(
    whole.filter((action) => !isLeftOut(run, rights, action)),
    prefix,
  );
  const maxActions = Math.max(run.acting.maxActions, planned + 5);
  const overflow = calls.length > maxActions;
  const done = calls.slice(0, maxActions);
  const rest = calls.slice(maxActions).map((call) => `- ${call.name} ${targetOfCall(call)}`);
  if (overflow) {
    const text = `the reply held ${calls.length} actions: only the first ${maxActions} are done now, the rest is asked for again`;
    run.emit({ type: "notice", level: "warning", code: "actions_left", text });
  }
  const wanted = requests.filter(({ action, path }) => !isLeftOut(run, rights, { cmd: action, arg: path, line: 0 }));
  const implicit = await findImplicit(run, rights, done);
  const asked = [...wanted, ...implicit.filter(({ path }) => !wanted.some((each) => each.path === path))];
  if (asked.length > 0) await amend(run, rights, asked, done);
  const batch = await perform(run, done, rights);
  noteRefused(run, rights, wanted, batch.reports);
  const notes = [
    ...[...script.warnings, ...faults].map(({ line, text }) => `line ${line}: ${text}`),
    ...known.map(({ arg }) => `RUN ${arg} was done before your reply: its output is above`),
    ...(overflow ? [`only the first ${maxActions} actions were done. Send these again:\n${rest.join("\n")}`] : []),
    ...(wasCut(script) ? ["your reply was cut; what was complete has been done"] : []),
  ];
  return { batch, notes, overflow };
}

/** Records the message and next steps of FINISH; an empty message replaces none. False: there is no FINISH. */
export function keepFinish(ending: RunEnding, script: Script): boolean {
  const finish = script.actions.find(({ cmd }) => cmd === "FINISH");
  if (finish === undefined) return false;
  const { arg = "", next = [], partial } = finish;
  if (arg !== "" || ending.text === "") {
    ending.text = partial === true ? `${arg} […]` : arg;
    ending.next = next;
  }
  return true;
}

/** The prose before the first action, with its code fences; "": there is none. It may be the whole answer. */
export function proseOf({ script: { actions, remarks }, text }: Pick<ScriptReply, "script" | "text">): string {
  const end = actions[0]?.line ?? Number.POSITIVE_INFINITY;
  const said = remarks.filter(({ line }) => line < end).map(({ line }) => line);
  const [first] = said;
  const last = said.at(-1);
  if (first === undefined || last === undefined) return "";
  const lines = text.split(/\r?\n/);
  const isFence = (at: number) => /^\s*```/.test(lines[at] ?? "");
  const from = isFence(first - 2) ? first - 1 : first;
  const to = isFence(last) ? last + 1 : last;
  return lines
    .slice(from - 1, to)
    .join("\n")
    .trim();
}

/** The prose after the last action: the message of a reply without FINISH; "": there is none. */
export function proseAfter({ script: { actions, remarks }, text }: Pick<ScriptReply, "script" | "text">): string {
  const first = remarks.find(({ line }) => line > (actions.at(-1)?.line ?? 0));
  if (first === undefined || actions.length === 0) return "";
  const lines = text.split(/\r?\n/).slice(first.line - 1);
  return lines
    .filter((line) => !/^\s*```\s*$/.test(line))
    .join("\n")
    .trim();
}

const inputs: Readonly<Record<Form, (action: ScriptAction) => Json>> = {
  path: ({ path = "" }) => ({ path }),
  folder: ({ path = "" }) => ({ path }),
  lines: ({ path = "", arg = "" }) => {
    // `READ::a.py:10-20` as well as `READ::a.py::10-20`: pai itself names ranges so.
    const given = parseReadRange(arg.trim());
    const range = given === null ? splitRange(path) : { path, ...given };
    return range === null ? { path } : { path: range.path, start_line: range.from, end_line: range.to };
  },
  pair: ({ path = "", to = "" }) => ({ from: path, to }),
  setting: ({ path = "", to = "" }) => ({ path, to }),
  pattern: ({ arg = "" }) => ({ pattern: arg }),
  word: ({ arg = "" }) => ({ pattern: arg }),
  command: ({ arg = "" }) => ({ command: arg }),
  nothing: () => ({}),
  content: ({ path = "", body = "" }) => ({ path, content: body }),
  edits: ({ path = "", blocks = [] }) => ({
    path,
    edits: blocks.map(({ search, replace, all }) => ({ search, replace, all: all === true })),
  }),
  message: () => ({}),
  amendment: () => ({}),
  withdrawal: () => ({}),
};

/** `prefix` makes ids unique over the phases of a run. FINISH is not a call. */
export function callsOf(actions: readonly ScriptAction[], prefix: string): readonly Call[] {
  const calls: Call[] = [];
  for (const action of actions) {
    const row = rowOf(action.cmd);
    if (row === null || ["finish", "amend", "skip", "check"].includes(row.kind)) continue;
    calls.push({ id: `${prefix}.${calls.length + 1}`, name: row.name, input: inputs[row.form](action) });
  }
  return calls;
}

const maxOfDiff = 12_000;

function takeCall({ emit, ledger }: Run): void {
  if (ledger.spare || ledger.capped) return;
  ledger.promiseOneMore();
  const text = `one more call: at most ${ledger.promised.at_most} now`;
  emit({ type: "notice", level: "info", code: "one_more_call", text });
}

function renderWish({ words, diff }: NonNullable<Run["changing"]["wish"]>, reports: BatchReport["reports"]): string {
  const rest = reports.filter(({ kind, isAnew }) => kind !== "look" && isAnew !== true);
  const later = reports.flatMap(({ name, target, text }) => (text === waiting.text ? [`${name} ${target}`] : []));
  return [
    ...(rest.length === 0 ? [] : [renderDone(rest)]),
    "The user saw this diff, and nothing of it was applied:",
    fence("diff", {}, cutDiff(diff, maxOfDiff)),
    ...(later.length === 0 ? [] : [`Not done either, since these come first: ${later.join(", ")}`]),
    `The user says: ${words}`,
    "Send your action script again, without what is done: these changes as the user wants them, the rest as it was. A step that they no longer want: SKIP::path::why.",
  ].join("\n");
}

/**
 * Performs a reply. Where the person answers its diff with words, asks for the changes anew with them, as often as that
 * happens. Returns the last reply, and the work of all. Throws what `ask` and `perform` throw, declined for a plain no.
 */
export async function performAsWished(
  run: Run,
  first: ScriptReply,
  question: ScriptQuestion,
  how: Performing & {
    /** Keeps what was said, before anything is performed: the run may end there. */
    readonly keep: (messages: readonly Message[]) => void;
  },
) {
  let asked = first;
  // Before anything is performed: a run that ends there must know what was claimed.
  const say = ({ script, messages }: ScriptReply) => {
    keepFinish(run.ending, script);
    run.ending.heard = { commands: run.shell.commands.length, noes: noesOf(run).length };
    how.keep(messages);
  };
  say(asked);
  let work = await performScript(run, asked.script, how);
  for (let n = 1; run.changing.wish !== null; n += 1) {
    const { wish } = run.changing;
    const { reports } = work.batch;
    const request = await withNews(run, () => [showMentioned(run, wish.words), renderWish(wish, reports)]);
    takeCall(run);
    asked = await askForScript(run, { ...question, messages: [...asked.messages, { role: "user", text: request }] });
    say(asked);
    const next = await performScript(run, asked.script, { ...how, prefix: `${how.prefix}.${n}` });
    work = { ...next, batch: joinBatches(work.batch, next.batch), notes: [...work.notes, ...next.notes] };
  }
  return { asked, work };
}
