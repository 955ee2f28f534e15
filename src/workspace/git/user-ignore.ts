/** The file of names that the user ignores in every repository, as their own git settings give it, and no repository's. */
import { readFileSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Env } from "../command/command-env.ts";

export interface UserIgnoreOptions {
  /** null: none. */
  readonly home: string | null;
  /** The user's environment: XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL. */
  readonly env: Env;
  /** PATH without folders of the project: a git that lies in the project is not the user's. */
  readonly path: string;
}

const maxBytes = 1024 * 1024;
const timeoutMs = 1000;
/** Settings without these words leave the file where it is by default, so that git need not be asked. */
const mayName = /excludesfile|\[\s*include/i;

/** Text of a regular file, also behind a link, as in a home that is managed as a repository; "": there is none. */
function readOwn(file: string): string {
  try {
    // Without an error for a missing file, as most are: one is slow to make.
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.size <= maxBytes ? readFileSync(file, "utf8") : "";
  } catch {
    return "";
  }
}

/** The value of the setting, in which "" means none; null: it is not set, or git does not say. */
function askGit({ home, env, path }: UserIgnoreOptions): string | null {
  const git = Bun.which("git", { PATH: path });
  if (git === null) return null;
  const passed = ["XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"].flatMap((name) =>
    env[name] === undefined ? [] : [[name, env[name]] as const],
  );
  const { exitCode, stdout } = Bun.spawnSync([git, "config", "--includes", "--path", "--get", "core.excludesFile"], {
    cwd: "/",
    // No repository, so that only the user's settings are read.
    env: {
      ...Object.fromEntries(passed),
      PATH: path,
      HOME: home ?? "",
      GIT_DIR: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
    },
    stdin: "ignore",
    stderr: "ignore",
    timeout: timeoutMs,
  });
  return exitCode === 0 ? stdout.toString().replace(/\n$/, "") : null;
}

/** Path of the file, which may be missing; null: the user has none. */
export function findUserIgnore(options: UserIgnoreOptions): string | null {
  const { home, env } = options;
  const parent = isAbsolute(env["XDG_CONFIG_HOME"] ?? "") ? env["XDG_CONFIG_HOME"] : home && join(home, ".config");
  const own = [parent && join(parent, "git/config"), home && join(home, ".gitconfig")].filter((file) => file != null);
  const settings = env["GIT_CONFIG_GLOBAL"] === undefined ? own : [env["GIT_CONFIG_GLOBAL"]];
  const named = settings.some((file) => mayName.test(readOwn(file))) ? askGit(options) : null;
  const file = named ?? (parent && join(parent, "git/ignore"));
  return file && isAbsolute(file) ? file : null;
}

/** The rules in the file; "": none. */
export const readUserIgnore = (file: string | null): string => (file === null ? "" : readOwn(file));
