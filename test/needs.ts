/** What a test needs of the machine: where it is missing the test is skipped, and its title says for want of what. */
import { describe, test } from "bun:test";
import { spawnSync } from "node:child_process";

export interface Need {
  /** As the closing line of the suite names it. */
  readonly name: string;
  readonly isHere: boolean;
}

/** What the tests of a file run with where all of it is there. */
interface Ways {
  readonly test: typeof test;
  readonly describe: typeof describe;
}

/** A program in PATH, or in the PATH that is given. */
export const program = (name: string, path?: string): Need => ({
  name,
  isHere: Bun.which(name, path === undefined ? {} : { PATH: path }) !== null,
});

const works = (command: string, ...args: readonly string[]) =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0;

const uid = process.geteuid?.();
export const rootUser: Need = { name: "root", isHere: uid === 0 };
export const ordinaryUser: Need = { name: "an ordinary user", isHere: uid !== 0 };

/** Root that may become another user: some sandboxes take that right away. */
export const otherUser: Need = {
  name: "another user (root with setpriv)",
  isHere: works("setpriv", "--reuid=65534", "--clear-groups", "true"),
};

/** Mounts in a user namespace, as root there. */
export const ownMounts: Need = {
  name: "mounts of one's own",
  isHere: works("unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"),
};

export const mounts: Need = {
  name: "mounts (root)",
  isHere: uid === 0 && works("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"),
};

/** Attributes of files, where the tests keep theirs. */
export const immutable: Need = {
  name: "chattr +i (root)",
  isHere: works("sh", "-c", "f=$(mktemp) && chattr +i $f; r=$?; chattr -i $f; rm -f $f; exit $r"),
};

/** One that may trace: some containers forbid it. */
export const strace: Need = { name: "strace", isHere: works("strace", "-qq", "-o", "/dev/null", "true") };

/** The sandbox has a /tmp of its own: no server of tools in a checkout there can be started. */
export const seenInside: Need = { name: "a checkout outside of /tmp", isHere: !import.meta.dir.startsWith("/tmp/") };

/** What a skipped test lacks first, from its title and those of its groups; null: they do not say. */
export const wantOf = (title: string): string | null => / \[for want of ([^\]]*)\]/.exec(title)?.[1] ?? null;

/** A `test` and a `describe` for what needs all of this; programs are named by their name in PATH. */
export function needs(...all: readonly (string | Need)[]): Ways {
  const missing = all.map((need) => (typeof need === "string" ? program(need) : need)).find((need) => !need.isHere);
  if (missing === undefined) return { test, describe };
  const titled = (title: unknown) => `${title} [for want of ${missing.name}]`;
  type Given = readonly [title: unknown, ...rest: readonly never[]];
  const skip = test.skip as (...given: Given) => void;
  const skipTest = Object.assign((...[title, ...rest]: Given) => skip(titled(title), ...rest), {
    each:
      (table: readonly never[]) =>
      (...[title, ...rest]: Given) =>
        (test.skip.each(table) as typeof skip)(titled(title), ...rest),
  });
  const skipAll = (title: unknown, body: () => void) => describe.skip(titled(title), body);
  return {
    test: Object.assign(skipTest, { concurrent: skipTest }) as unknown as typeof test,
    describe: skipAll as unknown as typeof describe,
  };
}
