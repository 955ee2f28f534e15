/** Tells each request of a session what has happened since the last one: to its turns, and to files that they showed or changed. */
import { resolve } from "node:path";
import type { Change } from "../../core/change.ts";
import { digest } from "../../core/digest.ts";
import { orNull } from "../../core/error.ts";
import type { SentFile, StampedEvent } from "../../core/event.ts";
import type { Outcome } from "../../core/outcome.ts";
import { pathWithin } from "../../core/path.ts";
import type { Workspace } from "../../core/ports.ts";
import { renderHidden } from "../../core/secrets/veil.ts";
import { cutDiff } from "../../core/session/became.ts";
import type { SessionLine } from "../../core/session/line.ts";
import { allTurns, nameRequest, type Session, sayMissing, type Turn } from "../../core/session/session.ts";
import { nameSome } from "../../core/suggest.ts";
import { findBuilt } from "../../flows/changes/meanwhile.ts";
import type { OpenSession } from "../../store/sessions.ts";
import { entryAt } from "../../system/lookups.ts";
import { heldFile, heldIn, type KeptRun } from "../../workspace/journal/run-history.ts";
import type { OpenedWorkspace } from "../../workspace/open.ts";

export type TruthWatch = ReturnType<typeof watchTruth>;

/** How many files are watched: those that were shown or changed last. */
const maxWatched = 200;
const maxNamed = 10;

/** What each path holds, as `heldIn` says it, or of a file its digest alone. */
type Held = Readonly<Record<string, string | null>>;

/** What a path holds now; null: nothing; undefined: it cannot be read. */
async function heldAt(workspace: Workspace, path: string): Promise<string | null | undefined> {
  // A path in which a secret is hidden is that of no file.
  if (/<<SECRET_|\[masked\]/.test(path)) return undefined;
  try {
    const blob = await workspace.read(workspace.path(path, "read"), Number.POSITIVE_INFINITY);
    return blob?.kind === "file" ? heldFile(digest(blob.bytes), blob.mode) : heldIn(blob);
  } catch {
    return undefined;
  }
}

/** What a file that is shown or made just now holds: its mode is that of the disk. */
function heldNow(root: string, path: string, hash: string): string {
  const mode = orNull(() => entryAt(resolve(root, path)))?.mode;
  return mode === undefined ? hash : heldFile(hash, mode);
}

const isStill = (held: string | null | undefined, now: string | null): boolean =>
  now === held || (now !== null && now.slice(0, 64) === held);

/** Files that somebody else, or a command whose work no undo takes back, may have left as they are. */
function othersOf({ changes, left = [], merged = [], lost = [], stays }: Outcome, paths: readonly string[]) {
  const isOfCommand = (path: string) => stays?.paths.some((each) => pathWithin(path, each) !== null);
  const unread = changes.flatMap(({ path, op, after }) => (op !== "delete" && after === null ? path : []));
  return [...left, ...merged, ...lost, ...unread, ...paths.filter(isOfCommand)];
}

function heldBehind(root: string, { changes, dry_run }: Outcome): Held {
  const made = dry_run === true ? [] : changes;
  // What was moved away first: its place may hold something else by now.
  return Object.fromEntries([
    ...made.flatMap(({ from }) => (from === null ? [] : [[from, null]])),
    ...made.map(({ path, after }) => [path, after && heldNow(root, path, after)]),
  ]);
}

/** The path, with what there is now where it is no file. */
function nameChanged([path, held]: readonly [string, string | null]): string {
  if (held === null) return `${path} (gone)`;
  return /^[0-9a-f]{64} /.test(held) ? path : `${path} (${held} now)`;
}

/** Says that the user undid, or brought back, a run that is not a turn of this session. */
function sayReversal({ task, status, missing }: KeptRun): string {
  const what = task.startsWith("!") ? "what the command changed" : "what another run did for";
  return `${status === "undone" ? "undone" : "brought back"} by the user: ${what} ${nameRequest({ request: task })}${sayMissing(missing)}`;
}

