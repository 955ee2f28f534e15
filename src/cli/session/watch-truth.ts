/** Watches what happens to the turns of a session, and to the files that it showed or changed, between two requests. */
import type { Change } from "../../core/change.ts";
import { classOf } from "../../core/closed-names.ts";
import type { Dialogue } from "../../core/dialogue.ts";
import type { SentFile, StampedEvent } from "../../core/event.ts";
import type { Outcome } from "../../core/outcome.ts";
import { pathWithin, type RelPath } from "../../core/path.ts";
import type { Workspace } from "../../core/ports.ts";
import { renderHidden } from "../../core/secrets/hide-message.ts";
import { cutDiff } from "../../core/session/became.ts";
import type { SessionLine } from "../../core/session/line.ts";
import { listHappenings, pastOf } from "../../core/session/past.ts";
import { allTurns, nameRequest, type Session, sayMissing, type Turn } from "../../core/session/session.ts";
import { nameSome } from "../../core/suggest.ts";
import { findMoved } from "../../flows/changes/meanwhile.ts";
import type { Task } from "../../flows/run.ts";
import type { OpenSession } from "../../store/sessions.ts";
import { nameHead } from "../../workspace/git/find-repository.ts";
import type { History, KeptRun, Written } from "../../workspace/journal/run-history.ts";
import { digestIn, heldAt, heldShown, isStill, maxNamed, sayChanged } from "./held-files.ts";

export type TruthWatch = ReturnType<typeof watchTruth>;

/** How many files are watched: those that were shown or changed last. */
const maxWatched = 200;
/** How many files are asked when they changed last. */
const maxWalked = 20_000;
/** Bytes of a file that is compared with one that is gone. */
const maxMoved = 8 * 1024 * 1024;
const none = "no commit";

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
  const why = changed
    ? "changed since its last command began, and left"
    : "left as they are, since somebody changed them";
  const back = changes.map(({ path }) => path).filter((path) => !left.includes(path));
  const became = [
    back.length === 0 ? "cut off" : `cut off, and what it had changed was taken back: ${nameSome(back, maxNamed)}`,
    ...(left.length === 0 ? [] : [`${why}: ${nameSome(left, maxNamed)}`]),
  ].join("; ");
  const diff = renderHidden(work.filter(({ path }) => back.includes(path)));
  return {
    ...{ type: "turn.finished", at, run: id, mode, status: "interrupted", text: "", became },
    ...{ diff: diff && cutDiff(`what was taken back:\n${diff}`), next: [], score: null, calls: 1, changed },
  };
}

/** What each path holds behind the changes of a run. */
function heldBehind(changes: Outcome["changes"], written: readonly Written[]): ReadonlyMap<string, string | null> {
  // An outcome knows neither modes nor folders, as the journal does, which is not kept everywhere.
  const made = new Map(written.map(({ path, after }) => [path, after]));
  // What was moved away first: its place may hold something else by now.
  const held = new Map<string, string | null>(changes.flatMap(({ from }) => (from === null ? [] : [[from, null]])));
  for (const { path, op, after } of changes) {
    const now = made.get(path) ?? after;
    if (op === "delete" || now !== null) held.set(path, now);
  }
  return held;
}

