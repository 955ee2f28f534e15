/** Runs one git child on the objects of a repository, without its settings, hooks, aliases, pagers and attributes. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { orNull } from "../../core/error.ts";
import type { Repository } from "./find-repository.ts";

const maxBytes = 32 * 1024 * 1024;
const settings = [
  "protocol.allow=never",
  "core.fsmonitor=false",
  "core.commitGraph=false",
  "log.showSignature=false",
  "core.hooksPath=/dev/null",
  "core.attributesFile=/dev/null",
].flatMap((setting) => ["-c", setting]);

/** A temporary folder, in memory if the system offers that: on a disk it takes milliseconds to make and remove. */
const makeFolder = (): string =>
  orNull(() => mkdtempSync("/dev/shm/pai-git-")) ?? mkdtempSync(join(tmpdir(), "pai-git-"));

type Source = Pick<Repository, "objects" | "head" | "shallow">;

/** An empty repository for these objects, so that no setting, hook, alias or attribute of the real one applies. */
function fillFrame(frame: string, { head, shallow }: Source, exclude: string): void {
  // A variable names the folder of objects, so the frame needs none.
  mkdirSync(join(frame, "refs"));
  writeFileSync(join(frame, "HEAD"), `${head}\n`);
  const sha256 = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n";
  if (head.length > 40) writeFileSync(join(frame, "config"), sha256);
  if (shallow !== "") writeFileSync(join(frame, "shallow"), shallow);
  mkdirSync(join(frame, "info"));
  writeFileSync(join(frame, "info/exclude"), exclude);
}

export interface GitOptions {
  /** PATH without folders of the project: a git that lies in the project is not the user's. */
  readonly path: string;
  readonly signal: AbortSignal;
}

interface GitCall extends GitOptions {
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly exclude?: string;
  readonly timeoutMs: number;
}

/** The output of git up to where it ended, and why it is incomplete; `why` null: it is complete. */
export async function runGit(source: Source, call: GitCall): Promise<{ text: string; why: string | null }> {
  const git = Bun.which("git", { PATH: call.path });
  if (git === null) return { text: "", why: "git was not found" };
  if (call.signal.aborted) return { text: "", why: "interrupted" };
  const frame = makeFolder();
  try {
    fillFrame(frame, source, call.exclude ?? "");
    return await runIn(frame, git, source.objects, call);
  } finally {
    rmSync(frame, { recursive: true, force: true });
  }
}

async function runIn(frame: string, git: string, objects: string, call: GitCall) {
  const { path, args, cwd = frame, env = {}, timeoutMs, signal } = call;
  const began = performance.now();
  const child = Bun.spawn([git, "--no-pager", ...settings, ...args], {
    cwd,
    env: {
      PATH: path,
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
      GIT_ALLOW_PROTOCOL: "",
      GIT_NO_REPLACE_OBJECTS: "1",
      GIT_OPTIONAL_LOCKS: "0",
      GIT_TERMINAL_PROMPT: "0",
      GIT_PAGER: "cat",
      ...env,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    maxBuffer: maxBytes,
    timeout: timeoutMs,
    signal,
    killSignal: "SIGKILL",
  });
  const [bytes, exit] = await Promise.all([child.stdout.bytes(), child.exited]);
  const isLate = performance.now() - began >= timeoutMs;
  const late = isLate ? `git took longer than ${timeoutMs} ms` : "git could not read all of it";
  const whole = bytes.length > maxBytes ? "its output is too long" : null;
  const why = signal.aborted ? "interrupted" : (whole ?? (exit === 0 ? null : late));
  return { text: new TextDecoder().decode(bytes), why };
}
