/** The index of one workspace in SQLite. It is only a cache, so whoever finds it damaged removes it. */
import { Database } from "bun:sqlite";
import { chmodSync, closeSync, constants, lstatSync, openSync } from "node:fs";
import { isBusy } from "./index-name.ts";
import type { Segment } from "./segment.ts";

/** What is known of one file; only numbers, so that a folder's files fit into one array. */
export interface FileFacts {
  readonly size: number;
  /** Milliseconds: time of its last change (the system's resolution is finer); -1: changed too recently to be reliable. */
  readonly changed: number;
  readonly inode: number;
  /** Characters of its text; -1: it is not human-written text. */
  readonly length: number;
  /** Segment that has its words; 0: none. */
  readonly segment: number;
  /** Number of the file within the segment. */
  readonly local: number;
}

export interface FolderFacts {
  readonly changed: number;
  readonly inode: number;
  /**
   * Names of the children in order; those that are no files start with `/` and a letter: `/d` folder, `/l` link, `/s`
   * other.
   */
  readonly names: readonly string[];
  /** The children that are files, by name. */
  readonly files: ReadonlyMap<string, FileFacts>;
}

export interface StoredHistory {
  readonly head: string;
  /** Output of git. */
  readonly text: string;
}

export interface IndexContents {
  /** Folders by path; the root is "". */
  readonly folders: ReadonlyMap<string, FolderFacts>;
  readonly history: StoredHistory | null;
  /** All folders had been walked and all files read when it was written. */
  readonly complete: boolean;
}

/** What one refresh writes in a transaction. */
export interface IndexUpdate {
  readonly folders: ReadonlyMap<string, FolderFacts>;
  readonly removedFolders: readonly string[];
  readonly segment: { readonly id: number; readonly content: Segment } | null;
  readonly removedSegments: readonly number[];
  readonly history: StoredHistory | null;
  readonly complete: boolean;
}

export interface IndexFile {
  read(): IndexContents;
  readSegment(id: number): Segment | null;
  readonly segments: readonly number[];
  /** Writes everything or nothing; false: another process is writing or has written, so nothing was written. */
  write(update: IndexUpdate): boolean;
  close(): void;
}

const maxIndexBytes = 512 * 1024 * 1024;
const factsOfFile = 6;

const schema = `
  create table if not exists about (name text primary key, value) without rowid;
  create table if not exists folders (path text primary key, changed real not null, inode real not null,
    names text not null, facts blob not null, sum text not null) without rowid;
  create table if not exists segments (id integer primary key, vocabulary blob not null, offsets blob not null,
    postings blob not null, sum text not null);
`;

/** Whether it is a regular file that only this user may write, no larger than an index can be. */
function isOwn(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return true;
  const uid = process.getuid?.() ?? stat.uid;
  return (
    stat.isFile() && stat.uid === uid && (stat.mode & 0o077) === 0 && stat.nlink === 1 && stat.size <= maxIndexBytes
  );
}