export function watchTruth({
  workspace,
  history,
  now,
}: {
  readonly workspace: Workspace;
  readonly history: History;
  readonly now: () => Date;
}) {
  /** What each path held when the model was last told, and when that was; null: nothing; undefined: nobody knows. */
  const known = new Map<string, { readonly held: string | null | undefined; readonly at: string }>();
  /** What was checked out when the model was last told; undefined: nobody looked. */
  let head: string | null | undefined;
  /** What the next request tells because it was found, with what the files and HEAD are now. */
  let found: { readonly notes: readonly string[]; readonly files: ReadonlyMap<string, string | null> } | null = null;
  /** The status of each kept run when the model was last told. */
  const seen = new Map<string, KeptRun["status"]>();
  /** When the last turn ended that the watch has taken in: where HEAD was at an earlier one may be outdated. */
  let latest = "";
  /** When that turn began, which was told what there was until then. */
  let begun = "";
  /** The runs of the turns that it has taken in. */
  const taken = new Set<string>();
  /** Files that the run at work was told of. */
  let touched = new Set<string>();
  /** Files that it has shown or changed: a later look at one may show its own change, so only a look before that is learned. */
  let shown = new Set<string>();
  /** The runs of this process: it knows when they ended. */
  const own = new Set<string>();
  /** Ends once what somebody else left at the end of a run is known. */
  let looked: Promise<void> = Promise.resolve();
  /** Runs of turns that the session no longer tells: what they wrote is not somebody else's work. */
  let gone: ReadonlySet<string> = new Set();

  function learn(path: string, held: string | null | undefined, at: string): void {
    // A path in which a secret is hidden is that of no file.
    if (/<<SECRET_|\[masked\]/.test(path)) return;
    known.delete(path);
    known.set(path, { held, at });
    touched.add(path);
    const [oldest] = known.keys();
    if (known.size > maxWatched && oldest !== undefined) known.delete(oldest);
  }

  /** Returns the files that somebody else, or a command whose work no undo takes back, has left as they are. */
  function learnOutcome(outcome: Outcome, { at, run }: StampedEvent): readonly string[] {
    const { checks, commit, left = [], merged = [], lost = [], stays } = outcome;
    const changes = outcome.dry_run === true ? [] : outcome.changes;
    const written = history.written(new Set([run]), at);
    for (const [path, held] of heldBehind(changes, written)) learn(path, held, at);
    // Nobody compares what checks build.
    const isOfCommand = (path: string) =>
      (checks.length > 0 && classOf(path) === "built") || stays?.paths.some((each) => pathWithin(path, each) !== null);
    const others = [...left, ...merged, ...lost, ...[...known.keys()].filter(isOfCommand)];
    for (const path of others) learn(path, undefined, at);
    // Whoever else moved HEAD during a run, the next request is told.
    if (commit !== undefined) head = nameHead(workspace.root);
    return others;
  }

  function learnTurns(turns: readonly Turn[]): void {
    const saw = turns.flatMap((turn) => (turn.seen !== null && !taken.has(turn.run) ? { ...turn.seen, turn } : []));
    for (const { turn, at, files, head: then } of saw.toSorted((a, b) => (a.at < b.at ? -1 : 1))) {
      // Of a turn that goes on only the beginning is known yet.
      if (turn.status !== null) taken.add(turn.run);
      // A turn of another process may have ended while one of this process went on.
      const isNews = (path: string) => (known.get(path)?.at ?? "") < at;
      for (const [path, held] of Object.entries(files)) if (isNews(path)) learn(path, held, at);
      if (at > latest) [head, latest, begun] = [then, at, turn.at];
    }
  }

  function seeRuns(runs: readonly KeptRun[]): void {
    for (const { id, status } of runs) seen.set(id, status);
  }

  /** Only a person undoes and redoes; a run that was rolled back may be brought back, and what its rollback left be undone. */
  function isReversed({ id, status, task }: KeptRun, turn: Turn | undefined): boolean {
    if (status !== "applied" && status !== "undone") return false;
    const earlier = seen.get(id) ?? (task.startsWith("!") ? "applied" : status);
    if (turn !== undefined && turn.status !== null)
      return (turn.changed && turn.undone !== true) !== (status === "applied") || earlier === "rolled_back";
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
    const all = allTurns(open.session);
    learnTurns(all);
    const turns = new Map(all.map((turn) => [turn.run, turn]));
    const runs = history.list();
    endCut(open, turns, runs);
    // An undo that found nothing to take back is none.
    const reversed = runs.filter(
      (run) => isReversed(run, turns.get(run.id)) && history.written(new Set(), "", new Set([run.id])).length > 0,
    );
    for (const run of reversed.toReversed()) {
      const { id, status, missing } = run;
      const about = { at: now().toISOString(), run: id };
      if (turns.has(id)) open.add({ type: "turn.reversed", ...about, undone: status === "undone", missing });
      else open.add({ type: "session.noted", ...about, what: "reversal", text: sayReversal(run) });
    }
    seeRuns(runs);
  }

  /**
   * What undos and redos of turns, and of runs that the next request tells, and runs that are no turns now have written
   * since the model was last told. The work of other sessions is that of somebody else.
   */
  function writtenSince({ turns, pending }: Session): readonly Written[] {
    const all = allTurns({ turns });
    const last = all.findLast(({ seen }) => seen !== null);
    const others = new Set([...gone, ...pending.flatMap(({ run }) => run ?? [])]);
    return history.written(others, last?.at ?? "", new Set([...others, ...all.map(({ run }) => run)]));
  }

  /** Watched files that do not hold what the model was told, or what undos and redos left there since, with what they hold. */
  async function findFiles(left: ReadonlyMap<string, string | null | undefined>): Promise<Map<string, string | null>> {
    const files = new Map<string, string | null>();
    for (const [path, { held, at }] of known) {
      const now = held === undefined ? undefined : await heldAt(workspace, path);
      if (now === undefined) continue;
      const isKnown = isStill(held, now);
      if (isKnown) known.set(path, { held: now, at });
      if (!isKnown || !isStill(left.get(path), now)) files.set(path, now);
    }
    return files;
  }

  /** Files that are not watched, and that are new, or were written or moved, since the last turn began. */
  async function findUnknown(): Promise<readonly string[]> {
    const [since, unknown]: [number, string[]] = [Date.parse(begun), []];
    let walked = 0;
    if (begun === "") return unknown;
    for await (const { path, arrived = 0 } of workspace.walk("" as RelPath)) {
      if (++walked > maxWalked) break;
      if (!known.has(path) && arrived > since) unknown.push(path);
    }
    return unknown;
  }

  /**
   * Names those of these files that somebody wrote: neither `told` otherwise, nor written or taken back by a run. Adds what
   * those that are named hold to `files`.
   */
  async function sayUnknown(
    session: Session,
    unknown: readonly string[],
    told: ReadonlySet<string>,
    files: Map<string, string | null>,
  ): Promise<readonly string[]> {
    if (unknown.length === 0) return [];
    const turns = new Set(allTurns(session).map(({ run }) => run));
    const runs = history.list().filter(({ id, at }) => at > begun && turns.has(id));
    const ours = new Set<string>([...shown, ...runs.flatMap(({ changes }) => changes.map(({ path }) => path))]);
    const theirs = unknown.filter((path) => !told.has(path) && !ours.has(path));
    for (const path of theirs.slice(0, maxNamed)) {
      const held = (await heldAt(workspace, path, maxMoved)) ?? null;
      if (digestIn(held) !== null) files.set(path, held);
    }
    return theirs.length === 0 ? [] : [`new or written, not by you: ${nameSome(theirs, maxNamed)}`];
  }

  /** Tells what somebody else has changed since the model was last told. */
  async function findChanged(session: Session): Promise<readonly string[]> {
    const written = writtenSince(session);
    const knownAt = (path: string) => known.get(path)?.held ?? null;
    const expected = new Map([...known].map(([path, { held }]) => [path, held]));
    /** What somebody had changed before an undo or a redo wrote it. */
    const between = new Set<string>();
    for (const { path, at, before, after } of written) {
      const told = known.get(path);
      if (told === undefined || at <= told.at) continue;
      if (!isStill(expected.get(path), before)) between.add(path);
      expected.set(path, after);
    }
    const [files, unknown] = [await findFiles(expected), await findUnknown()];
    const others = [...files].filter(([path, now]) => between.has(path) || !isStill(expected.get(path), now));
    const lost = others.flatMap(([path, now]) => {
      const held = now === null ? digestIn(knownAt(path)) : null;
      return held === null ? [] : [[path, held] as const];
    });
    const moved = await findMoved(workspace, new Map(lost), async (path) =>
      knownAt(path) === null ? digestIn(await heldAt(workspace, path, maxMoved)) : null,
    );
    const told = new Set<string>([...moved.values(), ...written.map(({ path }) => path)]);
    const headNow = nameHead(workspace.root);
    const notes = [
      ...sayChanged(
        others.map(([path, now]) => ({ path, held: knownAt(path), now, place: moved.get(path) })),
        written,
      ),
      ...(await sayUnknown(session, unknown, told, files)),
      ...(head === undefined || head === headNow
        ? []
        : [`HEAD of git went from ${head ?? none} to ${headNow ?? none}`]),
    ];
    found = { notes, files: new Map([...files, ...[...moved].map(([old, place]) => [place, knownAt(old)] as const)]) };
    return notes;
  }

  /** A run begins: it is told what has happened. */
  function begin(open: OpenSession, at: string): void {
    for (const text of found?.notes ?? []) open.add({ type: "session.noted", at, what: "found", run: null, text });
    [touched, shown, gone] = [new Set(), new Set(), new Set()];
    for (const [path, held] of found?.files ?? []) learn(path, held, at);
    [head, begun, found] = [nameHead(workspace.root), at, null];
  }

  function learnShown(files: readonly SentFile[], at: string): void {
    for (const file of files) {
      const held = known.get(file.path)?.held;
      const isKnown = digestIn(held) === file.sha256;
      if (!shown.has(file.path)) learn(file.path, isKnown ? held : heldShown(workspace.root, file), at);
    }
    for (const { path } of files) shown.add(path);
  }

  /** Saves what the run at work was told of, and knows. */
  function save(open: OpenSession, at: string, run: string): void {
    const seenNow = [...known].flatMap(([path, { held }]) =>
      touched.has(path) && held !== undefined ? [[path, held] as const] : [],
    );
    open.add({ type: "turn.saw", at, run, files: Object.fromEntries(seenNow), head: head ?? null });
  }

  /** Learns and saves what somebody else left in files at the end of a run. */
  async function lookAt(paths: readonly string[], open: OpenSession, { at, run }: StampedEvent): Promise<void> {
    const found = await Promise.all(paths.map(async (path) => [path, await heldAt(workspace, path)] as const));
    for (const [path, held] of found) learn(path, held, at);
    save(open, at, run);
  }

  return {
    /** Saves an event of a run in the session, and with it what the model is told and knows. */
    sink(open: OpenSession, event: StampedEvent) {
      const { type, at, run } = event;
      const isBegun = type === "run.started";
      if (isBegun) begin(open, at);
      own.add(run);
      open.sink(event);
      // A run that is killed saves no end.
      if (isBegun) save(open, at, run);
      if (type === "context.sent") learnShown(event.files, at);
      else if (type === "changes.applied") for (const { path } of event.changes) shown.add(path);
      if (type !== "run.finished") return;
      const others = learnOutcome(event.outcome, event);
      latest = at;
      taken.add(run);
      save(open, at, run);
      if (others.length > 0) looked = lookAt(others, open, event);
    },
    sync,
    /** Syncs. Returns what the next request must be told: what the session waits to tell, and what is found changed now. */
    async catchUp(open: OpenSession): Promise<readonly string[]> {
      await looked;
      sync(open);
      const notes = await findChanged(open.session);
      const news = open.session.pending.filter(({ what, run }) => what !== "end" || run === null || !own.has(run));
      return [...news.map(({ text }) => text), ...notes];
    },
    /** Begins anew with what the turns of a session saw. `later`: turns that it tells no longer; absent: it is another session. */
    follow(session: Pick<Session, "turns">, later?: readonly Turn[]) {
      known.clear();
      taken.clear();
      [latest, begun, shown] = ["", "", new Set()];
      gone = new Set(later && [...gone, ...allTurns({ turns: later }).map(({ run }) => run)]);
      learnTurns(allTurns(session));
      seeRuns(history.list());
    },
  };
}

/** A task with what the session knows: what was said, what became of it, and what has happened since. */
export async function continueWith(
  task: Pick<Task, "text" | "context" | "files">,
  { open, truth, dialogue }: { readonly open: OpenSession; readonly truth: TruthWatch; readonly dialogue: Dialogue },
): Promise<Task> {
  const since = await truth.catchUp(open);
  const { session } = open;
  const { conversation } = session;
  const parts = [
    since.length === 0 ? "" : `What has happened that you were not told yet:\n${listHappenings(since)}`,
    task.context ?? "",
  ].filter(Boolean);
  const context = parts.length === 0 ? null : parts.join("\n\n");
  return { ...task, history: pastOf(session), context, conversation, dialogue };
}
