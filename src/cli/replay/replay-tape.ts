/** Plays a receipt back in order: replies of the model, decisions, results of commands, on the files as they were before the run. */

import {
  type Blob,
  type Change,
  type Effect,
  type Effects,
  invert,
  noEffects,
  openAuthors,
  sameBlob,
  squash,
} from "../../core/change.ts";
import type { SandboxState } from "../../core/command/sandbox.ts";
import { surveyView } from "../../core/context/staged-survey.ts";
import type { Term } from "../../core/context/words.ts";
import { digest } from "../../core/digest.ts";
import { type Failure, PaiError } from "../../core/error.ts";
import type { ProjectMemory } from "../../core/memory.ts";
import { type Json, type Model, type ModelEvent, type ModelRequest, noUsage } from "../../core/model.ts";
import type { RelPath } from "../../core/path.ts";
import type { PlanCache, Transaction, Workspace } from "../../core/ports.ts";
import type { Decision, Question } from "../../core/question.ts";
import { type ChangedContent, type Fact, type FactOf, factsOf } from "../../core/receipt.ts";
import { blankSecrets } from "../../core/secrets/veil.ts";
import { createOverlay, type Overlay } from "../../flows/stage.ts";
import { describeRequest, keyOfTerms } from "../../store/record-receipt.ts";
import type { History } from "../../workspace/journal/run-history.ts";

export type ReplayTape = ReturnType<typeof playTape>;

const noSandbox: SandboxState = { level: null, choice: "off", text: "none", why: null, proposes: false };

const toError = ({ code, message, hint, retry_after }: Failure) =>
  new PaiError(code, message, { hint, retryAfter: retry_after });

const sameInput = (a: Json, b: Json) => blankSecrets(JSON.stringify(a)) === blankSecrets(JSON.stringify(b));

/** Facts that the replay learns are not kept. */
function memoryOf(said: readonly FactOf<"memory">[]): ProjectMemory | null {
  const [first] = said;
  if (first === undefined) return null;
  const left = [...said];
  return { recall: async () => (left.shift() ?? first).text, learn: first.learns ? async () => [] : null };
}

