/** The slash commands of a session. An unknown one is an error and is never sent to the model. */

import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { startAnew } from "../../core/dialogue.ts";
import { PaiError, toPaiError } from "../../core/error.ts";
import { type Effort, efforts } from "../../core/model.ts";
import type { RelPath } from "../../core/path.ts";
import { renderTasks } from "../../core/session/conversation.ts";
import type { Session } from "../../core/session/session.ts";
import { didYouMean } from "../../core/suggest.ts";
import { openMemory } from "../../store/memory.ts";
import type { PromptFile } from "../../store/prompt-files.ts";
import { type Mode, modes } from "../../store/setting-table.ts";
import { counted } from "../../ui/amount.ts";
import { hang, pad, refit, wrap } from "../../ui/layout.ts";
import { visible, visibleBut, visibleLine } from "../../ui/sanitize.ts";
import { ownCodes } from "../../ui/style.ts";
import { columnsOf, columnsOfResults } from "../answer-document.ts";
import { configIn } from "../commands/config.ts";
import { previewTask, renderPreview } from "../commands/context.ts";
import { reverse } from "../commands/history.ts";
import { numberedModel, renderModels } from "../commands/models.ts";
import { composeModel, listModels, withModel } from "../compose/compose-model.ts";
import { listCustom } from "../compose/custom.ts";
import { composeOptions } from "../compose/options.ts";
import { renderDiffOn } from "../compose/view.ts";
import type { SettingsNow } from "../config/word.ts";
import { habitInSession } from "../habits.ts";
import { keepFacts } from "../remember.ts";
import { renderExport, renderListed } from "./render-resumed.ts";
import { changesOfSession, compactTalk, rewindTalk, sayChangedSince } from "./rewind.ts";
import { planTurn, renderSpent, type Talk, taskOf, usualMode, whileInterruptible } from "./talk.ts";

interface Slash {
  readonly name: string;
  readonly about: string;
  run(talk: Talk, words: string): void | Promise<void>;
}

const say = ({ context }: Talk, text: string) =>
  context.err(`${wrap(visibleBut(ownCodes, text.replace(/\n$/, "")), columnsOf(context.env)).join("\n")}\n`);

async function switchModel(talk: Talk, id: string): Promise<void> {
  const { context, composed, view } = talk;
  const { base } = composed;
  const inUse = talk.model?.model.id ?? base.settings.model;
  if (id === "") {
    say(talk, `${renderModels(context, inUse, "usable")}switch: /model NUMBER or /model PROVIDER:NAME`);
    return;
  }
  const wanted = /^\d+$/.test(id) ? numberedModel(context, inUse, Number(id)) : id;
  talk.model = await composeModel(withModel(base, wanted), view, talk.composed.learn);
  say(talk, `model: ${talk.model.model.id}`);
}

export const modeAbout: Readonly<Record<Mode, string>> = {
  "single-shot": "one plan for your yes, then all of it in one go",
  "eight-step": "one plan for your yes, then each step is done and judged by itself",
  "tool-loop": "no plan: looks, changes and runs step by step, and asks before each change",
  auto: "looks where it must, then a plan; step by step only what is large",
};

function switchMode(talk: Talk, name: string): void {
  const mode = modes.find((each) => each === name);
  if (name !== "" && mode === undefined) {
    throw new PaiError("usage", `unknown mode: ${name}`, { hint: `one of ${modes.join(", ")}` });
  }
  if (mode !== undefined) talk.mode = mode satisfies Mode;
  const columns = columnsOf(talk.context.env);
  const rows = modes.flatMap((each) => hang(`  ${each.padEnd(13)}`, modeAbout[each], columns));
  const list = name === "" ? [...rows, "switch: /mode NAME"] : [];
  say(talk, [...hang(`mode: ${talk.mode}, `, modeAbout[talk.mode], columns), ...list].join("\n"));
}

const ownEffort = "default";

function switchEffort(talk: Talk, name: string): void {
  const level = efforts.find((each) => each === name) ?? null;
  if (name !== "" && name !== ownEffort && level === null) {
    throw new PaiError("usage", `unknown effort: ${name}`, { hint: `one of ${[...efforts, ownEffort].join(", ")}` });
  }
  if (name !== "") talk.effort = { plan: level, work: level };
  const { plan, work } = talk.effort;
  const shown = (each: Effort | null) => each ?? "the model's own";
  const both = plan === work ? shown(plan) : `${shown(plan)} for plans, ${shown(work)} for work`;
  say(talk, `effort: ${both}${name === "" ? ` (/effort LEVEL: ${[...efforts, ownEffort].join(", ")})` : ""}`);
}

