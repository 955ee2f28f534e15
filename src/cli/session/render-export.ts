/** A session as Markdown, for a file of the user's: what was asked, answered, and what became of it. Pure. */
import type { Session } from "../../core/session/session.ts";

/** A fence that no line of the text closes. */
function fenceFor(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  return "`".repeat(longest + 1);
}

/** `cover`: hides what is secret. */
export function renderExport({ id, at, turns }: Session, cover: (text: string) => string): string {
  const parts = turns.flatMap(({ at: begun, request, text, became, undone, diff, status }) => {
    const ended = undone ? "undone by the user" : became || (status ?? "cut off");
    const tick = fenceFor(diff);
    return [
      `## ${request.split("\n", 1)[0]}`,
      begun,
      ...(request.includes("\n") ? [request] : []),
      ...(text.trim() === "" ? [] : [text.trim()]),
      `*${ended}*`,
      ...(diff === "" ? [] : [`${tick}diff\n${diff.trimEnd()}\n${tick}`]),
    ];
  });
  return cover(`${[`# pai session ${id}`, at, ...parts].join("\n\n")}\n`);
}
