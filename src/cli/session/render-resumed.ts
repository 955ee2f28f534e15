/** A saved session as text: when it is resumed, and as Markdown for a file. Stored text never approves anything. */
import { asBlock } from "../../acp/door.ts";
import { endOf } from "../../core/session/past.ts";
import { pendingOf, type ReadSession, type Session, type Turn } from "../../core/session/session.ts";
import type { SessionSummary } from "../../store/sessions.ts";
import { counted } from "../../ui/amount.ts";
import { cut, hang, refit } from "../../ui/layout.ts";
import { renderNext } from "../../ui/run/render-outcome.ts";
import { renderAnswer } from "../../ui/run/reply.ts";
import { firstLine, visibleLine } from "../../ui/sanitize.ts";
import type { Style } from "../../ui/style.ts";

export type ListedSession = Pick<SessionSummary, "id" | "changed" | "turns" | "preview">;

/** "20261121-…  2026-11-21 14:03  3 turns  fix the login". `columns` null: no wrapping. */
export function renderListed({ id, changed, turns, preview }: ListedSession, columns: number | null): string {
  const when = new Date(changed).toISOString().slice(0, 16).replace("T", " ");
  return refit(`${id}  ${when}  ${counted(turns, "turn")}  ${firstLine(preview)}`, columns);
}

function renderTurn(turn: Turn, style: Style, columns: number): readonly string[] {
  const { request, text, status, undone } = turn;
  const width = style.plain ? null : columns;
  const markdown = width === null ? null : { columns: width, style, highlight: () => null };
  const answer = text.trim() === "" ? [] : renderAnswer(text, width, markdown).trimEnd().split("\n");
  return [
    "",
    ...hang("> ", firstLine(request), width),
    ...(answer.length === 0 || undone ? [] : ["", ...answer]),
    ...(status === "answered" && !undone ? [] : ["", ...hang("", style.paint("dim", visibleLine(endOf(turn))), width)]),
  ];
}

export function renderResumed(session: Session, style: Style, columns: number): string {
  const { id, turns, conversation } = session;
  const tasks = conversation.tasks.length === 0 ? "" : `, ${counted(conversation.tasks.length, "task")}`;
  const head = cut(`session ${id}, ${counted(turns.length, "turn")}${tasks}`, columns, style.glyphs.more);
  const exchange = turns.flatMap((turn) => renderTurn(turn, style, columns));
  const next = renderNext(pendingOf(session), { style, columns: style.plain ? null : columns, session: true });
  return [head, ...exchange, ...next].map((line) => `${line}\n`).join("");
}

/** What is not as it was in a session that goes on with `models`, a line each. */
export function describeLosses({ session, damaged }: ReadSession, models: string): readonly string[] {
  const last = session.turns.findLast(({ model }) => model !== "")?.model;
  return [
    ...(last === undefined || models.includes(last) ? [] : [`its last turn asked ${last}: /model ${last} goes on so`]),
    ...(damaged > 0 ? [`${counted(damaged, "damaged line")} passed over`] : []),
  ];
}

export function renderExport({ id, at, turns }: Session, cover: (text: string) => string): string {
  const parts = turns.flatMap((turn) => {
    const { at: begun, request, text, diff } = turn;
    return [
      `## ${request.split("\n", 1)[0]}`,
      begun,
      ...(request.includes("\n") ? [request] : []),
      ...(text.trim() === "" ? [] : [text.trim()]),
      `*${endOf(turn)}*`,
      ...(diff === "" ? [] : [asBlock(diff.trimEnd(), "diff")]),
    ];
  });
  return cover(`${[`# pai session ${id}`, at, ...parts].join("\n\n")}\n`);
}
