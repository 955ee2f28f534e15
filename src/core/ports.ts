/** The ports: what flows may ask of the outside world, as types only. */
import type { Blob, Change } from "./change.ts";
import type { SandboxLevel, SandboxState, SandboxUse, Wall } from "./command/sandbox.ts";
import type { KeptRanking, WordTally } from "./context/rank.ts";
import type { Commit } from "./context/similar-commits.ts";
import type { Term } from "./context/words.ts";
import type { Effects } from "./effects.ts";
import type { PaiError } from "./error.ts";
import type { Json } from "./model.ts";
import type { PathUse, RelPath } from "./path.ts";

export interface Entry {
  readonly path: RelPath;
  readonly kind: "file" | "folder" | "link" | "special";
  /** Bytes; 0 for anything but files. */
  readonly size: number;
  /** When its content last changed, in ms since 1970; of files on disk only. */
  readonly changed?: number;
  /** Where a link points, as written in it. */
  readonly target: string | null;
}

export interface LineRange {
  /** The wanted lines, joined by LF, without line endings. */
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** Lines of the whole file, null when it was too large to count. */
  readonly total: number | null;
}

export interface LineEnds {
  readonly head: LineRange;
  readonly tail: LineRange;
}

export interface SearchQuery {
  /** Source of a JavaScript regular expression, tried line by line. */
  readonly pattern: string;
  readonly ignoreCase: boolean;
  /** Folder or file to search in. */
  readonly under: RelPath;
  /** Glob the path must match. */
  readonly include: string | null;
  /** Turns a path into the one that the model knows, which `include` is matched against; absent: the path itself. */
  readonly known?: (path: RelPath) => RelPath;
  readonly maxHits: number;
  /** The last hits of each file instead of the first; absent: the first. */
  readonly newest?: boolean;
  /** Hides secrets in a part of a file that is too large to be held; absent: such files are skipped. */
  readonly hide?: (text: string) => Promise<string>;
  /** Files that this batch has staged: their new bytes, null for a deleted file. */
  readonly staged: ReadonlyMap<RelPath, Uint8Array | null>;
}

export interface SearchReport {
  readonly hits: readonly { readonly path: RelPath; readonly line: number; readonly text: string }[];
  /** There are more hits than maxHits. */
  readonly more: boolean;
  /** The pattern took too long and was stopped: some hits are missing. */
  readonly tooSlow: boolean;
  /** How many files were skipped: binary, too large, unreadable. */
  readonly skipped: number;
}

/**
 * The workspace as an action may see it: read-only, with the batch's staged changes on top.
 * Every method throws PaiError(path_refused) when the policy denies a path.
 */
export interface View {
  /** Parses and judges a path as the model wrote it; touches no file. */
  path(text: string, use: PathUse): RelPath;
  /**
   * The path that this one leads to by links that stay in the root; itself where there is none, or one leads out. The
   * last name of a path that is to be deleted or moved is not followed. Absent: there are no links.
   */
  follow?(path: RelPath, use: PathUse): RelPath;
  /**
   * The content of a path; null: nothing exists there. A link is returned as such. Throws file_unusable for special
   * files and files over `limit` bytes (default 8 MiB), path_refused for links on the way.
   */
  read(path: RelPath, limit?: number): Promise<Blob | null>;
  /** Lines `from` to `to` (1-based, inclusive) of a text file of any size; of a compressed one of its text. */
  readLines(path: RelPath, from: number, to: number): Promise<LineRange>;
  /** The first and the last `lines` lines of such a file. */
  readEnds(path: RelPath, lines: number): Promise<LineEnds>;
  /** Children of a folder in code-point order; denied names are left out. */
  list(folder: RelPath): Promise<readonly Entry[]>;
  /**
   * Everything below a folder, depth first, sorted; denied and ignored names left out, links not entered. `unreadable`
   * is called for every folder that is given but could not be read.
   */
  walk(folder: RelPath, signal?: AbortSignal, unreadable?: (folder: RelPath) => void): AsyncIterable<Entry>;
  /** Every path below a folder that RM or MV would affect, even denied and ignored ones; folders come first. */
  inside(folder: RelPath): Promise<readonly string[]>;
  /**
   * What the machine's own files tell, without a shell: "ports 18999", "disk /var". Secrets in it are not hidden.
   * Absent: there is no machine, as in a replay.
   */
  readonly host?: (asked: string, signal?: AbortSignal) => Promise<string>;
  /** Absolute paths of what the user shows beside the project. */
  readonly alsoShown?: readonly RelPath[];
  /** Lines that match; ends after 1 s of matching. Throws file_unusable for an invalid pattern. */
  search(query: SearchQuery, signal?: AbortSignal): Promise<SearchReport>;
}

/** What an action gets: the view, and what the model has been shown of it. */
export interface Stage extends View {
  /** Bytes of the file as the model last saw them; null: it never saw the file. */
  shown(path: RelPath): Uint8Array | null;
  /** Characters that one answer may have; depends on the model's window. */
  readonly room: number;
  /** How the model asks for things, for words that tell it how to go on. */
  readonly asksBy: "script" | "tools";
  /** The user's request, and when it was made: for words such as "last night". */
  readonly asked?: { readonly text: string; readonly at: Date };
}

