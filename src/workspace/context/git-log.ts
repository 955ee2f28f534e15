/** Reads commit messages and changed paths with one git child that sees only the objects of a repository, never its settings. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Commit } from "../../core/context/history.ts";
import type { Repository } from "./find-repository.ts";

export interface Log {
  /** What git wrote, as far as it came; `parseLog` reads it. */
  readonly text: string;
  /** Why it is not all; null: it is. */
  readonly lacks: string | null;
}

export interface LogOptions {
  /** A path of folders without those of the project: a git that lies there is not the user's. */
  readonly path: string;
  readonly commits: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Commits whose history is known already. */
  readonly without?: readonly string[];
}

const maxBytes = 32 * 1024 * 1024;
const settings = [
  "-c",
  "protocol.allow=never",
  "-c",
  "core.fsmonitor=false",
  "-c",
  "core.commitGraph=false",
  "-c",
  "log.showSignature=false",
  "-c",
  "core.hooksPath=/dev/null",
  "-c",
  "core.attributesFile=/dev/null",
] as const;
const plain = [
  "--no-show-signature",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--no-mailmap",
  "--no-notes",
  "--no-decorate",
  "--no-merges",
  "--no-renames",
  "--name-only",
  "-z",
  "--format=%x01%H%x02%s%x02%b%x02",
] as const;

/** An empty repository of pai's own around the objects: no setting, hook, alias, pager or attribute of the real one can act. */
function makeFrame({ head, shallow }: Repository): string {
  const frame = mkdtempSync(join(tmpdir(), "pai-git-"));
  for (const folder of ["objects", "refs"]) mkdirSync(join(frame, folder));
  writeFileSync(join(frame, "HEAD"), `${head}\n`);
  if (head.length > 40)
    writeFileSync(
      join(frame, "config"),
      "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n",
    );
  if (shallow !== "") writeFileSync(join(frame, "shallow"), shallow);
  return frame;
}

/** The newest commits of a repository without merges, newest first. Never throws: what goes wrong is told in `lacks`. */
export async function readLog(repository: Repository, options: LogOptions): Promise<Log> {
  const git = Bun.which("git", { PATH: options.path });
  if (git === null) return { text: "", lacks: "there is no git here" };
  let frame: string | null = null;
  try {
    frame = makeFrame(repository);
    return await runGit(git, frame, repository, options);
  } catch (thrown) {
    return { text: "", lacks: `git cannot be run (${thrown instanceof Error ? thrown.message : "unknown"})` };
  } finally {
    if (frame !== null) rmSync(frame, { recursive: true, force: true });
  }
}

async function runGit(git: string, frame: string, { head, objects }: Repository, options: LogOptions): Promise<Log> {
  const { commits, timeoutMs, signal, without = [] } = options;
  const excluded = without.flatMap((known) => ["--not", known]);
  const child = Bun.spawn([git, "--no-pager", ...settings, "log", ...plain, "-n", `${commits}`, head, ...excluded], {
    cwd: frame,
    env: {
      PATH: options.path,
      HOME: frame,
      XDG_CONFIG_HOME: frame,
      LC_ALL: "C",
      GIT_DIR: frame,
      GIT_OBJECT_DIRECTORY: objects,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_SYSTEM: "/dev/null",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_ATTR_NOSYSTEM: "1",
      GIT_NO_LAZY_FETCH: "1",
      GIT_NO_REPLACE_OBJECTS: "1",
      GIT_OPTIONAL_LOCKS: "0",
      GIT_TERMINAL_PROMPT: "0",
      GIT_PAGER: "cat",
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  let why: string | null = null;
  const end = (reason: string) => {
    why ??= reason;
    child.kill("SIGKILL");
  };
  const timer = setTimeout(() => end(`git took longer than ${timeoutMs} ms`), timeoutMs);
  const onAbort = () => end("interrupted");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxBytes) end("it is too long");
  }
  const exit = await child.exited;
  clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);
  if (why === null && exit !== 0) why = "git cannot read all of it";
  return { text, lacks: why };
}

export interface LoggedCommit extends Commit {
  readonly hash: string;
}

/** Commits of a log, the newest first; paths are cut to those below `prefix` and told from there. */
export function parseLog(text: string, prefix: string): LoggedCommit[] {
  return text
    .split("\x01")
    .slice(1)
    .flatMap((record): LoggedCommit[] => {
      const [hash = "", subject = "", body = "", names] = record.split("\x02");
      // A record without its last part was cut off.
      if (names === undefined) return [];
      const files = names
        .split("\0")
        .map((name) => name.replace(/^\n/, ""))
        .filter((name) => name !== "" && name.startsWith(prefix))
        .map((name) => name.slice(prefix.length));
      return [{ hash, subject, body, files }];
    });
}
