/** The ports: what flows may ask of the outside world, as types only. */
import type { Blob, Change, UnkeptChange } from "./change.ts";
import type { SandboxLevel, SandboxState } from "./command/sandbox.ts";
import type { KeptRanking, Tally } from "./context/rank.ts";
import type { Commit } from "./context/similar-commits.ts";
import type { Term } from "./context/words.ts";
import type { Json } from "./model.ts";
import type { PathUse, RelPath } from "./path.ts";

export interface Entry {
  readonly path: RelPath;
  readonly kind: "file" | "folder" | "link" | "special";
  /** Bytes; 0 for anything but files. */
  readonly size: number;
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

export interface SearchQuery {
  /** Source of a JavaScript regular expression, tried line by line. */
  readonly pattern: string;
  readonly ignoreCase: boolean;
  /** Folder or file to search in. */
  readonly under: RelPath;
  /** Glob the path must match. */
  readonly include: string | null;
  /** Turns a path into the form that the searcher knows, for `include`; absent: the path itself. */
  readonly known?: (path: RelPath) => RelPath;
  readonly maxHits: number;
  /** What this batch has staged: bytes instead of the file's, null for a deleted file. */
  readonly staged: ReadonlyMap<RelPath, Uint8Array | null>;
}

export interface SearchReport {
  readonly hits: readonly { readonly path: RelPath; readonly line: number; readonly text: string }[];
  /** There are more hits than maxHits. */
  readonly more: boolean;
  /** The pattern took too long and was ended: the hits are not all there are. */
  readonly tooSlow: boolean;
  /** Files passed over: binary, too large, unreadable. */
  readonly skipped: number;
}

/**
 * The workspace as an action may see it: read-only, with the batch's staged changes on top.
 * Every method throws PaiError(path_refused) for what the policy denies.
 */
export interface View {
  /** Parses and judges a path as the model wrote it; touches no file. */
  path(text: string, use: PathUse): RelPath;
  /** The content of a path; null: nothing exists there. A link is returned as such. Throws file_unusable for special files and files over `limit` bytes (default 8 MiB), path_refused for links on the way. */
  read(path: RelPath, limit?: number): Promise<Blob | null>;
  /** Lines `from` to `to` (1-based, inclusive) of a text file of any size. */
  readLines(path: RelPath, from: number, to: number): Promise<LineRange>;
  /** Children of a folder in code-point order; denied names are left out. */
  list(folder: RelPath): Promise<readonly Entry[]>;
  /**
   * Everything below a folder, depth first, sorted; denied and ignored names left out, links not entered. `unreadable`
   * is called for every folder that is given but could not be read.
   */
  walk(folder: RelPath, signal?: AbortSignal, unreadable?: (folder: RelPath) => void): AsyncIterable<Entry>;
  /** Every path below a folder, denied and ignored ones too, folders before their content: what RM and MV would take along. */
  inside(folder: RelPath): Promise<readonly string[]>;
  /** Lines that match; ends after 1 s of matching. Throws file_unusable for an invalid pattern. */
  search(query: SearchQuery, signal?: AbortSignal): Promise<SearchReport>;
}

/** What an action gets: the view, and what the model has been shown of it. */
export interface Stage extends View {
  /** Bytes of the file as the model last saw them; null when it never did. */
  shown(path: RelPath): Uint8Array | null;
  /** Characters that one answer may have; it follows the model's window. */
  readonly room: number;
}

export interface CommandOptions {
  /** Who wrote it: the user, or the model. */
  readonly by: "user" | "plan";
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /**
   * Where it works. `in-place` (when left out): in the workspace. `throwaway`: on a copy of it that is thrown away.
   * `proposal`: on a copy, and what it changed comes back as a proposal. Where the sandbox makes no copies, both are
   * `in-place`. `none`: without any sandbox, for what a person types to be done as themselves.
   */
  readonly sandbox?: "in-place" | "throwaway" | "proposal" | "none";
  /** What a copy shows on top of the workspace. */
  readonly staged?: readonly Change[];
  /** No person approved it: it runs only where the sandbox protects files, too. */
  readonly unasked?: boolean;
}

/** What a command left on its copy of the workspace beside `changes`; to be ended once, by either. */
export interface Proposal {
  /** Brings these of the ignored paths over as they are, once the changes have been applied. Returns those that were. */
  accept(paths: readonly RelPath[]): Promise<readonly RelPath[]>;
  discard(): void;
  /** Paths that the command changed though the policy forbids that. */
  readonly denied: readonly RelPath[];
  readonly ignored: IgnoredChanges;
}

/** What a command did in ignored paths, beside what is among its changes. */
export interface IgnoredChanges {
  /** Small files: to be applied like other changes, so that they go back with the run, but nobody is asked about them. */
  readonly kept: readonly Change[];
  /** To be brought over as they are: what tools make, and what is too much to be kept. No way back takes them along. */
  readonly carried: readonly RelPath[];
  /** What is removed for good when these are brought over. */
  readonly lost: readonly RelPath[];
}

/** A change of a command in a file that is closed to every action, or that steers and is ignored. */
export interface ClosedChange {
  readonly path: RelPath;
  /** The policy denies it. */
  readonly isDenied: boolean;
  /** It runs code without being asked. */
  readonly runsUnasked: boolean;
}

/** Changes of a command that are not among `changes`. They are undone when the run is rolled back. */
export interface ClosedChanges {
  readonly changes: readonly ClosedChange[];
  /** Other paths that it changed to something that was not read: they can only be put back. */
  readonly unread: readonly RelPath[];
  /** Puts these back now. Returns those that somebody else has changed since, which are left. */
  putBack(paths: ReadonlySet<RelPath>): Promise<readonly RelPath[]>;
}

export interface CommandResult {
  readonly command: string;
  /** null: ended by a signal or the time limit, or could not be started. */
  readonly exit: number | null;
  readonly timedOut: boolean;
  /** stdout and stderr in order of arrival, head and tail kept, never cut inside a character. */
  readonly output: string;
  readonly ms: number;
  /** What the command changed in the workspace and was kept in the journal. */
  readonly changes: readonly Change[];
  /** What it changed and pai cannot take back (too large, ignored by git), one line each. */
  readonly notes: readonly string[];
  /** Ignored or denied paths that it changed in place and that no way back takes along; absent: none. */
  readonly stays?: readonly RelPath[];
  /** Of `changes` on disk, the paths that are ignored; absent: none. */
  readonly ignored?: ReadonlySet<RelPath>;
  /** What it changed in place and no way back brings back; absent: nothing. */
  readonly unkept?: readonly UnkeptChange[];
  /** The level it ran in; null: in none. */
  readonly level?: SandboxLevel | null;
  /** `changes` are proposed and not on disk; null or absent: they are on disk. */
  readonly proposal?: Proposal | null;
  /** null or absent: it changed nothing of that kind, or a sandbox kept it off. */
  readonly closed?: ClosedChanges | null;
  /** Why the policy forbids `changes` that are on disk already, as a folder with the shape of a repository; null or absent: it does not. */
  readonly forbidden?: string | null;
  /** Variables of the user's environment that it did not get and that its output names. */
  readonly withheld?: readonly string[];
  /** Files that the sandbox hid from it and that its output names. */
  readonly hidden?: readonly string[];
}

/**
 * Everything one run does to the workspace, taken back as one.
 * `apply` is all or nothing and durable when it returns; it throws `conflict` when a file no longer equals `before`.
 */
export interface Transaction {
  readonly id: string;
  /**
   * `by`: whose work it is; the plan's when it is left out. After the signal nothing of these changes is done, and its
   * reason is thrown; of what comes too late, nothing is known here.
   */
  apply(changes: readonly Change[], by?: "plan" | "command", signal?: AbortSignal): Promise<void>;
  /** Runs a command in the root and journals what it changed. Throws sandbox_missing where it may not run. */
  run(command: string, options: CommandOptions): Promise<CommandResult>;
  /** All changes since the start, in order: plan and command. */
  readonly changes: readonly Change[];
  /** Paths that commands changed. */
  readonly commandPaths: ReadonlySet<RelPath>;
  /** Back to the start of the run; what someone else changed meanwhile is left and reported. */
  rollback(): Promise<RollbackReport>;
  /** The intended changes that are on disk now: after a failure these may be more, or fewer, than `changes`. */
  onDisk?(): readonly Change[];
  /** Ends the run and keeps it for undo. */
  close(): Promise<void>;
}

export interface RollbackReport {
  readonly restored: readonly Change[];
  /** Paths somebody else changed meanwhile; left as they are. */
  readonly left: readonly RelPath[];
  /** What commands changed in files that are closed to actions, and that was put back. */
  readonly closed?: readonly RelPath[];
}

export interface Listing {
  /** In the order of a walk: depth first, sorted. */
  readonly entries: readonly Entry[];
  /** There are more, which were not looked at. */
  readonly more: boolean;
}

export interface SurveyTally extends Tally {
  /** Files that could not be looked into in time. */
  readonly unread: number;
  /** What else it had to do without, one clause; absent: nothing. */
  readonly lacks?: string;
}

export interface SurveyHistory {
  /** The newest first. */
  readonly commits: readonly Commit[];
  /** Why there are none, or fewer than there could be; null: nothing is missing. */
  readonly lacks: string | null;
}

/** Made for one request: `list` comes first. None of them throws for what a single file does. */
export interface Survey {
  list(signal: AbortSignal): Promise<Listing>;
  tally(signal: AbortSignal): Promise<SurveyTally>;
  history(signal: AbortSignal): Promise<SurveyHistory>;
  /** How an earlier run ranked the files, where that is to be repeated; null or absent: they are ranked again. To be called once. */
  readonly recorded?: (terms: readonly Term[]) => KeptRanking | null;
  /** The request, made from this ranking, is on its way: what helps the next one may be done now. */
  finish(ranking: KeptRanking, terms: readonly Term[]): void;
  /** Instead of `tally`: nothing of it is needed. */
  close(): void;
}

/** A commit that git can make; the repository holds nothing of it yet but a folder of notes. */
export interface PreparedCommit {
  /** How many files it holds. */
  readonly files: number;
  /** Paths of the run that git ignores, or finds as they were. */
  readonly others: number;
  /** The user's hooks that judge it, to be run before. */
  readonly hooks: readonly { readonly name: string; readonly command: string }[];
  /** Makes it without any hook; its hash. Throws commit_failed. */
  make(): Promise<string>;
  /** Removes the notes; to be called once. */
  close(): void;
}

/** The git repository that a workspace belongs to. */
export interface Commits {
  /** Throws usage where there is no repository, or no git. */
  require(): Promise<void>;
  /** null: git sees nothing to commit among these paths. Throws commit_failed. */
  prepare(paths: readonly RelPath[], message: string): Promise<PreparedCommit | null>;
}

export interface Workspace extends View {
  /** Real path of the root, for display. */
  readonly root: string;
  /** How paths are opened here. */
  readonly protection: "openat2" | "fd-walk" | "checked";
  /** The sandbox of commands here; determined at the first call. */
  sandbox(): Promise<SandboxState>;
  /** False when the journal cannot be kept (read-only home, --ephemeral): undo is off. */
  readonly undoable: boolean;
  /** Why a change of this path needs its own yes: it runs code later, or steers agents; null: it does not. */
  concern(path: RelPath): string | null;
  /** How many names (hard links) the file at a path has; 0 where there is no file. */
  names(path: RelPath): number;
  /** Throws read_only or permission_denied where nothing can be written to a path. */
  requireWritable?(path: RelPath): void;
  begin(run: { readonly id: string; readonly task: string }): Promise<Transaction>;
  /** Absent: nothing can be committed here. */
  readonly commits?: Commits;
  /** The branch that is checked out, and whether anything is changed, in a few words; "" for no repository. Never throws. */
  repository?(signal: AbortSignal): Promise<string>;
  /** Looks through all files at once for one request; where it is left out, they are read one by one. */
  /** `terms` are asked for when the first file is read. */
  survey?(terms: () => Promise<readonly Term[]>): Survey;
}

/** Plans of earlier runs, and the looks before them, by what they were made from: a sha256 in hex. Never fails a run. */
export interface PlanCache {
  load(key: string): Promise<Json | null>;
  save(key: string, plan: Json): Promise<void>;
}
