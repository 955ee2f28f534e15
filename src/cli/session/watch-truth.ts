/** Watches what happens to the turns of a session, and to the files that it showed or changed, between two requests. */
import type { Dialogue } from "../../core/dialogue.ts";
import { digest } from "../../core/digest.ts";
import { toPaiError } from "../../core/error.ts";
import type { SentFile, StampedEvent } from "../../core/event.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Workspace } from "../../core/ports.ts";
import { nameRequest, pastOf } from "../../core/session/past.ts";
import type { Turn } from "../../core/session/session.ts";
import { nameSome } from "../../core/suggest.ts";
import type { Task } from "../../flows/run.ts";
import type { OpenSession } from "../../store/sessions.ts";
import type { History, KeptRun } from "../../workspace/journal/run-history.ts";

export interface TruthWatch {
  /** Takes every event of a run. */
  readonly sink: (event: StampedEvent) => void;
  /** Takes in what other processes added to the session, and which turns were taken back or brought back. */
  readonly sync: (open: OpenSession) => void;
  /** Syncs. Returns what the next request must be told. */
  readonly catchUp: (open: OpenSession) => Promise<readonly string[]>;
  /** Begins anew, with the files that the last turns of a session changed. */
  readonly follow: (turns: readonly Turn[]) => void;
}

/** How many files are watched: those that were shown or changed last. */
const maxWatched = 200;
/** How many turns of a resumed session tell what their files held. */
const followed = 2;
const maxNamed = 10;

/** The SHA-256 of a file; null: there is none; undefined: it may not be read. */
async function hashOf(workspace: Workspace, path: string): Promise<string | null | undefined> {
  try {
    const blob = await workspace.read(workspace.path(path, "read"));
    return blob?.kind === "file" ? digest(blob.bytes) : null;
  } catch (thrown) {
    return toPaiError(thrown).code === "path_refused" ? undefined : null;
  }
}

function sayReversal({ task, status }: KeptRun, turn: Turn | undefined): string {
  const who = turn === undefined ? "another run" : "you";
  const what = task.startsWith("!") ? "what the command changed" : `what ${who} did for`;
  const named = nameRequest(turn ?? { request: task });
  if (status !== "undone") return `brought back by the user: ${what} ${named}`;
  const commit = turn?.became.includes("committed as ") === true ? " (its commit stays)" : "";
  return `undone by the user: ${what} ${named}${commit}`;
}