/** The end of a turn whose process was killed and whose changes were taken back. It counts one call: a reply made them. */
function endOfCut({ mode }: Turn, run: KeptRun, at: string, work: readonly Change[]): SessionLine {
  const { id, changes } = run;
  const changed = run.status === "applied";
  const left = changed ? work.map(({ path }) => path) : run.left;
  const back = changes.map(({ path }) => path).filter((path) => !left.includes(path));
  const became = [
    back.length === 0 ? "cut off" : `cut off, and what it had changed was taken back: ${nameSome(back, maxNamed)}`,
    ...(left.length === 0 ? [] : [`left as they are: ${nameSome(left, maxNamed)}`]),
  ].join("; ");
  const diff = renderHidden(work.filter(({ path }) => back.includes(path)));
  return {
    ...{ type: "turn.finished", at, run: id, mode, status: "interrupted", text: "", became },
    ...{ diff: diff && cutDiff(`what was taken back:\n${diff}`), next: [], score: null, calls: 1, changed },
  };
}

export function watchTruth({ workspace, history }: Pick<OpenedWorkspace, "workspace" | "history">, now: () => Date) {
  /** The status of each kept run when the model was last told. */
  const seen = new Map<string, KeptRun["status"]>();
  /** Files that somebody else has changed, which the next request tells. */
  let changed: Held = {};
  /** Files that undos and redos have left otherwise since the last turn, which it tells, too. */
  let left: Held = {};
  /** What files held that the run at work has shown, before it changed them. */
  let shown: Record<string, string | null> = {};
  /** What it has changed: a later look at a file may show its own change. */
  let own = new Set<string>();
  /** Ends once what the last run left is known and saved. */
  let looked: Promise<void> = Promise.resolve();

  /** What the files of a session held when the model was last told of them, and when its last turn was. */
  function savedIn(session: Session) {
    const saw = allTurns(session)
      .flatMap((turn) => turn.seen ?? [])
      .toSorted((a, b) => (a.at < b.at ? -1 : 1));
    const known = new Map<string, string | null>();
    for (const [path, held] of saw.flatMap(({ files }) => Object.entries(files))) {
      known.delete(path);
      known.set(path, held);
    }
    return { known: new Map([...known].slice(-maxWatched)), at: saw.at(-1)?.at ?? "" };
  }

  /** What undos and redos of runs that a session knows have written since a time (ISO 8601). */
  function reversedSince({ turns, pending }: Session, since: string) {
    return history.written(new Set([...allTurns({ turns }), ...pending].flatMap(({ run }) => run ?? [])), since);
  }

  /** Where undos and redos have left the files of a session since; a word for what they merged with somebody's lines. */
  const leftIn = (session: Session): Held =>
    Object.fromEntries(
      reversedSince(session, savedIn(session).at).map(({ path, after, merged }) => [path, merged ? "merged" : after]),
    );

  async function findChanged(known: ReadonlyMap<string, string | null>, paths: Iterable<string>): Promise<Held> {
    const found: Record<string, string | null> = {};
    for (const path of paths) {
      const held = await heldAt(workspace, path);
      if (held !== undefined && !isStill(known.get(path), held)) found[path] = held;
    }
    return found;
  }

  function save(open: OpenSession, files: Held): void {
    const last = open.session.turns.at(-1);
    if (last === undefined) return;
    open.add({ type: "turn.saw", at: now().toISOString(), run: last.run, files: { ...last.seen?.files, ...files } });
  }

  /** Saves what the model of a run that has ended knows: what it was shown and has made. */
  async function learn(open: OpenSession, outcome: Outcome): Promise<void> {
    const told = { ...shown, ...heldBehind(workspace.root, outcome) };
    const { session } = open;
    const paths = [...savedIn(session).known.keys(), ...Object.keys(told)];
    const built = outcome.checks.length === 0 ? [] : await findBuilt(workspace, paths);
    const others = [...othersOf(outcome, paths), ...built];
    // An undo of another process while the run worked is told as such.
    const reversed = reversedSince(session, session.turns.at(-1)?.at ?? "").map(({ path }) => path);
    save(open, { ...told, ...(await findChanged(new Map(Object.entries(told)), [...others, ...reversed])) });
  }

  function seeRuns(runs: readonly KeptRun[]): void {
    for (const { id, status } of runs) seen.set(id, status);
  }
  seeRuns(history.list());

  /** Only a person undoes and redoes; a run that was rolled back may be brought back, and what its rollback left be undone. */
  function isReversed({ id, status, task }: KeptRun, turn: Turn | undefined): boolean {
    if (status !== "applied" && status !== "undone") return false;
    if (turn !== undefined) {
      const isOther = (turn.changed && turn.undone !== true) !== (status === "applied");
      return turn.status !== null && (isOther || seen.get(id) === "rolled_back");
    }
    const earlier = seen.get(id) ?? (task.startsWith("!") ? "applied" : status);
    return earlier !== status && earlier !== "open";
  }

  /** Ends the turns whose process was killed and whose changes have been taken back since. */
  function endCut(open: OpenSession, turns: ReadonlyMap<string, Turn>, runs: readonly KeptRun[]): void {
    for (const run of runs) {
      const turn = turns.get(run.id);
      const isBack = run.status === "rolled_back" || (run.status === "applied" && run.cut === true);
      if (turn?.status !== null || !isBack || run.changes.length === 0) continue;
      open.add(endOfCut(turn, run, now().toISOString(), history.work(run.id) ?? []));
    }
  }

  /** Takes in what other processes added to the session, and which turns were taken back or brought back. */
  function sync(open: OpenSession): void {
    open.refresh();
    const turns = new Map(allTurns(open.session).map((turn) => [turn.run, turn]));
    const runs = history.list();
    endCut(open, turns, runs);
    // An undo that found nothing to take back is none.
    const reversed = runs.filter(
      (run) => isReversed(run, turns.get(run.id)) && history.written(new Set([run.id]), "").length > 0,
    );
    for (const run of reversed.toReversed()) {
      const { id, status, missing } = run;
      const about = { at: now().toISOString(), run: id };
      if (turns.has(id)) open.add({ type: "turn.reversed", ...about, undone: status === "undone", missing });
      else open.add({ type: "session.noted", ...about, what: "reversal", text: sayReversal(run) });
    }
    seeRuns(runs);
  }

  const sayChanged = (): readonly string[] => {
    const names = Object.entries(changed).map(nameChanged);
    return names.length === 0 ? [] : [`changed, not by you: ${nameSome(names, maxNamed)}`];
  };

  function begin(open: OpenSession, event: StampedEvent): void {
    const { at, run } = event;
    for (const text of sayChanged()) open.add({ type: "session.noted", at, what: "found", run: null, text });
    open.sink(event);
    // A run that is killed saves no end.
    open.add({ type: "turn.saw", at, run, files: { ...left, ...changed } });
    [changed, left, shown, own] = [{}, {}, {}, new Set()];
  }

  function noteShown(files: readonly SentFile[]): void {
    for (const { path, sha256 } of files) if (!own.has(path)) shown[path] = heldNow(workspace.root, path, sha256);
  }

  return {
    /** Saves an event of a run in the session, and with it what the model is told and knows. */
    sink(open: OpenSession, event: StampedEvent) {
      if (event.type === "run.started") return begin(open, event);
      open.sink(event);
      if (event.type === "context.sent") noteShown(event.files);
      if (event.type === "changes.applied") for (const { path } of event.changes) own.add(path);
      if (event.type === "run.finished") looked = learn(open, event.outcome);
    },
    sync,
    /** The session went back to an earlier turn: what there is now, its user knows. */
    async lookAnew(open: OpenSession): Promise<void> {
      seeRuns(history.list());
      const { known } = savedIn(open.session);
      save(open, await findChanged(known, known.keys()));
    },
    /** Resolves once what the last run left is saved. */
    saved: () => looked,
    /** Syncs. Returns what the next request must be told: what the session waits to tell, and what is found changed now. */
    async catchUp(open: OpenSession): Promise<readonly string[]> {
      await looked;
      sync(open);
      left = leftIn(open.session);
      const known = new Map([...savedIn(open.session).known, ...Object.entries(left)]);
      changed = await findChanged(known, known.keys());
      return [...open.session.pending.map(({ text }) => text), ...sayChanged()];
    },
  };
}