export interface CommandOptions {
  /** Who wrote it: the user, or the model. */
  readonly by: "user" | "plan";
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /**
   * Where the command works. `in-place` (the default): in the workspace. `throwaway`: on a copy that is thrown away.
   * `proposal`: on a copy, and its changes come back as a proposal. Where the sandbox makes no copies, both are
   * `in-place`. `none`: in the workspace without a sandbox, for a command that the person types themselves.
   */
  readonly sandbox?: "in-place" | "throwaway" | "proposal" | "none";
  /** The weakest sandbox that it may run in; `off`: in the workspace, with the user's rights. Absent: as all commands. */
  readonly weakest?: SandboxUse;
  /** Changes that the copy shows on top of the workspace. */
  readonly staged?: readonly Change[];
  /** No person approved the command: it runs only in a sandbox that also protects files. */
  readonly unasked?: boolean;
  /** Called a few times a second, while the command runs, with the last whole lines of its output so far. */
  readonly onOutput?: (lines: string) => void;
}

export interface Confined {
  /** null: it ran without a sandbox. */
  readonly level: SandboxLevel | null;
  /** It could use the network of the host. */
  readonly network: boolean;
  /** It worked on a copy, so its effects are proposed; otherwise they are on disk. */
  readonly isCopy: boolean;
  /** Variables of the user's environment that were withheld from it and that its output names. */
  readonly withheld: readonly string[];
  /** Files that the sandbox hid from it and that its output names. */
  readonly hidden: readonly string[];
  /** How the sandbox may have made it fail; null: nothing hints at that. */
  readonly wall: Wall | null;
}

export interface CommandResult {
  /** null: a signal or the time limit ended the command, or it could not be started. */
  readonly exit: number | null;
  readonly timedOut: boolean;
  /** stdout and stderr in order of arrival, head and tail kept, never cut inside a character. */
  readonly output: string;
  readonly ms: number;
  readonly held: Confined;
  /** Of a command on a copy they end with `keep` or `drop`. */
  readonly effects: Effects;
  /** Why nothing that it made on its copy can be kept, which ends the run. */
  readonly failure?: PaiError;
}

/** How a command of the user ended that runs after the work. */
export interface AfterResult {
  /** null: a signal or the time limit ended it. */
  readonly exit: number | null;
  readonly timedOut: boolean;
  readonly ms: number;
  /** The end of stdout and stderr. */
  readonly output: string;
}

export interface Dropped {
  /** Paths that somebody else has changed since, which are left as they are. */
  readonly left: readonly RelPath[];
  /** Carried paths of which there was no copy, so that they stay as the command left them. */
  readonly stays: readonly RelPath[];
}

/**
 * Everything one run does to the workspace; it is rolled back as a whole.
 * `apply` is all or nothing and durable when it returns; it throws `conflict` when a file no longer equals `before`.
 */
export interface Transaction {
  readonly id: string;
  /**
   * `by`: who made the changes; by default the plan. A signal that comes before they are on disk throws its reason and
   * leaves none of them; a later one has no effect here.
   */
  apply(changes: readonly Change[], by?: "plan" | "command", signal?: AbortSignal): Promise<void>;
  /** Runs a command in the root and journals its changes. Throws sandbox_missing where it may not run. */
  run(command: string, options: CommandOptions): Promise<CommandResult>;
  /**
   * Keeps a command's effects in ignored paths that `isKept` names, and none in others: from a copy they are taken over,
   * without a question; in place they are there. Returns the paths whose effects no undo restores. A signal is heard
   * while files are taken over.
   */
  keep(effects: Effects, isKept: (path: RelPath) => boolean, signal: AbortSignal): Promise<readonly RelPath[]>;
  /**
   * Takes back what a command did to these paths in place; null: all. Of a copy nothing is left in any case.
   */
  drop(effects: Effects, paths: ReadonlySet<RelPath> | null): Promise<Dropped>;
  /** All changes since the start, in order: plan and command. */
  readonly changes: readonly Change[];
  /** What commands alone changed. */
  readonly commandPaths: ReadonlySet<RelPath>;
  /** Restores the state at the start of the run; paths that somebody else changed meanwhile are left and reported. */
  rollback(): Promise<RollbackReport>;
  /** The intended changes that are on disk now: after a failure these can be more or fewer than `changes`. */
  onDisk?(): readonly Change[];
  /** Ends the run and keeps it for undo. */
  close(): Promise<void>;
}

export interface RollbackReport {
  readonly restored: readonly Change[];
  /** What was made again and has another owner or group now, a sentence each; absent: nothing. */
  readonly lost?: readonly string[];
  /** Paths that somebody else changed meanwhile; they are left as they are. */
  readonly left: readonly RelPath[];
  /** Closed files that commands changed and that were put back. */
  readonly closed?: readonly RelPath[];
}

