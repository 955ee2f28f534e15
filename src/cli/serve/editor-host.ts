/** Sessions for an editor: like a session at the terminal, with the editor as its face. */

import { asBlock } from "../../acp/door.ts";
import type { Choice, EditorTalk, Host } from "../../acp/host.ts";
import { serveAcp } from "../../acp/serve.ts";
import { createDialogue } from "../../core/dialogue.ts";
import { PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import { providers, renderSetKey } from "../../core/providers.ts";
import { decode } from "../../core/text.ts";
import type { Task } from "../../flows/run.ts";
import { singleShot } from "../../flows/single-shot.ts";
import { knownModels } from "../../models/catalogue.ts";
import { providerOfModel } from "../../models/open.ts";
import { findKeys } from "../../store/keys.ts";
import { type OpenSession, openSessions } from "../../store/sessions.ts";
import { modes } from "../../store/setting-table.ts";
import { spellQuestion } from "../../ui/prompt/read-answer.ts";
import { markMixed, openVisible, visible } from "../../ui/sanitize.ts";
import { findMentions } from "../at-paths.ts";
import { type Context, closeAfter, type Handler } from "../command.ts";
import { contextCommand } from "../commands/context.ts";
import { reverse } from "../commands/history.ts";
import { version } from "../commands/version.ts";
import { type Base, composeBase } from "../compose/base.ts";
import { type ComposedModel, composeModel, type Face, listModels, withModel } from "../compose/compose-model.ts";
import { type Composed, composeTask, openHere } from "../compose/compose-task.ts";
import { expandCustom, listCustom, looksCustom, unknownCustom } from "../compose/custom.ts";
import { composeOptions, flowFor, limitTime } from "../compose/options.ts";
import { renderHiddenHere } from "../compose/view.ts";
import { continueWith } from "../session/continue-session.ts";
import { changesOfSession, sayChangedSince } from "../session/rewind.ts";
import { modeAbout } from "../session/slash.ts";
import { usualMode } from "../session/talk.ts";
import { watchTruth } from "../session/watch-truth.ts";
import { openProtocolStreams } from "./streams.ts";

/** Before the first turn nobody can be asked. */
const faceOf = (tell: (text: string) => void): Face => ({ notify: ({ text }) => tell(text), confirm: null });

const planOnly = "plan";

const modeChoices: readonly Choice[] = [
  ...modes.map((name) => ({ name, description: modeAbout[name] })),
  { name: planOnly, description: "makes a plan and changes nothing" },
];

const commands: readonly Choice[] = [
  { name: "undo", description: "take back the last run, or one: /undo RUN" },
  { name: "redo", description: "bring back what /undo took back" },
  { name: "context", description: "what a message would send: /context MESSAGE" },
  { name: "diff", description: "what this session has changed" },
];

function modelChoices({ env, now }: Context, { places }: Base, inUse: string): readonly Choice[] {
  const day = now().toISOString().slice(0, 10);
  const keyed = new Set(
    providers.filter((row) => findKeys(row, { env, places }).length > 0).map(({ id }) => id as string),
  );
  const usable = knownModels.filter(({ provider, ends }) => (ends ?? "9") > day && keyed.has(provider));
  const ids = new Set([inUse, ...usable.map(({ provider, name }) => `${provider}:${name}`)]);
  return [...ids].map((name) => ({ name, description: "" }));
}

async function textOf(run: Handler, context: Context, over: Partial<Context>): Promise<string> {
  let said = "";
  const write = (text: string) => {
    said += text;
  };
  const tty = { stdin: false, stdout: false, stderr: false, keyboard: false };
  // Standard input belongs to the protocol.
  const flags = { ...(over.flags ?? context.flags), noStdin: true };
  await closeAfter({ ...context, ...over, flags, out: write, err: write, tty }, run);
  return said.trim();
}

function createTalk(
  context: Context,
  composed: Composed,
  open: OpenSession,
  { tell, closed }: { readonly tell: (text: string) => void; readonly closed: () => void },
): EditorTalk {
  const { base, opened } = composed;
  const { workspace, history } = opened;
  const project = { places: base.places, root: workspace.root };
  const [first] = listModels(base.settings.model);
  let mode: string = usualMode(base);
  let model: ComposedModel | undefined;
  const dialogue = createDialogue();
  const truth = watchTruth(opened, context.now);

  async function taskOf(text: string, mentions: readonly string[], context: string | null): Promise<Task> {
    const named = mentions.map((path) => workspace.path(path, "read"));
    const files = new Set<RelPath>([...named, ...(await findMentions(workspace, text))]);
    return continueWith({ text, context, files: [...files] }, { open, truth, dialogue });
  }

  return {
    id: open.session.id,
    root: workspace.root,
    turns: open.session.turns,
    modes: modeChoices,
    get models() {
      return modelChoices(context, base, model?.model.id ?? first);
    },
    commands,
    get customs() {
      const own = listCustom(project).filter(({ name }) => !commands.some((each) => each.name === name));
      return own.map(({ name, about }) => ({ name, description: about || "a command of your own" }));
    },
    get mode() {
      return mode;
    },
    get model() {
      return model?.model.id ?? first;
    },
    get window() {
      return model?.model.window ?? composed.window;
    },
    setMode(id) {
      if (!modeChoices.some(({ name }) => name === id)) {
        throw new PaiError("usage", `unknown mode: ${id}`, {
          hint: `one of ${modeChoices.map(({ name }) => name).join(", ")}`,
        });
      }
      mode = id;
    },
    async setModel(id) {
      model = await composeModel(withModel(base, id), faceOf(tell), composed.learn);
    },
    async run({ text, mentions, context: along, sink, decide, signal }) {
      const limited = limitTime(AbortSignal.any([context.signal, signal]), base.settings.limits.timeout);
      try {
        const custom = expandCustom(text, project);
        if (custom === null && looksCustom(text)) throw unknownCustom(text, project);
        const task = composed.tellTools(await taskOf(custom ?? text, mentions, along));
        const way = mode === planOnly ? "single-shot" : (modes.find((each) => each === mode) ?? "single-shot");
        const options = {
          ...composeOptions(context, base, mode === planOnly ? "plan" : "run", true),
          mode: way,
          review: "batch" as const,
          planOnly: mode === planOnly,
          keep: context.flags.keep === true || way === "tool-loop",
        };
        const saving: typeof sink = (event) => {
          truth.sink(open, event);
          sink(event);
        };
        const flow = mode === planOnly ? singleShot : await flowFor(way);
        return await composed.run(flow, { task, options, sink: saving, signal: limited.signal, decide, model });
      } finally {
        limited.end();
      }
    },
    async command(id, words, signal) {
      if (id === "undo" || id === "redo") {
        const over = { words: words.split(/\s+/).filter(Boolean), flags: { ...context.flags, yes: true } };
        return textOf((given) => reverse(given, id, true), context, over);
      }
      if (id === "context") return textOf(contextCommand, context, { words: [words === "" ? "…" : words], signal });
      const changes = changesOfSession(history, open.session);
      return changes.length === 0
        ? "this session has changed nothing"
        : `${asBlock(renderHiddenHere(composed.base, changes), "diff")}\n${await sayChangedSince(workspace, changes)}`.trim();
    },
    async readText(path) {
      const blob = await workspace.read(workspace.path(path, "read"));
      return blob?.kind === "file" ? (decode(blob.bytes)?.text ?? null) : null;
    },
    cover: composed.cover,
    close() {
      void truth.saved().then(open.close);
      void composed.close().then(closed);
    },
  };
}

/** `called`: the call of `pai acp`. Its flags are the rights of every session. */
export function openEditorHost(called: Context): Host {
  const at = (folder: string): Context => ({ ...called, cwd: folder });

  return {
    version,
    showing: { text: (text) => markMixed(visible(text)), question: spellQuestion, open: openVisible },
    async open(folder, id, tell) {
      const closing: (() => void)[] = [];
      const base = composeBase({ ...at(folder), onOpened: (close) => closing.push(close) });
      for (const warning of base.warnings) tell(warning);
      const composed = await composeTask(base, faceOf(tell));
      const { workspace, stateFolder } = composed.opened;
      const sessions = openSessions(stateFolder, workspace.root);
      const loaded = id === null ? null : sessions.load(id).session;
      const open = sessions.open(loaded, called.now, tell);
      // Saves even an empty session, since editors may return to it.
      if (loaded === null) open.add({ type: "tasks.updated", tasks: [] });
      const closed = () => {
        for (const close of closing) close();
      };
      return createTalk(base.context, composed, open, { tell, closed });
    },
    list: (folder) =>
      closeAfter(at(folder ?? called.cwd), async (context) => {
        const { workspace, stateFolder } = await openHere(context);
        const { root } = workspace;
        return openSessions(stateFolder, root)
          .list()
          .map(({ id, preview, changed }) => ({ id, root, title: preview, changed: new Date(changed).toISOString() }));
      }),
    requireKey() {
      const base = composeBase(called);
      const [id] = listModels(base.settings.model);
      const provider = providerOfModel(id, base.settings.providers);
      if (provider?.needsKey !== true || findKeys(provider, { env: called.env, places: base.places }).length > 0)
        return;
      throw new PaiError("no_key", `there is no key for ${provider.id}`, {
        hint: `store one with: ${renderSetKey(provider)}`,
      });
    },
  };
}

export async function acpCommand(context: Context): Promise<number> {
  await serveAcp(openEditorHost(context), openProtocolStreams(context));
  return 0;
}
