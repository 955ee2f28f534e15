/** Watches what happens to the turns of a session, and to the files that it showed or changed, between two requests. */
import type { Dialogue } from "../../core/dialogue.ts";
import { digest } from "../../core/digest.ts";
import { toPaiError } from "../../core/error.ts";
import type { SentFile, StampedEvent } from "../../core/event.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Workspace } from "../../core/ports.ts";
import { pastOf } from "../../core/session/past.ts";
import type { Turn } from "../../core/session/session.ts";
import { nameSome } from "../../core/suggest.ts";
import type { Task } from "../../flows/run.ts";
import type { OpenSession } from "../../store/sessions.ts";
import type { History } from "../../workspace/journal/run-history.ts";

export interface TruthWatch {
  /** Takes every event of a run. */
  readonly sink: (event: StampedEvent) => void;
  /** Notes in the session which turns were taken back or brought back. Returns what the next request must be told. */
  readonly catchUp: (open: OpenSession) => Promise<readonly string[]>;
  /** Begins anew, with the files that the last turns of a session changed. */
  readonly follow: (turns: readonly Turn[]) => void;
}

/** How many files are watched: those that were shown or changed last. */
const maxWatched = 200;
/** How many turns of a resumed session tell what their files held. */
const followed = 2;
const maxNamed = 10;
const maxOfRequest = 80;

/** The SHA-256 of a file; null: there is none; undefined: it may not be read. */
async function hashOf(workspace: Workspace, path: string): Promise<string | null | undefined> {
  try {
    const blob = await workspace.read(workspace.path(path, "read"));
    return blob?.kind === "file" ? digest(blob.bytes) : null;
  } catch (thrown) {
    return toPaiError(thrown).code === "path_refused" ? undefined : null;
  }
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
  /** Files that the run at work has shown already: what it shows later may be its own change. */
  let shown = new Set<string>();

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

  function noteReversals(open: OpenSession): readonly string[] {
    const { turns } = open.session;
    if (!turns.some(({ changed }) => changed)) return [];
    const statuses = new Map(history.list().map(({ id, status }) => [id, status]));
    const notes: string[] = [];
    for (const { run, request, undone, changed } of turns) {
      const status = statuses.get(run);
      if (!changed || status === undefined || (status === "undone") === undone) continue;
      open.add({ type: "turn.reversed", at: now().toISOString(), run, undone: !undone });
      const named = request.length > maxOfRequest ? `${request.slice(0, maxOfRequest)}…` : request;
      notes.push(`${undone ? "brought back" : "undone"} by the user: what you did for ${JSON.stringify(named)}`);
    }
    return notes;
  }

  async function findChanged(): Promise<readonly string[]> {
    const changed = new Map<string, string | null>();
    for (const [path, hash] of known) {
      const actual = await hashOf(workspace, path);
      if (actual !== undefined && actual !== hash) changed.set(path, actual);
    }
    told = changed;
    if (changed.size === 0) return [];
    const names = [...changed].map(([path, hash]) => (hash === null ? `${path} (gone)` : path));
    return [`changed since your last turn, not by you: ${nameSome(names, maxNamed)}`];
  }

  /** A run begins: it is told what has changed. */
  function begin(): void {
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
    async catchUp(open) {
      return [...noteReversals(open), ...(await findChanged())];
    },
    follow(turns) {
      known.clear();
      const changes = turns.slice(-followed).flatMap(({ run }) => history.work(run) ?? []);
      for (const { path, after } of changes) {
        if (after === null) learn(path, null);
        else if (after.kind === "file") learn(path, digest(after.bytes));
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
