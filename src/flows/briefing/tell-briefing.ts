/** Turns a briefing into the next message of the dialogue: all of it at first, later only what was not told yet. */

import type { ExcerptRange } from "../../core/context/excerpts.ts";
import { fence } from "../../core/data-fence.ts";
import { messagesWith, noteTold, tellFile, tellOnce } from "../../core/dialogue.ts";
import { type Message, partOf } from "../../core/model.ts";
import { type PastTurn, renderBecame } from "../../core/session/past.ts";
import { continueOrStart, tellChanged } from "../dialogue.ts";
import type { Run } from "../run.ts";
import { type Briefing, type Part, renderPastOf } from "./briefing.ts";
import { maxOfPast, roomFor } from "./piped.ts";
import type { Source } from "./sources.ts";

/** What became of the last turn that the messages hold (`isHeld`), and the turns since; "": there is nothing to tell. */
export function renderSince(run: Run, isHeld: (turn: PastTurn) => boolean): string {
  const { task, calling, veil } = run;
  const at = task.history.findLastIndex(isHeld);
  const last = task.history[at];
  const ended = last === undefined ? [] : [veil.coverText(renderBecame({ ...last, diff: "" }))];
  const since = task.history.slice(at + 1);
  const room = maxOfPast(roomFor(partOf(calling.model, "plan")));
  const lines = [...ended, ...(since.length === 0 ? [] : [renderPastOf(run, since, room)])];
  return lines.length === 0 ? "" : fence("conversation", { since: "your last answer" }, lines.join("\n"));
}

/** The lines of a file of the project that a part shows (null: all); undefined: it is cut, or lies elsewhere. */
function rangesOf({ path, text, shown, part }: Source): readonly ExcerptRange[] | null | undefined {
  if (path.startsWith("/") || part?.ranges.length === 0) return undefined;
  return part?.ranges ?? (shown === text ? null : undefined);
}

/** What of a part the dialogue does not show yet; "": nothing. */
function tellPart(run: Run, { kind, text, file }: Part): string {
  const { dialogue } = run;
  if (file !== null) {
    const ranges = rangesOf(file);
    if (ranges === undefined) return tellOnce(dialogue, `${kind} ${file.path}`, text);
    return tellFile(dialogue, { path: file.path, text: file.text, ranges, outline: "", note: "" }).text;
  }
  if (kind === "conversation") return renderSince(run, ({ request }) => request === dialogue.request);
  // What the user did since the last turn is news, also where it says the same as before.
  return kind === "request" || kind === "context" ? text : tellOnce(dialogue, kind, text);
}

/** Notes what a briefing tells that is sent as it is. */
function noteBriefing(run: Run, { parts }: Briefing): void {
  for (const { kind, text, file } of parts) {
    const ranges = file === null ? undefined : rangesOf(file);
    if (file === null || ranges === undefined)
      tellOnce(run.dialogue, file === null ? kind : `${kind} ${file.path}`, text);
    else noteTold(run.dialogue, file.path, file.text, ranges);
  }
}

/** The messages of the first planning call, which end in the briefing or, in a dialogue that goes on, in its news. */
export async function tellBriefing(run: Run, system: string, briefing: Briefing): Promise<readonly Message[]> {
  const { dialogue } = run;
  continueOrStart(run, system, "plan", briefing.text.length);
  if (dialogue.messages.length === 0) noteBriefing(run, briefing);
  const text =
    dialogue.messages.length === 0
      ? briefing.text
      : [await tellChanged(run), ...briefing.parts.map((part) => tellPart(run, part))].filter(Boolean).join("\n\n");
  dialogue.request = run.task.text;
  return messagesWith(dialogue, text);
}
