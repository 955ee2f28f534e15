/** The earlier turns of a session as a request tells them: what was asked, what was answered, and what became of it. Pure. */
import { tailOf } from "../command/check-output.ts";
import { type Happening, nameRequest, type Session, sayMissing, type Turn } from "./session.ts";

export interface PastTurn {
  readonly run: string;
  /** What had happened since the turn before, a line each; "": nothing is known. */
  readonly since: string;
  readonly request: string;
  /** The model's words, of a claim its questions; "": there are none. */
  readonly answer: string;
  readonly became: string;
  /** Diff of what was kept, taken back or declined, of the last turns only; "": none. */
  readonly diff: string;
  /** What the checks printed that failed the turn, and its last commands, as for `diff`; absent: nothing. */
  readonly printed?: string | undefined;
  /** A turn of tool-loop is part of its conversation, one of another mode of the dialogue, in eight-step only its plan. */
  readonly mode: string;
}

const withDiff = 2;

/** Characters of all turns together; the receipt of each run holds them, too. */
const maxChars = 100_000;

export function textsOf({ since, request, answer, became, diff, printed = "" }: PastTurn): readonly string[] {
  return [since, request, answer, became, diff, printed];
}

const sizeOf = (turn: PastTurn) => textsOf(turn).reduce((sum, text) => sum + text.length, 0);

/** Lists what happened, one item each; further lines of an item are indented. */
export const listHappenings = (texts: readonly string[]): string =>
  texts.map((text) => `- ${text.trimEnd().replaceAll("\n", "\n  ")}`).join("\n");

/** Lists what happened before a turn. `isLast`: a command is told with the end of its output. */
function pastSince(since: readonly Happening[], isLast: boolean): string {
  const cut = since.map(({ what, text }) => {
    if (what === "end") return text;
    const [first = "", ...rest] = text.split("\n");
    return isLast && rest.length > 0 ? `${first}\n${tailOf(rest.join("\n"))}` : first;
  });
  return listHappenings(cut);
}

/** All that a session knows of a turn that never ended, and of which nothing was taken back. */
const cutOff =
  "cut off before it changed any file, unless another pai is still at work on it, or it could not be taken back";

/** How a turn ended, and what the user did since with it, or with the turns that it sums up. */
export function endOf({ status, became, undone, missing, told }: Turn): string {
  const end = became || (status ?? cutOff);
  if (undone === true)
    return `undone by the user: its own changes went back, and nothing else${sayMissing(missing)}; before that: ${end}`;
  const since = told.flatMap((turn) =>
    turn.undone === null
      ? []
      : `; ${turn.undone ? "undone" : "brought back"} by the user since: ${nameRequest(turn)}${sayMissing(turn.missing)}`,
  );
  return undone === null ? `${end}${since.join("")}` : `${end}; brought back by the user since${sayMissing(missing)}`;
}

function pastTurn(turn: Turn, hasDiff: boolean): PastTurn {
  const { run, request, text, diff, printed, undone, mode } = turn;
  return {
    run,
    since: pastSince(turn.since, hasDiff),
    request,
    answer: undone === true ? "" : text,
    became: endOf(turn),
    diff: hasDiff && undone !== true ? diff : "",
    mode,
    ...(hasDiff && printed !== undefined && { printed }),
  };
}

/** As many of the last turns as fit, oldest first; the last one always. */
export function pastOf({ turns }: Pick<Session, "turns">): readonly PastTurn[] {
  const past: PastTurn[] = [];
  let size = 0;
  for (let at = turns.length - 1; at >= 0; at -= 1) {
    const turn = turns[at];
    if (turn === undefined) break;
    const told = pastTurn(turn, at >= turns.length - withDiff);
    size += sizeOf(told);
    if (past.length > 0 && size > maxChars) break;
    past.push(told);
  }
  return past.reverse();
}

/** Lines after the first are indented, so that none can pass for another speaker's. */
const speak = (who: string, text: string) => `${who}: ${text.trim().replaceAll("\n", "\n  ")}`;

/** What pai says of a turn: what became of it, its diff, and what the checks printed that failed it. */
export const renderBecame = ({ became, diff, printed = "" }: PastTurn): string =>
  speak("pai", [became, diff, printed].filter(Boolean).join("\n"));

function renderPast(turn: PastTurn): string {
  const answer = turn.answer.trim() === "" ? [] : [speak("you", turn.answer)];
  const since = turn.since === "" ? [] : [speak("pai", `before the next request:\n${turn.since}`)];
  return [...since, speak("user", turn.request), ...answer, renderBecame(turn)].join("\n");
}

/** The newest turns that fit into `maxLength` characters; the last one always, cut if it is longer than that alone. */
export function renderPastTurns(turns: readonly PastTurn[], maxLength: number): string {
  const shown: string[] = [];
  let left = maxLength;
  for (const turn of turns.toReversed()) {
    const text = renderPast(turn);
    if (shown.length > 0 && text.length > left) break;
    shown.push(text.length > left ? `${text.slice(0, Math.max(0, left))} […]` : text);
    left -= text.length + 1;
  }
  const more = turns.length - shown.length;
  return [
    ...(more > 0 ? [`[${more} earlier ${more === 1 ? "turn is" : "turns are"} not shown]`] : []),
    ...shown.reverse(),
  ].join("\n");
}

/** The turns of a session, for a summary. `said`: the conversation of those of tool-loop; "": there is none. */
export function renderForSummary(session: Pick<Session, "turns" | "pending">, said: string): string {
  const turns = pastOf(session);
  const since = pastSince(session.pending, true);
  const isSaid = ({ mode }: PastTurn) => said !== "" && mode === "tool-loop";
  const told = turns.map((turn) => renderPast(isSaid(turn) ? { ...turn, answer: "" } : turn));
  return [
    said,
    "What was asked, and what became of it in the words of pai, which alone are sure:",
    ...told,
    since && `pai: since then:\n${since}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}
