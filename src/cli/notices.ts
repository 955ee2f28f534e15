/** The notices of one call of pai, collected for JSON output. */
import type { Notice } from "../core/question.ts";

export type Notices = ReturnType<typeof openNotices>;

export function openNotices() {
  const held: Notice[] = [];
  let tell = (notice: Notice): void => {
    held.push(notice);
  };
  return {
    add: (notice: Notice) => tell(notice),
    take: (): readonly Notice[] => held.splice(0),
    follow(listener: (notice: Notice) => void) {
      tell = listener;
      for (const notice of held.splice(0)) listener(notice);
    },
  };
}
