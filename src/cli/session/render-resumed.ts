/** Shows a saved session when it is resumed: a summary and the last exchange. Stored text never approves anything. */
import { pendingOf, type Session, type Turn } from "../../core/session/session.ts";
import type { ReadSession } from "../../store/session-file.ts";
import { counted } from "../../ui/amount.ts";
import { cut, hang } from "../../ui/layout.ts";
import { renderEarlierStatus, renderNext } from "../../ui/run/render-outcome.ts";
import { renderAnswer } from "../../ui/run/reply.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import type { Style } from "../../ui/style.ts";

/** Rows shown of the last request and of its answer. */
const maxRows = { request: 3, answer: 20 };

function foldRows(rows: readonly string[], max: number, style: Style): readonly string[] {
  if (rows.length <= max + 1) return rows;
  return [...rows.slice(0, max), style.paint("dim", `${style.glyphs.more} ${rows.length - max} more rows`)];
}

function renderTurn({ request, text, status }: Turn, style: Style, columns: number): readonly string[] {
  const width = style.plain ? null : columns;
  const markdown = width === null ? null : { columns: width, style, highlight: () => null };
  const answer = text.trim() === "" ? [] : renderAnswer(text, width, markdown).trimEnd().split("\n");
  const ended = renderEarlierStatus(status ?? "interrupted", style);
  return [
    "",
    ...foldRows(hang("> ", visibleLine(request), width), maxRows.request, style),
    ...(answer.length === 0 ? [] : ["", ...foldRows(answer, maxRows.answer, style)]),
    ...(ended === null ? [] : ["", ended]),
  ];
}

/** Text for standard error, each line with its line feed. */
export function renderResumed(session: Session, style: Style, columns: number): string {
  const { id, turns, conversation } = session;
  const last = turns.at(-1);
  const tasks = conversation.tasks.length === 0 ? "" : `, ${counted(conversation.tasks.length, "task")}`;
  const head = cut(`session ${id}, ${counted(turns.length, "turn")}${tasks}`, columns, style.glyphs.more);
  const exchange = last === undefined ? [] : renderTurn(last, style, columns);
  const next = renderNext(pendingOf(session), { style, columns: style.plain ? null : columns, session: true });
  return [head, ...exchange, ...next].map((line) => `${line}\n`).join("");
}

/** What could not be restored of a session, a line each. */
export function describeLosses({ damaged, leftOut }: ReadSession): readonly string[] {
  return [
    ...(damaged > 0 ? [`${counted(damaged, "damaged line")} passed over`] : []),
    ...(leftOut > 0 ? [`it is so long that the first ${renderBytes(leftOut)} are not sent again`] : []),
  ];
}

const renderBytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MiB`;
