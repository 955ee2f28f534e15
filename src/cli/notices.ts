/** The notices of one call of pai, collected for JSON output. */
import type { Notice } from "../core/question.ts";

/** A notice with its time in ISO 8601. */
export interface TimedNotice {
  readonly notice: Notice;
  readonly at: string;
}

export type Notices = ReturnType<typeof openNotices>;

export function openNotices(now: () => Date) {
  const held: TimedNotice[] = [];
  let tell = (notice: TimedNotice): void => {
    held.push(notice);
  };
  return {
    add: (notice: Notice) => tell({ notice, at: now().toISOString() }),
    /** Returns notices that have not been taken yet, in order. */
    take: (): readonly TimedNotice[] => held.splice(0),
    /** Passes existing and all future notices to the listener. */
    follow(listener: (notice: TimedNotice) => void) {
      tell = listener;
      for (const notice of held.splice(0)) listener(notice);
    },
  };
}
