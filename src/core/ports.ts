/** The ports: what flows may ask of the outside world, as types only. */
import type { Blob, Change, Effects } from "./change.ts";
import type { SandboxLevel, SandboxState, SandboxUse, Wall } from "./command/sandbox.ts";
import type { KeptRanking, WordTally } from "./context/rank.ts";
import type { Commit } from "./context/similar-commits.ts";
import type { Term } from "./context/words.ts";
import type { PaiError } from "./error.ts";
import type { Json } from "./model.ts";
import type { PathUse, RelPath } from "./path.ts";
import type { ActionName } from "./vocabulary.ts";

export interface Entry {
  readonly path: RelPath;
  readonly kind: "file" | "folder" | "link" | "special";
  readonly size: number;
  /** Milliseconds since 1970; of files on disk only. */
  readonly changed?: number;
  /** Where a link points, as written in it. */
  readonly target: string | null;
}

export interface LineRange {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly total: number | null;
}

export interface LineEnds {
  readonly head: LineRange;
  readonly tail: LineRange;
}

export interface SearchQuery {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly under: RelPath;
  readonly include: string | null;
  /** What `include` is matched against: the path as the model knows it; absent: itself. */
  readonly known?: (path: RelPath) => RelPath;
  readonly maxHits: number;
  readonly newest?: boolean;
  /** Hides secrets in parts of files too large to be held; absent: such files are skipped. */
  readonly hide?: (text: string) => Promise<string>;
  readonly staged: ReadonlyMap<RelPath, Uint8Array | null>;
}

export interface SearchReport {
  readonly hits: readonly { readonly path: RelPath; readonly line: number; readonly text: string }[];
  readonly more: boolean;
  /** It was stopped: some hits are missing. */
  readonly tooSlow: boolean;
  readonly skipped: number;
}

/** The workspace with the batch's staged changes on top, read-only. All throw path_refused where the policy denies. */
export interface View {
  /** Parses and judges a path as the model wrote it; touches no file. */
  path(text: string, use: PathUse): RelPath;
  /** Where links in the root lead. The last name of a path to be deleted or moved is not followed. Absent: no links. */
  follow?(path: RelPath, use: PathUse): RelPath;
  /** Links as such; null: nothing. Throws file_unusable (special, over `limit`: 8 MiB), path_refused (a link on the way). */
  read(path: RelPath, limit?: number): Promise<Blob | null>;
  /** Lines `from` to `to` (1-based, inclusive) of a text file of any size; of a compressed one of its text. */
  readLines(path: RelPath, from: number, to: number): Promise<LineRange>;
  readEnds(path: RelPath, lines: number): Promise<LineEnds>;
  list(folder: RelPath): Promise<readonly Entry[]>;
  /** Everything below a folder, depth first, sorted, without denied and ignored names; links are not entered. */
  walk(folder: RelPath, signal?: AbortSignal, unreadable?: (folder: RelPath) => void): AsyncIterable<Entry>;
  /** Every path below a folder that RM or MV would affect, even denied and ignored ones; folders come first. */
  inside(folder: RelPath): Promise<readonly string[]>;
  /** What the machine's own files tell, secrets included: "ports 18999". Absent: there is no machine, as in a replay. */
  readonly host?: (asked: string, signal?: AbortSignal) => Promise<string>;
  readonly alsoShown?: readonly RelPath[];
  search(query: SearchQuery, signal?: AbortSignal): Promise<SearchReport>;
}

/** What an action gets: the view, and what the model has been shown of it. */
export interface Stage extends View {
  shown(path: RelPath): Uint8Array | null;
  /** Characters that one answer may have; depends on the model's window. */
  readonly room: number;
  /** How the model asks for things, for words that tell it how to go on. */
  readonly asksBy: "script" | "tools";
  /** The user's request, and when it was made: for words such as "last night". */
  readonly asked?: { readonly text: string; readonly at: Date };
}

export interface CommandOptions {
  readonly by: "user" | "plan";
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /**
   * `in-place` (the default): in the workspace. `throwaway`: on a copy that is thrown away. `proposal`: on a copy whose
   * changes come back. Without copies both are `in-place`. `none`: with no sandbox, for what the person types.
   */
  readonly sandbox?: "in-place" | "throwaway" | "proposal" | "none";
  /** The weakest sandbox that it may run in. Absent: as all commands. */
  readonly weakest?: SandboxUse | undefined;
  readonly staged?: readonly Change[];
  readonly unasked?: boolean;
  /** The last whole lines of its output, a few times a second. */
  readonly onOutput?: (lines: string) => void;
}