async function showContext(talk: Talk, words: string): Promise<void> {
  const { context, composed, mode, model } = talk;
  const { settings } = composed.base;
  const [id] = listModels(model?.model.id ?? settings.model);
  const found = await whileInterruptible(talk, async (signal) =>
    previewTask(composed.base, composed.opened, {
      id,
      task: await taskOf(talk, words === "" ? "…" : words, words),
      options: { ...composeOptions(context, composed.base, "context", false), mode },
      signal,
      notify: talk.view.notify,
    }),
  );
  const { turns, conversation } = talk.open.session;
  const held = `${counted(turns.length, "turn")}, ${counted(conversation.messages.length, "message")} of work step by step`;
  say(talk, `${renderPreview(id, mode, found, columnsOf(context.env))}\nThe session holds ${held}`);
}

async function showSessionDiff(talk: Talk, path: string): Promise<void> {
  const { history, workspace } = talk.composed.opened;
  const all = changesOfSession(history, talk.open.session);
  const wanted = path.replace(/^@|\/$/g, "");
  const isWanted = (each: string) => wanted === "" || each === wanted || each.startsWith(`${wanted}/`);
  const changes = all.filter((change) => isWanted(change.path) || isWanted(change.from ?? change.path));
  if (changes.length === 0) say(talk, `this session has changed nothing in ${path === "" ? workspace.root : path}`);
  else talk.context.out(await renderDiffOn("stdout", talk.composed.base, changes));
  const since = await sayChangedSince(workspace, changes);
  if (since !== "") say(talk, since);
}

async function showMemory(talk: Talk): Promise<void> {
  const blob = await talk.composed.opened.workspace.read("MEMORY.md" as RelPath).catch(() => null);
  if (blob?.kind === "file") talk.context.out(visible(new TextDecoder().decode(blob.bytes)));
  const { stateFolder } = talk.composed.opened;
  const facts = stateFolder === null ? [] : openMemory(stateFolder).list();
  if (blob?.kind !== "file" && facts.length === 0)
    say(talk, "nothing is remembered yet: /remember keeps a fact; a MEMORY.md here goes with every task");
  for (const { id, text, pending } of facts)
    talk.context.out(`${id}  ${visibleLine(text)}${pending ? "  (pending: pai memory accept)" : ""}\n`);
}

async function remember({ composed, context, view }: Talk, text: string): Promise<void> {
  const { stateFolder, workspace } = composed.opened;
  if (text === "") throw new PaiError("usage", "nothing to remember", { hint: "/remember tests run with: make check" });
  if (stateFolder === null) throw new PaiError("usage", "nothing is kept here (--ephemeral)");
  const texts = [composed.cover(text)];
  const kept = keepFacts(stateFolder, workspace.root, texts, { run: null, pending: false, now: context.now() });
  const said = kept.map(({ id }) => `remembered; dropped with: pai memory drop ${id}`);
  context.err(`${view.style.paint("dim", said[0] ?? "that is known already")}\n`);
}

/** Continues a session, null: a new one. Permissions given in the previous one end. */
function enterSession(talk: Talk, session: Session | null): void {
  const { sessions, context, view } = talk;
  const warn = (text: string) => view.notify({ level: "warning", code: "session", text });
  // What the user's own commands printed goes with the next message, also into another session.
  const at = context.now().toISOString();
  const waiting = talk.open.session.pending.filter(({ what }) => what === "command");
  if (waiting.length > 0) talk.open.add({ type: "session.withheld", at });
  talk.open.close();
  startAnew(talk.dialogue);
  talk.open = sessions.open(session, context.now, warn);
  for (const each of waiting) talk.open.add({ type: "session.noted", at, ...each });
  view.allowing.forget();
}

function clear(talk: Talk, words: string): void {
  if (words !== "") {
    throw new PaiError("usage", "/clear takes no words; nothing was cleared", {
      hint: "/clear starts a new session; what you type next is its first task",
    });
  }
  enterSession(talk, null);
  say(talk, "cleared: the next task knows nothing of the earlier ones, and what you allowed is asked again");
}

