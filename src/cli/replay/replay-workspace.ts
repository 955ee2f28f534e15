/** An in-memory workspace with the state before a run, for a replay. It writes nothing and runs no command. */
import { type Blob, type Change, invert, openAuthors, sameBlob, squash } from "../../core/change.ts";
import { surveyView } from "../../core/context/survey-view.ts";
import { digest } from "../../core/digest.ts";
import { type Effect, type Effects, noEffects } from "../../core/effects.ts";
import { PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import type { Transaction, Workspace } from "../../core/ports.ts";
import type { ChangedContent } from "../../core/receipt.ts";
import { createOverlay, type Overlay } from "../../flows/stage.ts";
import type { History } from "../../workspace/journal/run-history.ts";
import type { ReplayTape } from "./replay-tape.ts";

/** Undoes, on top of the workspace, this run and all later ones. */
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
      const readAll = async (all: readonly ChangedContent[]): Promise<Change[]> => {
        const read: Change[] = [];
        for (const each of all) {
          const path = each.path as RelPath;
          const from = each.from as RelPath | null;
          read.push({ path, before: await past.read(path).catch(() => null), after: contentOf(each, work), from });
        }
        return read;
      };
      const asEffects = async (all: readonly ChangedContent[], isIgnored: boolean) =>
        (await readAll(all)).map((change): Effect => ({ ...change, isIgnored }));
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
