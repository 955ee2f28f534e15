/** The notices of one call of pai, kept for a program that reads the result as JSON. */
import type { Notice } from "../core/question.ts";

/** A notice with the time it was given, ISO 8601. */
export interface Told {
  readonly notice: Notice;
  readonly at: string;
}

export interface Notices {
  readonly add: (notice: Notice) => void;
  /** Those that nobody has taken yet, in their order; each is taken once. */
  readonly take: () => readonly Told[];
  /** Gives the listener what is there, and from now on each notice as it comes. */
  readonly follow: (listener: (told: Told) => void) => void;
}

export function openNotices(now: () => Date): Notices {
  const held: Told[] = [];
  let tell = (told: Told): void => {
    held.push(told);
  };
  return {
    add: (notice) => tell({ notice, at: now().toISOString() }),
    take: () => held.splice(0),
    follow(listener) {
      tell = listener;
      for (const told of held.splice(0)) listener(told);
    },
  };
}
