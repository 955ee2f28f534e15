/** Keeps copies of closed files, as they were before the run, while a command runs. */
import type { Change } from "../../core/change.ts";
import { isClosedKind } from "../effects/kind.ts";
import type { Look } from "../effects/look.ts";
import type { Copies, openCopies } from "../journal/closed-copies.ts";

export type KeptCopies = ReturnType<typeof openCopies>;

const beatMs = 1000;

/** For one command. `copies` null: nothing can be kept. */
export function openKeeping(copies: KeptCopies | null) {
  let beating: Timer | null = null;
  return {
    begin(closed: Copies): void {
      copies?.save(closed);
      beating = setInterval(() => copies?.beat(), beatMs);
      beating.unref();
    },
    end(): void {
      if (beating === null) return;
      clearInterval(beating);
      copies?.beat();
    },
  };
}

/** The closed files that a look saw. `git`: the command may write `.git`. */
export const copiesIn = ({ seen, named }: Look, git: boolean): Copies => ({
  files: new Map(
    [...seen].flatMap(
      ([
        path,
        {
          kind,
          blob,
          stat: { uid, gid },
        },
      ]) => (isClosedKind(kind) ? [[path, { blob, uid, gid }] as const] : []),
    ),
  ),
  isPart: named.size > 0,
  git,
});

/** The files as before the first command: undoes in memory what the run's commands (`done`, in order) have changed. */
export function atStart(closed: Copies, done: readonly Change[]): Copies {
  const files = new Map(closed.files);
  const first = new Map(done.toReversed().map(({ path, before }) => [path, before]));
  for (const [path, blob] of first) {
    const { uid, gid } = files.get(path) ?? { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
    if (blob === null) files.delete(path);
    else files.set(path, { blob, uid, gid });
  }
  return { ...closed, files };
}