export interface CommandResult {
  /** null: a signal or the time limit ended the command, or it could not be started. */
  readonly exit: number | null;
  readonly timedOut: boolean;
  /** stdout and stderr in order of arrival, head and tail kept, never cut inside a character. */
  readonly output: string;
  readonly ms: number;
  readonly held: {
    readonly level: SandboxLevel | null;
    readonly network: boolean;
    /** It worked on a copy, so its effects are proposed; otherwise they are on disk. */
    readonly isCopy: boolean;
    /** Variables of the user's environment that were withheld from it and that its output names. */
    readonly withheld: readonly string[];
    readonly hidden: readonly string[];
    readonly wall: Wall | null;
  };
  /** Of a command on a copy they end with `keep` or `drop`. */
  readonly effects: Effects;
  readonly failure?: PaiError;
}

export type AfterResult = Pick<CommandResult, "exit" | "timedOut" | "ms" | "output">;

/**
 * Everything one run does to the workspace; it is rolled back as a whole.
 * `apply` is all or nothing and durable when it returns; it throws `conflict` when a file no longer equals `before`.
 */
export interface Transaction {
  readonly id: string;
  /** `by`: the plan by default. A signal before they are on disk throws its reason; a later one has no effect here. */
  apply(changes: readonly Change[], by?: "plan" | "command", signal?: AbortSignal): Promise<void>;
  /** Runs a command in the root and journals its changes. Throws sandbox_missing where it may not run. */
  run(command: string, options: CommandOptions): Promise<CommandResult>;
  /** Keeps its effects in ignored paths that `isKept` names, no others. Returns what no undo restores. Hears a signal. */
  keep(effects: Effects, isKept: (path: RelPath) => boolean, signal: AbortSignal): Promise<readonly RelPath[]>;
  /**
   * Takes back what a command did to these paths in place; null: all. Of a copy nothing is left. `left`: others have changed
   * them since. `stays`: carried paths without a copy, which stay as the command left them.
   */
  drop(effects: Effects, paths: ReadonlySet<RelPath> | null): Promise<Record<"left" | "stays", readonly RelPath[]>>;
  readonly changes: readonly Change[];
  readonly commandPaths: ReadonlySet<RelPath>;
  /** Restores the state at the start of the run; paths that somebody else changed meanwhile are left and reported. */
  rollback(): Promise<RollbackReport>;
  /** What of `changes`, and beyond them, is on disk: after a failure more or fewer. */
  onDisk?(): readonly Change[];
  close(): Promise<void>;
}

export interface RollbackReport {
  readonly restored: readonly Change[];
  /** What has another owner or group now, a sentence each; absent: nothing. */
  readonly lost?: readonly string[];
  /** Paths that somebody else changed meanwhile; they are left as they are. */
  readonly left: readonly RelPath[];
  readonly closed?: readonly RelPath[];
}

export interface SurveyTally extends WordTally {
  readonly unread: number;
}

export interface SurveyHistory {
  readonly commits: readonly Commit[];
  /** Why there are none, or fewer than there could be; null: nothing is missing. */
  readonly lacks: string | null;
}

/** Made for one request; call `list` first. No method throws because of a single file. */
export interface Survey {
  list(signal: AbortSignal): Promise<{ readonly entries: readonly Entry[]; readonly more: boolean }>;
  tally(signal: AbortSignal): Promise<SurveyTally>;
  history(signal: AbortSignal): Promise<SurveyHistory>;
  /** As `list` would give it, also beyond what it gave; null: there is none, or it is left out. */
  readonly find?: (written: string) => RelPath | null;
  /** In a replay, once: the recorded ranking. null or absent: the files are ranked anew. */
  readonly recorded?: (terms: readonly Term[]) => KeptRanking | null;
  finish(ranking: KeptRanking, terms: readonly Term[]): void;
  close(): void;
}

/** Until it is made it only has a scratch folder in the repository. */
export interface PreparedCommit {
  readonly files: number;
  readonly others: number;
  readonly hooks: readonly { readonly name: string; readonly command: string }[];
  make(): Promise<string>;
  close(): void;
}

