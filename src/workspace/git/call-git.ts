/** Runs git for the user, with their own settings and identity, and without any program that the project names. */
import { PaiError } from "../../core/error.ts";
import type { Env } from "../command/command-env.ts";

export interface GitPlace {
  readonly root: string;
  /** PATH without folders of the project: a git that lies in the project is not the user's. */
  readonly path: string;
  readonly env: Env;
}

export type Git = (
  args: readonly string[],
  more?: { readonly input?: string; readonly index?: string },
) => Promise<{ readonly exit: number | null; readonly stdout: string; readonly stderr: string }>;

/** Variables of the user: identity, and where settings and keys are. */
const passed =
  `HOME XDG_CONFIG_HOME USER LOGNAME TZ GNUPGHOME GPG_TTY SSH_AUTH_SOCK DISPLAY WAYLAND_DISPLAY XDG_RUNTIME_DIR
  EMAIL GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE
  GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM`.split(/\s+/);

/** Overrides of repository settings that would start a hook, monitor, editor, diff program or network access. */
const settings = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "commit.verbose=false",
  "commit.status=false",
  "protocol.allow=never",
  "gc.auto=0",
  "maintenance.auto=false",
  "advice.addIgnoredFile=false",
].flatMap((setting) => ["-c", setting]);

const quiet = {
  LC_ALL: "C",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "false",
  SSH_ASKPASS: "false",
  SSH_ASKPASS_REQUIRE: "never",
  GIT_EDITOR: ":",
  GIT_PAGER: "cat",
  GIT_NO_LAZY_FETCH: "1",
  // Overrides what a repository allows per protocol; also for old versions of git that lack the variable above.
  GIT_ALLOW_PROTOCOL: "",
  GIT_LITERAL_PATHSPECS: "1",
} as const;

const patienceMs = 60_000;
const graceMs = 500;

export const findGit = ({ path }: GitPlace): string | null => Bun.which("git", { PATH: path });

/**
 * Throws commit_failed when git is missing or takes too long, and the signal's reason when it aborts. Pass null for the
 * call that writes the commit, so that nothing interrupts it.
 */
export function openGit(place: GitPlace, signal: AbortSignal | null): Git {
  const git = findGit(place);
  if (git === null) throw new PaiError("commit_failed", "git was not found");
  const own = passed.flatMap((name) => {
    const value = place.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const env = { ...Object.fromEntries(own), PATH: place.path, ...quiet };
  return async (args, { input, index } = {}) => {
    signal?.throwIfAborted();
    const child = Bun.spawn([git, "--no-pager", ...settings, ...args], {
      cwd: place.root,
      env: index === undefined ? env : { ...env, GIT_INDEX_FILE: index },
      stdin: input === undefined ? "ignore" : Buffer.from(input),
      stdout: "pipe",
      stderr: "pipe",
    });
    let late = false;
    // On SIGTERM git removes its locks; it may wait for a pipe all the same.
    const end = (): void => {
      child.kill("SIGTERM");
      setTimeout(() => child.kill("SIGKILL"), graceMs).unref();
    };
    const timer = setTimeout(() => {
      late = true;
      end();
    }, patienceMs);
    signal?.addEventListener("abort", end, { once: true });
    const [stdout, stderr, exit] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
    signal?.throwIfAborted();
    if (late) throw new PaiError("commit_failed", `git ${args[0]} took longer than ${patienceMs / 1000} s`);
    return { exit, stdout, stderr };
  };
}

/** Standard output of git. Throws commit_failed with git's own message. */
export async function readGit(git: Git, args: readonly string[], more?: Parameters<Git>[1]): Promise<string> {
  const { exit, stdout, stderr } = await git(args, more);
  if (exit === 0) return stdout;
  throw new PaiError("commit_failed", `git ${args[0]}: ${lastWords(stderr || stdout) || `exit ${exit}`}`);
}

const lastWords = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.replace(/^(fatal|error): /, "").trim())
    .filter((line) => line !== "" && !line.startsWith("hint:"))
    .slice(0, 2)
    .join("; ");