function resume(talk: Talk, id: string): void {
  const { sessions, context } = talk;
  if (id === "") {
    const rows = sessions
      .list()
      .slice(0, 10)
      .map((row) => renderListed(row, columnsOf(context.env)));
    say(talk, rows.length === 0 ? "no session here yet" : `${rows.join("\n")}\ngo on with one: /resume ID`);
    return;
  }
  const { session } = sessions.load(id);
  enterSession(talk, session);
  say(talk, `session ${session.id}, ${counted(session.turns.length, "turn")}`);
}

function allow(talk: Talk, words: string): void {
  const { allowing } = talk.view;
  const dropped = /^drop\s+(\d+)$/.exec(words)?.[1];
  if (dropped !== undefined) {
    const at = Number(dropped) - 1;
    const gone = allowing.allowed()[at];
    if (gone === undefined)
      throw new PaiError("usage", `nothing is allowed as number ${dropped}`, { hint: "see /allow" });
    allowing.drop(at);
    say(talk, `asked again: ${gone.what}`);
    return;
  }
  if (words !== "") {
    allowing.allowPattern(words);
    say(talk, `allowed in this session, inside the sandbox: commands like ${visibleLine(words)}`);
    return;
  }
  const kinds = { folder: "changes, but no plans, below", command: "the command", pattern: "commands like" };
  const rows = allowing.allowed().map(({ kind, what }, at) => `${at + 1}. ${kinds[kind]} ${visibleLine(what)}`);
  const list = `${rows.join("\n")}\ndrop one: /allow drop N`;
  say(talk, rows.length === 0 ? "nothing is allowed in advance: pai asks each time" : list);
}

async function exportTalk(talk: Talk, path: string): Promise<void> {
  const { context, open } = talk;
  if (path === "") throw new PaiError("usage", "/export needs a file", { hint: "/export session.md" });
  const file = resolve(context.cwd, path);
  const { session } = open;
  if (session.turns.length === 0) throw new PaiError("usage", "this session has no turn to export yet");
  try {
    writeFileSync(file, renderExport(session, talk.composed.cover), { flag: "wx", mode: 0o600 });
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== "EEXIST") throw toPaiError(thrown, file);
    throw new PaiError("usage", `${path} exists`, { hint: "name a new file" });
  }
  say(talk, `${counted(session.turns.length, "turn")} written to ${visibleLine(path)}`);
}

function showOutput({ outputs, context, view }: Talk, number: string): void {
  const count = outputs.length;
  if (count === 0) throw new PaiError("usage", "nothing was looked at or run yet");
  const output = outputs[number === "" ? count - 1 : Number(number) - 1];
  if (output === undefined) throw new PaiError("usage", `no output ${number}`, { hint: `there are ${count}` });
  const dim = (text: string) => context.err(`${view.style.paint("dim", text)}\n`);
  dim(visibleLine(output.title));
  context.out(`${refit(visible(output.text).trimEnd(), columnsOfResults(context))}\n`);
  if (number === "" && count > 1) dim(`the last of ${count}: /output NUMBER shows another`);
}

/** What is in force now: the settings with which the session began, and what slash commands chose since. */
function settingsNow({ composed, mode, effort, model }: Talk): SettingsNow {
  const { settings, values, origins } = composed.base;
  const chosen = [
    ["mode", mode, mode === usualMode(composed.base)],
    ["effort", effort, effort === settings.effort],
    ["model", model?.model.id ?? settings.model, model === undefined],
  ] as const;
  return {
    values: { ...values, ...Object.fromEntries(chosen.map(([name, value]) => [name, value])) },
    origins: {
      ...origins,
      ...Object.fromEntries(chosen.flatMap(([name, , isOld]) => (isOld ? [] : [[name, `/${name}`]]))),
    },
  };
}

/** `pai config` with the values in force now; what is set by it counts from the next session on. */
async function setConfig(talk: Talk, words: string): Promise<void> {
  const [, name = "", value = ""] = /^(\S*)\s*(.*)$/s.exec(words.trim()) ?? [];
  const verb = name === "" ? ["list"] : value === "" ? ["get", name] : ["set", name, value];
  await configIn(settingsNow(talk))({ ...talk.context, words: verb });
  if (value === "") return;
  const isSlashed = ["mode", "model", "effort"].includes(name);
  say(talk, `counts from the next session on${isSlashed ? `; in this one: /${name} ${value}` : ""}`);
}