export function watchTruth({
  workspace,
  history,
  now,
}: {
  readonly workspace: Workspace;
  readonly history: History;
  readonly now: () => Date;
}): TruthWatch {
  /** What each file held when the model was last told; null: it did not exist. */
  const known = new Map<string, string | null>();
  /** Files whose present content the next request tells. */
  let told: ReadonlyMap<string, string | null> = new Map();
  /** The status of each kept run when the model was last told. */
  const seen = new Map<string, KeptRun["status"]>();
  /** Files that the run at work has shown already: what it shows later may be its own change. */
  let shown = new Set<string>();
  /** What the next request tells of each run that was reversed, and what their files hold if nobody else changed them. */
  const notes = new Map<string, string>();
  const left = new Map<string, string | null>();

  function learn(path: string, hash: string | null): void {
    known.delete(path);
    known.set(path, hash);
    const [oldest] = known.keys();
    if (known.size > maxWatched && oldest !== undefined) known.delete(oldest);
  }

  function learnOutcome({ changes }: Outcome): void {
    for (const { path, from, op, after } of changes) {
      if (from !== null) learn(from, null);
      if (op === "delete" || after !== null) learn(path, after);
    }
  }

  function seeRuns(): void {
    for (const { id, status } of history.list()) seen.set(id, status);
  }

  /** What an undone run leaves in its files, and a standing one. */
  function leftBy({ id, status }: KeptRun): ReadonlyMap<string, string | null> {
    const left = new Map<string, string | null>();
    for (const { path, before, after } of history.work(id) ?? []) {
      const blob = status === "applied" ? after : before;
      if (blob === null) left.set(path, null);
      else if (blob.kind === "file") left.set(path, digest(blob.bytes));
    }
    return left;
  }

  /** Only a person undoes and redoes; a run of the session that was rolled back may be brought back, too. */
  function isReversed({ id, status, task }: KeptRun, turn: Turn | undefined): boolean {
    if (status !== "applied" && status !== "undone") return false;
    if (turn !== undefined && turn.status !== null)
      return (turn.changed && turn.undone !== true) !== (status === "applied");
    const earlier = seen.get(id) ?? (task.startsWith("!") ? "applied" : status);
    return earlier !== status && earlier !== "open";
  }

  function sync(open: OpenSession): void {
    const had = new Set(open.session.turns.map(({ run }) => run));
    open.refresh();
    const added = new Set(open.session.turns.flatMap(({ run }) => (had.has(run) ? [] : [run])));
    const turns = new Map(open.session.turns.flatMap((turn) => [turn, ...turn.told]).map((turn) => [turn.run, turn]));
    const runs = history.list();
    const newest = runs.filter((run) => run.changes.length > 0 && isReversed(run, turns.get(run.id)));
    const reversed = newest.toReversed();
    // Of runs on one file the newest is undone first, and brought back last.
    const undone = newest.filter(({ status }) => status === "undone");
    const back = reversed.filter(({ status }) => status === "applied");
    const others = runs.filter(({ id }) => added.has(id)).reverse();
    for (const run of [...others, ...undone, ...back]) for (const [path, hash] of leftBy(run)) left.set(path, hash);
    for (const { id: run, status } of reversed)
      if (turns.has(run))
        open.add({ type: "turn.reversed", at: now().toISOString(), run, undone: status === "undone" });
    // An undo and its redo, neither of them told yet, cancel each other.
    for (const run of reversed) if (!notes.delete(run.id)) notes.set(run.id, sayReversal(run, turns.get(run.id)));
    seeRuns();
  }

  async function findChanged(): Promise<readonly string[]> {
    const changed = new Map<string, string | null>();
    for (const [path, hash] of known) {
      const actual = await hashOf(workspace, path);
      if (actual !== undefined && actual !== hash) changed.set(path, actual);
    }
    told = changed;
    const others = [...changed].filter(([path, hash]) => left.get(path) !== hash);
    const name = (paths: typeof others) =>
      nameSome(
        paths.map(([path, hash]) => (hash === null ? `${path} (gone)` : path)),
        maxNamed,
      );
    const [alone, also] = [others.filter(([path]) => !left.has(path)), others.filter(([path]) => left.has(path))];
    return [
      ...(alone.length === 0 ? [] : [`changed since your last turn, not by you: ${name(alone)}`]),
      ...(also.length === 0 ? [] : [`changed since your last turn by somebody else, too: ${name(also)}`]),
    ];
  }

  /** A run begins: it is told what has changed. */
  function begin(): void {
    notes.clear();
    left.clear();
    for (const [path, hash] of told) learn(path, hash);
    told = new Map();
    shown = new Set();
  }

  function learnShown(files: readonly SentFile[]): void {
    for (const { path, sha256 } of files) if (!shown.has(path)) learn(path, sha256);
    for (const { path } of files) shown.add(path);
  }

  return {
    sink(event) {
      if (event.type === "run.started") begin();
      else if (event.type === "context.sent") learnShown(event.files);
      else if (event.type === "run.finished") learnOutcome(event.outcome);
      else if (event.type === "changes.rolled_back") for (const { path } of event.changes) known.delete(path);
    },
    sync,
    async catchUp(open) {
      sync(open);
      return [...notes.values(), ...(await findChanged())];
    },
    follow(turns) {
      for (const map of [known, notes, left]) map.clear();
      seeRuns();
      const runs = new Map(history.list().map((run) => [run.id, run]));
      for (const { run } of turns.slice(-followed)) {
        const kept = runs.get(run);
        if (kept !== undefined) for (const [path, hash] of leftBy(kept)) learn(path, hash);
      }
    },
  };
}

/** A task with what the session knows: what was said, what became of it, and what has happened since. */
export async function continueWith(
  task: Pick<Task, "text" | "context" | "files">,
  { open, truth, dialogue }: { readonly open: OpenSession; readonly truth: TruthWatch; readonly dialogue: Dialogue },
): Promise<Task> {
  const notes = await truth.catchUp(open);
  const { session } = open;
  const { conversation } = session;
  return { ...task, history: pastOf(session), context: joinNotes(notes, task.context), conversation, dialogue };
}

/** What the next request is told besides its task; null: nothing. */
function joinNotes(notes: readonly string[], offered: string | null): string | null {
  const since = notes.length === 0 ? [] : [`Since your last turn:\n${notes.map((note) => `- ${note}`).join("\n")}`];
  const parts = [...since, ...(offered === null ? [] : [offered])];
  return parts.length === 0 ? null : parts.join("\n\n");
}