export interface Listing {
  /** In the order of a walk: depth first, sorted. */
  readonly entries: readonly Entry[];
  /** There are more entries, which were not listed. */
  readonly more: boolean;
}

export interface SurveyTally extends WordTally {
  /** Files that there was no time to read. */
  readonly unread: number;
}

export interface SurveyHistory {
  /** The newest first. */
  readonly commits: readonly Commit[];
  /** Why there are none, or fewer than there could be; null: nothing is missing. */
  readonly lacks: string | null;
}

/** Made for one request; call `list` first. No method throws because of a single file. */
export interface Survey {
  list(signal: AbortSignal): Promise<Listing>;
  tally(signal: AbortSignal): Promise<SurveyTally>;
  history(signal: AbortSignal): Promise<SurveyHistory>;
  /** The path of a file as `list` would give it, also beyond the entries that it gave; null: there is none, or it is left out. */
  readonly find?: (written: string) => RelPath | null;
  /** In a replay: the recorded run's ranking of the files; call it once. null or absent: the files are ranked anew. */
  readonly recorded?: (terms: readonly Term[]) => KeptRanking | null;
  /** The request made from this ranking has been sent. */
  finish(ranking: KeptRanking, terms: readonly Term[]): void;
  /** Called instead of `tally` when no tally is needed. */
  close(): void;
}

/** A commit that is ready to be made; until then it only has a scratch folder in the repository. */
export interface PreparedCommit {
  /** How many files it holds. */
  readonly files: number;
  /** Paths of the run that git ignores, or finds unchanged. */
  readonly others: number;
  /** The user's hooks that may refuse the commit, to be run before `make`. */
  readonly hooks: readonly { readonly name: string; readonly command: string }[];
  /** Makes the commit without running hooks, and returns its hash. Throws commit_failed. */
  make(): Promise<string>;
  /** Removes the scratch folder; to be called once. */
  close(): void;
}

/** The git repository that a workspace belongs to. */
export interface Commits {
  /** Throws usage when there is no repository, or no git. */
  require(): Promise<void>;
  /**
   * Prepares a commit of these paths; null: git finds nothing to commit among them. Throws commit_failed, and the reason
   * of `signal` if that aborts.
   */
  prepare(paths: readonly RelPath[], message: string, signal: AbortSignal): Promise<PreparedCommit | null>;
}

/** What of a file a change touches first: its name also where it is made or removed. */
export type Touch = "bytes" | "mode" | "name";

export interface Workspace extends View {
  /** Real path of the root, for display. */
  readonly root: string;
  /** A file of the workspace that a command would start, by its real path; null: none. Absent: not known. */
  ownProgram?(command: string): string | null;
  /** Runs a command in the root with the user's rights; what it starts may outlive it. Aborting ends it. */
  runAfter(command: string, limits: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<AfterResult>;
  /** The sandbox of commands in this workspace; probed at the first call. */
  sandbox(): Promise<SandboxState>;
  /** False when the journal cannot be kept (read-only home, --ephemeral): undo is off. */
  readonly undoable: boolean;
  /**
   * Why a change of this path needs its own yes: it, or what a link makes of it, may run code later or steer agents;
   * null: it needs none.
   */
  concern(path: RelPath): string | null;
  /** Why a path is closed that a person may open by naming it: it may hold secrets. null: any other path. */
  whyClosed(path: RelPath): string | null;
  /** Whether somebody else's change of a path may be merged with a run's; absent: never. */
  mayMerge?(path: RelPath): boolean;
  /** Opens these closed paths to actions, and no others; only ones that may hold secrets. Commands do not see them. */
  openClosed(paths: ReadonlySet<RelPath>): void;
  /** A path as somebody wrote it, whatever its class. Throws path_refused if it is none below the root. */
  parse(text: string): RelPath;
  /** How many names (hard links) the file at a path has; 0 where there is no file. */
  names(path: RelPath): number;
  /** Throws disk_full when there is no room for what undo needs; absent: nothing is kept. */
  requireRoom?(): void;
  /** Throws read_only or permission_denied when the path cannot be written. */
  requireWritable?(path: RelPath, touch: Touch): void;
  /** Whose a file is, in words, if a change would take it from them; null or absent: owner and group stay. */
  lostOwner?(path: RelPath, touch: Touch): string | null;
  begin(run: { readonly id: string; readonly task: string }): Promise<Transaction>;
  /** Absent: nothing can be committed here. */
  readonly commits?: Commits;
  /** The branch that is checked out and whether files are changed, in a few words; "": no repository. Never throws. */
  repository?(signal: AbortSignal): Promise<string>;
  /** Searches all files for one request; absent: they are read one by one. Calls `terms` before the first file. */
  survey?(terms: readonly Term[]): Survey;
}

/** Plans of earlier runs and the looks before them. The key is the sha256 (hex) of their input. Never fails a run. */
export interface PlanCache {
  load(key: string): Json | null;
  save(key: string, plan: Json): void;
}