export interface Commits {
  require(): Promise<void>;
  /** null: git finds nothing to commit among them. Throws commit_failed, and the reason of `signal`. */
  prepare(paths: readonly RelPath[], message: string, signal: AbortSignal): Promise<PreparedCommit | null>;
}

/** What of a file a change touches first: its name also where it is made or removed. */
export type Touch = "bytes" | "mode" | "name";

export interface Workspace extends View {
  readonly root: string;
  /** The real path of a file of the workspace that a command would start. Absent: not known. */
  ownProgram?(command: string): string | null;
  /** Runs a command in the root with the user's rights; what it starts may outlive it. Aborting ends it. */
  runAfter(command: string, limits: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<AfterResult>;
  sandbox(): Promise<SandboxState>;
  /** False when the journal cannot be kept (read-only home, --ephemeral): undo is off. */
  readonly undoable: boolean;
  /** Why a change of this path, or of what it links to, needs a yes of its own; null: it needs none. */
  concern(path: RelPath): string | null;
  /** Why a path is closed that a person may open by naming it; null: any other path. */
  whyClosed(path: RelPath): string | null;
  mayMerge?(path: RelPath): boolean;
  /** Opens these closed paths, and no others, to actions; commands do not see them. */
  openClosed(paths: ReadonlySet<RelPath>): void;
  parse(text: string): RelPath;
  /** 0 where there is no file. */
  names(path: RelPath): number;
  /** Throws disk_full when there is no room for what undo needs; absent: nothing is kept. */
  requireRoom?(): void;
  /** Throws read_only or permission_denied when the path cannot be written. */
  requireWritable?(path: RelPath, touch: Touch): void;
  lostOwner?(path: RelPath, touch: Touch): string | null;
  begin(run: { readonly id: string; readonly task: string }): Promise<Transaction>;
  /** Absent: nothing can be committed here. */
  readonly commits?: Commits;
  /** "": no repository. Never throws. */
  repository?(signal: AbortSignal): Promise<string>;
  /** Absent: files are read one by one. Calls `terms` before the first file. */
  survey?(terms: readonly Term[]): Survey;
}

/** The key is the sha256 (hex) of their input. Never fails a run. */
export interface PlanCache {
  load(key: string): Json | null;
  save(key: string, plan: Json): void;
}

/** The link to an MCP server, which is a program or an address: messages as lines, in both directions. */
export interface ServerLink {
  readonly input: ReadableStream<Uint8Array>;
  /** Sends a message. Must not throw when the server has ended. */
  readonly write: (text: string) => void;
  readonly kill: () => void;
  /** How the server ended or why it does not answer, its last words and what it could not see: the end of a sentence, or "". */
  readonly explain: () => Promise<string>;
  /** Paths of its copy of the project that it has changed since this was asked last; the copy is thrown away. */
  readonly takeWritten: () => readonly string[];
}

/** How the client of a protocol, an editor or an agent, is spoken with. */
export interface ProtocolStreams {
  readonly input: ReadableStream<Uint8Array>;
  readonly output: WritableStream<Uint8Array>;
}

export type Proposal =
  /** `foreign`: it comes from a program, so secrets in it are not hidden yet. */
  | { readonly kind: "answer"; readonly text: string; readonly foreign?: boolean }
  | { readonly kind: "change"; readonly changes: readonly Change[]; readonly text: string }
  /** `timeoutMs`: as long as the model wants to wait, at most 120 s; absent: the run's limit for its commands. */
  | { readonly kind: "command"; readonly command: string; readonly timeoutMs?: number };

/** The model's own mistake, worded for the model: a result, not an error. */
export interface Complaint {
  readonly kind: "complaint";
  readonly code: "edit_failed" | "file_unusable" | "nothing_done";
  readonly text: string;
}

/** An action with its row of the vocabulary; only the action itself knows the type of its input. */
export interface AnyAction {
  readonly name: ActionName;
  readonly tool: string;
  readonly kind: "look" | "change" | "command";
  readonly offered: boolean;
  readonly about: string;
  /** JSON Schema of the input that the model writes in the tool-loop. */
  toolSchema(): Json;
  fromTool(written: Json): Json;
  /** Must not change anything. Throws PaiError when the policy denies a path. */
  propose(input: Json, stage: Stage, signal: AbortSignal): Promise<Proposal | Complaint>;
}