function connect(path: string, rules: string, mayMake: boolean): Database | null {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
    if (!mayMake) return null;
    closeSync(openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW, 0o600));
    chmodSync(path, 0o600);
  }
  const database = new Database(path, { readwrite: true, create: false, strict: true });
  try {
    prepare(database, rules, mayMake);
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

function prepare(database: Database, rules: string, mayMake: boolean): void {
  database.run("pragma busy_timeout = 200");
  database.run("pragma trusted_schema = off");
  database.run("pragma cell_size_check = on");
  // Unlike a log of what was written, a journal of what was there needs no space to read, and gives back all it took.
  database.run("pragma journal_mode = delete");
  database.run("pragma synchronous = off");
  database.run(schema);
  const known = database.query<{ value: string }, []>("select value from about where name = 'rules'").get()?.value;
  if (known === rules) return;
  if (known !== undefined || !mayMake) throw new Error("it was made with other rules");
  database.run("insert or replace into about values ('rules', ?)", [rules]);
}

/**
 * Opens the index at a path; null: there is none, and `mayMake` is false. `rules` is a digest of the settings that decide
 * which files are scanned. Throws errors of the system and of SQLite, and for an index that is writable by others or was
 * made with other rules.
 */
export function openIndex(path: string, rules: string, mayMake: boolean): IndexFile | null {
  if (!isOwn(path)) throw new Error("it is not this user's alone");
  const database = connect(path, rules, mayMake);
  return database === null ? null : wrap(database);
}

const hash = /^[0-9a-f]{40,64}$/;

/** Path, time of the last change, inode, names, facts, checksum. */
type FolderRow = [string, number, number, string, Uint8Array, string];

const bytesOf = (array: Uint32Array | Float64Array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

function packFolder({ names, files }: FolderFacts): { readonly names: string; readonly facts: Uint8Array } {
  const facts = new Float64Array(files.size * factsOfFile);
  let at = 0;
  for (const name of names) {
    const file = files.get(name);
    if (file === undefined) continue;
    facts.set([file.size, file.changed, file.inode, file.length, file.segment, file.local], at);
    at += factsOfFile;
  }
  return { names: names.join("\0"), facts: bytesOf(facts) };
}

/** A child's name with its optional kind mark, and no other slash. */
function isPlainMark(mark: string): boolean {
  const name = mark.startsWith("/") ? mark.slice(2) : mark;
  return name !== "" && name !== "." && name !== ".." && !name.includes("/");
}

/** Throws for a name with a slash: pai did not write such an index. */
function unpackFolder(changed: number, inode: number, names: string, bytes: Uint8Array): FolderFacts {
  const facts = new Float64Array(bytes.slice().buffer);
  const files = new Map<string, FileFacts>();
  const list = names === "" ? [] : names.split("\0");
  if (!list.every(isPlainMark)) throw new Error("a folder has an invalid name");
  let at = 0;
  for (const name of list) {
    if (name.startsWith("/")) continue;
    files.set(name, {
      size: facts[at] ?? 0,
      changed: facts[at + 1] ?? -1,
      inode: facts[at + 2] ?? 0,
      length: facts[at + 3] ?? -1,
      segment: facts[at + 4] ?? 0,
      local: facts[at + 5] ?? 0,
    });
    at += factsOfFile;
  }
  return { changed, inode, names: list, files };
}

function putFolders(database: Database, { folders, removedFolders }: IndexUpdate): void {
  const put = database.prepare("insert or replace into folders values (?, ?, ?, ?, ?, ?)");
  for (const [path, { changed, inode, ...folder }] of folders) {
    const { names, facts } = packFolder({ changed, inode, ...folder });
    put.run(path, changed, inode, names, facts, sumOf([path, changed, inode, names].join("\0"), facts));
  }
  for (const path of removedFolders) database.run("delete from folders where path = ?", [path]);
}

/** A checksum against damage; it does not protect against forgery. */
function sumOf(...parts: readonly (string | Uint8Array)[]): string {
  return parts.map((part) => Bun.hash(part).toString(36)).join(" ");
}

function putSegments(database: Database, { segment, removedSegments }: IndexUpdate): void {
  for (const id of removedSegments) database.run("delete from segments where id = ?", [id]);
  if (segment === null) return;
  const { vocabulary, offsets, postings } = segment.content;
  const words = new TextEncoder().encode(vocabulary);
  const places = bytesOf(offsets);
  const row = [segment.id, words, places, postings, sumOf(words, places, postings)];
  database.run("insert or replace into segments values (?, ?, ?, ?, ?)", row);
}

function wrap(database: Database): IndexFile {
  const value = (name: string): unknown =>
    database.query<{ value: unknown }, [string]>("select value from about where name = ?").get(name)?.value ?? null;
  let generation = value("generation");
  return {
    read() {
      const rows = database.query("select path, changed, inode, names, facts, sum from folders").values();
      const folders = new Map(
        (rows as FolderRow[]).map(([path, changed, inode, names, facts, sum]) => {
          const computed = sumOf([path, changed, inode, names].join("\0"), facts);
          if (computed !== sum) throw new Error("a folder is damaged");
          return [path, unpackFolder(changed, inode, names, facts)] as const;
        }),
      );
      const [head, text] = [value("head"), value("log")];
      const history = typeof head === "string" && typeof text === "string" ? { head, text } : null;
      // It becomes an argument of git.
      if (history !== null && !hash.test(history.head)) throw new Error("the log is of no commit");
      if (history !== null && sumOf(history.head, history.text) !== value("sum")) throw new Error("the log is damaged");
      return { folders, history, complete: value("complete") === 1 };
    },
    get segments() {
      return (database.query("select id from segments order by id").values() as [number][]).map(([id]) => id);
    },
    readSegment(id) {
      const row = database
        .query<{ vocabulary: Uint8Array; offsets: Uint8Array; postings: Uint8Array; sum: string }, [number]>(
          "select vocabulary, offsets, postings, sum from segments where id = ?",
        )
        .get(id);
      if (row === null) return null;
      if (sumOf(row.vocabulary, row.offsets, row.postings) !== row.sum) throw new Error(`segment ${id} is damaged`);
      const vocabulary = new TextDecoder().decode(row.vocabulary);
      return { vocabulary, offsets: new Uint32Array(row.offsets.slice().buffer), postings: row.postings };
    },
    write(update) {
      const apply = database.transaction((): boolean => {
        if (value("generation") !== generation) return false;
        const next = Number(generation ?? 0) + 1;
        putFolders(database, update);
        putSegments(database, update);
        const about = database.prepare("insert or replace into about values (?, ?)");
        if (update.history !== null) {
          about.run("head", update.history.head);
          about.run("log", update.history.text);
          about.run("sum", sumOf(update.history.head, update.history.text));
        }
        about.run("complete", update.complete ? 1 : 0);
        about.run("generation", next);
        generation = next;
        return true;
      });
      try {
        return apply.immediate();
      } catch (thrown) {
        if (isBusy(thrown)) return false;
        throw thrown;
      }
    },
    close: () => database.close(),
  };
}
