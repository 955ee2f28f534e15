/** Turns a briefing into the next message of the dialogue: all of it at first, later only what was not told yet. */

import type { ExcerptRange } from "../../core/context/excerpts.ts";
import { fence } from "../../core/data-fence.ts";
import { messagesWith, noteTold, tellFile, tellOnce } from "../../core/dialogue.ts";
import type { Message } from "../../core/model.ts";
import { continueOrStart, tellChanged } from "../dialogue.ts";
import type { Run } from "../run.ts";
import { type Briefing, cutGiven, type Part } from "./briefing.ts";
import type { Source } from "./sources.ts";

/** The requests since the last one of this dialogue, that one included: how it ended is news to the model. */
function renderSince(run: Run): string {
  const { task, dialogue } = run;
  const at = task.history.findLastIndex(({ request }) => request === dialogue.request);
  const since = at < 0 ? task.history : task.history.slice(at);
  const lines = since.map(
    ({ request, answer }) => `user: ${cutGiven(run, request, 400)}\npai: ${cutGiven(run, answer, 400)}`,
  );
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
  if (kind === "conversation") return renderSince(run);
  return kind === "request" ? text : tellOnce(dialogue, kind, text);
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
