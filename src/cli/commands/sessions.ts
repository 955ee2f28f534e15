/** `pai`, `pai resume` and `pai sessions`: begins, continues, lists, exports and deletes conversations. */

import { join } from "node:path";
import { PaiError } from "../../core/error.ts";
import type { Session } from "../../core/session/session.ts";
import { suggest } from "../../core/suggest.ts";
import { openSessions, type SessionSummary, type Sessions } from "../../store/sessions.ts";
import { counted } from "../../ui/amount.ts";
import { visible, visibleLine } from "../../ui/sanitize.ts";
import { showResult } from "../answer-document.ts";
import type { Context } from "../command.ts";
import type { Base } from "../compose/base.ts";
import { openHere } from "../compose/open-here.ts";
import { openLab } from "../lab.ts";
import { openLog } from "../open-log.ts";
import { talkAt } from "../session/session.ts";

/** Sessions kept by `prune` without a number. */
const kept = 20;
const verbs = ["list", "show", "export", "prune"] as const;

export async function sessionCommand(context: Context): Promise<number> {
  return talkAt(context, context.flags.continue === true ? { id: null } : null);
}

export async function resumeCommand(context: Context): Promise<number> {
  const [id = null, ...more] = context.words;
  if (more.length > 0) throw new PaiError("usage", "pai resume takes one session", { hint: "see: pai sessions" });
  return talkAt(context, { id });
}

interface Saved {
  readonly sessions: Sessions;
  readonly base: Base;
  readonly root: string;
  readonly folder: string;
}

async function openSaved(context: Context): Promise<Saved> {
  const { workspace, stateFolder, base } = await openHere(context);
  if (stateFolder === null) throw new PaiError("usage", "no sessions are kept here");
  const folder = join(stateFolder, "sessions");
  return { sessions: openSessions(folder, workspace.root), base, root: workspace.root, folder };
}

/** Sessions of this project on other machines; if unknown, why. */
async function listElsewhere({ sessions, base, root }: Saved) {
  if (base.settings.storeUrl === null) return { elsewhere: [], why: null };
  const { listSessionsElsewhere } = await openLab();
  return listSessionsElsewhere(base, root, new Set(sessions.list().map(({ id }) => id)));
}

/** How many sessions `prune` keeps. Throws usage for an id, which is not a number. */
function readCount(word: string | null): number {
  if (word === null) return kept;
  if (/^\d{1,4}$/.test(word)) return Number(word);
  throw new PaiError("usage", `pai sessions prune takes how many to keep, not ${word}`, {
    hint: `pai sessions prune ${kept} deletes all but the newest ${kept}`,
  });
}

const title = ({ id, turns }: Session) => `session ${id}, ${counted(turns.length, "turn")}`;

/** A session as Markdown. */
function renderSession(session: Session): string {
  const turns = session.turns.map(
    ({ at, request, text, status, mode }, n) =>
      `## ${n + 1}. ${at}, ${mode}, ${status ?? "interrupted"}\n\n**You:** ${request}\n\n**pai:** ${text === "" ? "(nothing)" : text}\n`,
  );
  return `# ${title(session)}\n\n${turns.join("\n")}`;
}

async function showList(context: Context, saved: Saved): Promise<number> {
  const rows = saved.sessions.list();
  const { elsewhere, why } = await listElsewhere(saved);
  if (why !== null) openLog(context).notify({ level: "warning", code: "store", text: why });
  const line = (row: Pick<SessionSummary, "id" | "turns" | "preview">, where = "") =>
    `${row.id}  ${counted(row.turns, "turn")}  ${visibleLine(row.preview)}${where}\n`;
  const text = [
    ...rows.map((row) => line(row)),
    ...elsewhere.map((row) => line(row, `  (on ${visibleLine(row.host)})`)),
  ].join("");
  const data = { sessions: rows, elsewhere };
  return showResult(context, "sessions", data, text === "" ? "no session here yet\n" : text);
}

export async function sessionsCommand(context: Context): Promise<number> {
  const [word = "list", id = null, ...more] = context.words;
  const verb = verbs.find((each) => each === word);
  if (verb === undefined) {
    const near = suggest(word, verbs);
    throw new PaiError("usage", `pai sessions cannot ${word}`, {
      hint: near === null ? `one of ${verbs.join(", ")}` : `did you mean: pai sessions ${near}?`,
    });
  }
  if (more.length > 0 || (verb === "list" && id !== null))
    throw new PaiError("usage", `pai sessions ${verb} takes ${verb === "list" ? "no words" : "one word"}`);
  const keep = verb === "prune" ? readCount(id) : 0;
  const saved = await openSaved(context);
  const { sessions } = saved;
  if (verb === "list") return showList(context, saved);
  if (verb === "prune") {
    const deleted = sessions.prune(keep);
    return showResult(context, "sessions", { deleted }, `${counted(deleted, "session")} deleted\n`);
  }
  const { session, damaged } = sessions.load(id);
  const text = verb === "export" ? renderSession(session) : visible(renderSession(session));
  return showResult(context, "sessions", { session, damaged }, text);
}
