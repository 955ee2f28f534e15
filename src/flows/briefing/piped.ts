/** What was piped in, as a part of a request: cut to the window of the model that is asked. */
import { clipText, shareOut } from "../../core/command/clip.ts";
import { maxPiped } from "../../core/context/shown.ts";
import { fence } from "../../core/data-fence.ts";
import { type Model, partOf } from "../../core/model.ts";
import type { Run } from "../run.ts";

/** Characters of a token, a careful estimate: in prose about four, in code fewer. */
const perToken = 3;
/** Characters of a request besides its evidence: instructions, schema, the task itself. */
const otherChars = 6_000;

export const roomFor = ({ window, maxOutputTokens }: Pick<Model, "window" | "maxOutputTokens">): number =>
  Math.max(0, (window - maxOutputTokens) * perToken - otherChars);

/** Characters of what was piped in: at most half of the room, since the files need some, too. */
export const maxOfPiped = (room: number): number => Math.min(maxPiped, Math.floor(room / 2));

export const maxOfPast = (room: number): number => Math.floor(room / 4);

/** "": nothing was piped in. `most`: bytes of it; by default for a call of the work. */
export function renderPiped(run: Run, most = maxOfPiped(roomFor(partOf(run.calling.model, "work")))): string {
  const { context } = run.task;
  // Files that were read since may tell a secret in it.
  return context === null ? "" : fence("context", {}, clipText(run.veil.cover(context), shareOut(Math.floor(most))));
}
