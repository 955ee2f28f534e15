/** `pai` and `pai resume`: begins, continues, lists and deletes conversations. */

import { PaiError } from "../../core/error.ts";
import { nameSome } from "../../core/suggest.ts";
import { openSessions } from "../../store/sessions.ts";
import { counted } from "../../ui/amount.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import { columnsOfResults, openLog, showResult } from "../answer-document.ts";
import type { Context } from "../command.ts";
import { openHere } from "../compose/compose-task.ts";
import { openLab } from "../lab.ts";
import { continuedId } from "../session/continue-session.ts";
import { type ListedSession, renderListed } from "../session/render-resumed.ts";
import { talkAt } from "../session/session.ts";
import { runCommand } from "./task.ts";

const kept = 20;

export async function sessionCommand(context: Context): Promise<number> {
  const id = continuedId(context);
  return talkAt(context, id === undefined ? null : { id });
}

export async function resumeCommand(context: Context): Promise<number> {
  const { flags, words } = context;
  if (flags.continue !== undefined) return runCommand(context);
  const [id = null, ...more] = words;
  const tells = flags.list === true || flags.prune === true;
  if (more.length > 0 || (tells && id !== null))
    throw new PaiError("usage", `pai resume takes ${tells ? "no session here" : "one session"}`, {
      hint: "see: pai resume --list",
    });
  if (!tells) {
    if (flags.json === true) throw new PaiError("usage", "--json goes with --list or --prune");
    return talkAt(context, { id });
  }
  const saved = await openSaved(context);
  const deleted = flags.prune === true ? saved.sessions.prune(kept) : null;
  return flags.list === true
    ? showList(context, saved, deleted)
    : showResult(context, "resume", { deleted }, `${counted(deleted ?? 0, "session")} deleted\n`);
}

async function openSaved(context: Context) {
  const { workspace, stateFolder, base } = await openHere(context);
  if (stateFolder === null) throw new PaiError("usage", "no sessions are kept here");
  return { sessions: openSessions(stateFolder, workspace.root), base, root: workspace.root };
}

type Saved = Awaited<ReturnType<typeof openSaved>>;

/** Sessions of this project on other machines, whose store may be away. */
async function listElsewhere({ sessions, base, root }: Saved, warn: (text: string) => void) {
  if (base.settings.storeUrl === null) return [];
  const { listSessionsElsewhere } = await openLab();
  const { elsewhere, why } = await listSessionsElsewhere(base, root, new Set(sessions.list().map(({ id }) => id)));
  if (why !== null) warn(why);
  return elsewhere;
}

async function showList(context: Context, saved: Saved, deleted: number | null): Promise<number> {
  const warn = (code: string) => (text: string) => openLog(context).notify({ level: "warning", code, text });
  const rows = saved.sessions.list();
  const lost = saved.sessions.unreadable();
  if (lost.length > 0) warn("session")(`cannot be read: ${nameSome(lost)}`);
  const elsewhere = await listElsewhere(saved, warn("store"));
  const line = (row: ListedSession) => renderListed(row, columnsOfResults(context));
  const lines = [...rows.map(line), ...elsewhere.map((row) => `${line(row)}  (on ${visibleLine(row.host)})`)];
  const text = lines.length === 0 ? "no session here yet\n" : lines.map((each) => `${each}\n`).join("");
  return showResult(context, "resume", { sessions: rows, elsewhere, deleted }, text);
}
