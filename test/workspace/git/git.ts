/** Repositories for tests, made by git with nothing of a user around it. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where git is looked for. */
export const path = "/usr/local/bin:/usr/bin:/bin";

/** What git says in this folder; throws what it complains of. */
export function git(folder: string, ...args: readonly string[]): string {
  const settings = ["user.name=A", "user.email=a@b.c", "protocol.file.allow=always", "init.defaultBranch=main"];
  const as = settings.flatMap((each) => ["-c", each]);
  const env = { PATH: path, HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" };
  const done = spawnSync("git", [...as, ...args], { cwd: folder, env, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`git ${args.join(" ")}: ${done.stderr}`);
  return done.stdout.trim();
}

/** Commits a file that holds the message. */
export function commit(folder: string, file: string, message: string): void {
  mkdirSync(join(folder, file, ".."), { recursive: true });
  writeFileSync(join(folder, file), `${message}\n`);
  git(folder, "add", ".");
  git(folder, "commit", "-q", "-m", message);
}