/** Plays the facts back in order. Where they run out, it throws the error with which the recorded run ended. */
export function playTape(facts: readonly Fact[], started: FactOf<"run.started">) {
  const ended = factsOf(facts, "run.finished").at(-1)?.outcome.error ?? null;
  /** The first difference of the replay from the recorded run, in words; null: none. */
  let difference: string | null = null;

  const differ = (why: string) => {
    difference ??= why;
  };
  const runOut = (what: string): never => {
    differ(`it needs ${what} that the receipt does not contain`);
    throw ended === null
      ? new PaiError("failed", `the receipt ends before ${what} that the replay needs`)
      : toError(ended);
  };
  const queueOf = <T extends Fact["type"]>(type: T) => {
    const left = [...factsOf(facts, type)];
    /** Removes and returns the first fact that matches the first predicate, otherwise the next one, and so on; null: none. */
    return (...wanted: readonly ((fact: FactOf<T>) => boolean)[]): FactOf<T> | null => {
      const at = wanted.map((fits) => left.findIndex(fits)).find((index) => index >= 0) ?? -1;
      return at < 0 ? null : (left.splice(at, 1)[0] ?? null);
    };
  };
  const next = () => true;
  const nextCall = queueOf("call");
  const nextDecision = queueOf("decision");
  const nextChanges = queueOf("changes");
  const nextCommand = queueOf("command");
  const nextCached = queueOf("cached");
  const nextRepository = queueOf("repository");
  const nextLook = queueOf("look");
  const nextRanking = queueOf("ranking");
  let asked = 0;
  const why = started.task.earlier > 0 ? "it went on from earlier tasks of its session" : "the project has changed";

  async function* stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    asked += 1;
    const { sha256 } = describeRequest(request);
    // Helpers that explored at the same time were recorded in the order in which they ended.
    const isOf = ({ purpose }: FactOf<"call">) => purpose === request.purpose;
    const call = nextCall((fact) => isOf(fact) && fact.sha256 === sha256, isOf) ?? runOut("a reply");
    if (sha256 !== call.sha256) differ(`request ${asked} (${request.purpose}) differs: ${why}`);
    if (call.text !== "") yield { type: "text", text: call.text };
    for (const each of call.calls) yield { type: "call", call: each };
    if (call.error !== null) throw toError(call.error);
    const { stop, usage, served, key } = call;
    if (stop === null) return;
    yield { type: "done", stop, usage: usage ?? noUsage, served: served ?? "", key, native: null };
  }

  const modelOf = (id: string): Model => ({
    ...started.model,
    id,
    provider: id.split(":", 1)[0] ?? "",
    name: id.slice(id.indexOf(":") + 1),
    address: null,
    stream,
  });
  const [, forPlan = "", forWork = ""] = /^plan=(.+),work=(.+)$/.exec(started.model.id) ?? [];
  const parts = forPlan === "" ? {} : { parts: { plan: modelOf(forPlan), work: modelOf(forWork) } };

  return {
    model: { ...modelOf(started.model.id), ...parts },
    async decide({ kind }: Question): Promise<Decision> {
      const said = nextDecision((fact) => fact.kind === kind) ?? runOut("a decision");
      const { accept, by, reason, feedback, review = false } = said;
      return accept ? { accept, by, reason, review } : { accept, by, reason, feedback };
    },
    /** Called when changes are applied; throws the error of the recorded application, if any. */
    nextApply() {
      const { error } = nextChanges(next) ?? runOut("a change");
      if (error !== null) throw toError(error);
    },
    nextCommand(command: string) {
      const fact = nextCommand((each) => blankSecrets(each.command) === blankSecrets(command)) ?? runOut("a command");
      if (fact.error !== null) throw toError(fact.error);
      return fact;
    },
    /** The recorded result of a look; null: the receipt has none for this input. */
    nextLook: (action: string, input: Json) =>
      nextLook((fact) => fact.action === action && sameInput(fact.input, input)),
    /** The branch as recorded in the next request; "": none. */
    nextRepository: () => nextRepository(next)?.text ?? "",
    planCache: { load: () => nextCached(next)?.plan ?? null, save() {} } satisfies PlanCache,
    memory: memoryOf(factsOf(facts, "memory")),
    sandbox: factsOf(facts, "sandbox").at(0)?.state ?? noSandbox,
    /** The ranking of the next request; null: the receipt has none for these terms. */
    nextRanking: (terms: readonly Term[]) => nextRanking(({ key }) => key === keyOfTerms(terms)),
    /** Paths that the recorded run could not undo. */
    left: factsOf(facts, "rolled_back").at(-1)?.left ?? [],
    get difference() {
      return difference;
    },
  };
}

async function goBack(workspace: Workspace, history: History, id: string): Promise<Overlay> {
  const wanted = new Map<RelPath, Blob | null>();
  for (const run of history.list()) {
    if (run.id < id || run.status !== "applied") continue;
    for (const { path, before } of history.work(run.id) ?? []) wanted.set(path, before);
  }
  const past = createOverlay(workspace);
  for (const [path, after] of wanted) {
    const before = await past.read(path).catch(() => null);
    if (!sameBlob(before, after)) past.stage([{ path, before, after, from: null }]);
  }
  past.settle(null);
  return past;
}

/** Missing parent folders of new content, as the real workspace would create them. */
async function missingFolders(past: Overlay, changes: readonly Change[]): Promise<Change[]> {
  const missing = new Map<string, Change>();
  const planned = new Set<string>(changes.flatMap(({ path, after }) => (after === null ? [] : [path])));
  for (const { path, after } of changes) {
    const names = after === null ? [] : path.split("/").slice(0, -1);
    for (const at of names.keys()) {
      const folder = names.slice(0, at + 1).join("/") as RelPath;
      if (missing.has(folder) || planned.has(folder) || (await past.read(folder)) !== null) continue;
      missing.set(folder, { path: folder, before: null, after: { kind: "folder", mode: 0o755 }, from: null });
    }
  }
  return [...missing.values()];
}

