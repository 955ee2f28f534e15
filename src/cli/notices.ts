/** The notices of one call of pai, collected for JSON output. */
import type { Notice } from "../core/question.ts";

/** A notice with its time in ISO 8601. */
export interface TimedNotice {
  readonly notice: Notice;
  readonly at: string;
}

export interface Notices {
  readonly add: (notice: Notice) => void;
  /** Returns notices that have not been taken yet, in order. */
  readonly take: () => readonly TimedNotice[];
  /** Passes existing and all future notices to the listener. */
  readonly follow: (listener: (notice: TimedNotice) => void) => void;
}

export function openNotices(now: () => Date): Notices {
  const held: TimedNotice[] = [];
  let tell = (notice: TimedNotice): void => {
    held.push(notice);
  };
  return {
    add: (notice) => tell({ notice, at: now().toISOString() }),
    take: () => held.splice(0),
    follow(listener) {
      tell = listener;
      for (const notice of held.splice(0)) listener(notice);
    },
  };
}