const reverseRun =
  (kind: "undo" | "redo"): Slash["run"] =>
  async ({ context }, text) =>
    void (await reverse({ ...context, words: text.split(/\s+/).filter(Boolean) }, kind, true));

export const slashCommands: readonly Slash[] = [
  { name: "help", about: "this list", run: (talk) => say(talk, renderHelp(talk)) },
  { name: "model", about: "list models, or switch: /model NUMBER or PROVIDER:NAME", run: switchModel },
  { name: "mode", about: "how pai goes about a task: /mode explains, /mode NAME switches", run: switchMode },
  { name: "effort", about: `how hard the model thinks: ${efforts.join(", ")}`, run: switchEffort },
  { name: "plan", about: "make a plan only: /plan TASK; then y carries it out", run: planTurn },
  { name: "context", about: "what a message would send: /context, /context MESSAGE", run: showContext },
  {
    name: "tasks",
    about: "what the model still has to do, where it keeps a list",
    run: (talk) => say(talk, visible(renderTasks(talk.open.session.conversation.tasks))),
  },
  { name: "cost", about: "calls, tokens and cost since pai was started", run: (talk) => say(talk, renderSpent(talk)) },
  { name: "compact", about: "make the conversation a summary, so that it takes less room", run: compactTalk },
  { name: "clear", about: "start a new session", run: clear },
  { name: "undo", about: "take back the last run, or one: /undo RUN", run: reverseRun("undo") },
  { name: "redo", about: "bring back what /undo or /rewind took back, or one: /redo RUN", run: reverseRun("redo") },
  { name: "rewind", about: "go back to an earlier turn: code, conversation or both", run: rewindTalk },
  { name: "resume", about: "list sessions, or go on with one: /resume ID", run: resume },
  {
    name: "allow",
    about: "what needs no question in this session; allow commands: /allow PATTERN; drop one: /allow drop N",
    run: allow,
  },
  { name: "export", about: "write this session to a file: /export FILE", run: exportTalk },
  { name: "output", about: "all that the last look or command said", run: showOutput },
  { name: "config", about: "settings in force: /config, /config NAME; set one: /config NAME VALUE", run: setConfig },
  { name: "diff", about: "what this session has changed: /diff, /diff PATH", run: showSessionDiff },
  { name: "memory", about: "show MEMORY.md and what is remembered", run: showMemory },
  { name: "remember", about: "keep a fact about this project: /remember TEXT", run: remember },
];

export const listOwn = ({ composed: { base, opened } }: Talk): readonly PromptFile[] =>
  listCustom({ places: base.places, root: opened.workspace.root });

function renderHelp(talk: Talk): string {
  const columns = columnsOf(talk.context.env);
  const rows = [
    ...slashCommands.map(({ name, about }) => [`/${name}`, about] as const),
    ...listOwn(talk).map(
      ({ name, about, path }) => [`/${name}`, visibleLine(about) || path || "a command of your own"] as const,
    ),
    ["/quit", "leave (also: exit, quit, Ctrl+D)"],
    ["@path", "show the model a file, also an ignored one"],
    ["!command", "run a command of your own; its output goes with the next message"],
    ["Escape", "stops a reply; at a question: no"],
  ] as const;
  return [
    ...rows.flatMap(([name, about]) => hang(pad(name, 11), about, columns)),
    ...wrap("After a task, y does its next steps, a number does that one", columns),
    ...wrap(
      "Keys: Alt+Enter new line, Tab completes, Ctrl+R searches, Ctrl+X Ctrl+E opens your editor, Ctrl+C stops a task or clears what you typed, Ctrl+Y brings that back",
      columns,
    ),
  ].join("\n");
}

export const isSlash = (word: string): boolean => slashCommands.some(({ name }) => name === word);

export const isSlashLine = (line: string): boolean => isSlash(/^\/(\S*)/.exec(line)?.[1]?.toLowerCase() ?? "");

/** Runs a line that begins with a slash. Throws usage for an unknown command. */
export async function doSlash(talk: Talk, line: string): Promise<void> {
  const [, name = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const command = slashCommands.find((each) => each.name === name.toLowerCase());
  if (command !== undefined) return command.run(talk, rest.trim());
  const names = [...slashCommands, ...listOwn(talk)].map((each) => each.name);
  throw new PaiError("usage", `unknown command: /${name}`, {
    hint: didYouMean(name, names, (near) => `/${near}`) ?? habitInSession(name) ?? "see /help",
  });
}