/** Content that a command wrote: from the receipt, or from the journal if it was too large for the receipt. */
function contentOf({ path, after, content }: ChangedContent, work: readonly Change[]): Blob | null {
  if (content?.kind !== "file") return content;
  const kept = work.find((change) => change.path === path)?.after;
  if (content.base64 !== null)
    return { kind: "file", mode: content.mode, bytes: new Uint8Array(Buffer.from(content.base64, "base64")) };
  if (kept?.kind === "file" && digest(kept.bytes) === after) return kept;
  throw new PaiError("failed", `what a command wrote to ${path} was too large to be kept`);
}

function openMemory(past: Overlay, id: string, tape: ReplayTape, work: readonly Change[]): Transaction {
  const done: Change[] = [];
  const authors = openAuthors();
  const pending = new Set<Effects>();
  const put = (changes: readonly Change[]) => {
    past.stage(changes);
    past.settle(null);
    done.push(...changes);
  };
  return {
    id,
    commandPaths: authors.commandPaths,
    get changes() {
      return [...done];
    },
    async apply(changes, by = "plan") {
      tape.nextApply();
      authors.note(by, changes);
      put([...(await missingFolders(past, changes)), ...squash(changes)]);
    },
    async run(command) {
      const fact = tape.nextCommand(command);
      const { exit, timedOut, output, ms, notes, level = null, proposed = false, wall = null, ignored = [] } = fact;
      const asEffects = async (all: readonly ChangedContent[], isIgnored: boolean) => {
        const read: Effect[] = [];
        for (const each of all) {
          const path = each.path as RelPath;
          const before = await past.read(path).catch(() => null);
          read.push({ path, before, after: contentOf(each, work), from: each.from as RelPath | null, isIgnored });
        }
        return read;
      };
      const changes = [...(await asEffects(fact.changes, false)), ...(await asEffects(ignored, true))];
      if (!proposed) {
        authors.note("command", changes);
        put(changes);
      }
      const held = { level, network: false, isCopy: proposed, withheld: [], hidden: [], wall };
      const effects: Effects = { ...noEffects, changes, notes };
      if (proposed) pending.add(effects);
      return { exit, timedOut, output, ms, held, effects };
    },
    async keep(effects, isKept) {
      const isNew = pending.delete(effects);
      const ignored = effects.changes.filter(({ isIgnored, path }) => isIgnored && isKept(path) === isNew);
      if (ignored.length === 0) return [];
      tape.nextApply();
      if (isNew) authors.note("command", ignored);
      put(isNew ? ignored : invert(ignored));
      return [];
    },
    async drop(effects, paths) {
      const isOnDisk = !pending.delete(effects);
      const back = effects.changes.filter(({ path }) => isOnDisk && (paths === null || paths.has(path)));
      if (back.length > 0) {
        tape.nextApply();
        put(invert(back));
      }
      return { left: [], stays: [] };
    },
    async rollback() {
      const restored = invert(squash(done));
      put(restored);
      done.length = 0;
      return { restored, left: tape.left as readonly RelPath[] };
    },
    close: async () => {},
  };
}

export async function openPast(
  workspace: Workspace,
  history: History,
  id: string,
  tape: ReplayTape,
): Promise<Workspace> {
  const past = await goBack(workspace, history, id);
  const work = history.work(id) ?? [];
  return {
    ...past,
    root: workspace.root,
    undoable: false,
    concern: (path) => workspace.concern(path),
    whyClosed: (path) => workspace.whyClosed(path),
    openClosed: (paths) => workspace.openClosed(paths),
    parse: (text) => workspace.parse(text),
    names: () => 1,
    // A replay changes nothing, so no command of the user follows.
    runAfter: async () => ({ exit: 0, timedOut: false, ms: 0, output: "" }),
    sandbox: async () => tape.sandbox,
    repository: async () => tape.nextRepository(),
    survey: (terms) => ({ ...surveyView(past, terms), recorded: tape.nextRanking }),
    begin: async () => openMemory(past, id, tape, work),
  };
}
