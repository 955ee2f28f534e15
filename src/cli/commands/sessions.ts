/** `pai` and `pai resume`: begins, continues, lists and deletes conversations. */

import { PaiError } from "../../core/error.ts";
import { nameSome } from "../../core/suggest.ts";
import { openSessions, type Sessions } from "../../store/sessions.ts";
import { counted } from "../../ui/amount.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import { showResult } from "../answer-document.ts";
import { columnsOfResults } from "../columns.ts";
import type { Context } from "../command.ts";
import type { Base } from "../compose/base.ts";
import { openHere } from "../compose/open-here.ts";
import { openLab } from "../lab.ts";
import { openLog } from "../open-log.ts";
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

interface Saved {
  readonly sessions: Sessions;
  readonly base: Base;
  readonly root: string;
}

async function openSaved(context: Context): Promise<Saved> {
  const { workspace, stateFolder, base } = await openHere(context);
  if (stateFolder === null) throw new PaiError("usage", "no sessions are kept here");
  return { sessions: openSessions(stateFolder, workspace.root), base, root: workspace.root };
}

/** Sessions of this project on other machines; if unknown, why. */
async function listElsewhere({ sessions, base, root }: Saved) {
  if (base.settings.storeUrl === null) return { elsewhere: [], why: null };
  const { listSessionsElsewhere } = await openLab();
  return listSessionsElsewhere(base, root, new Set(sessions.list().map(({ id }) => id)));
}

async function showList(context: Context, saved: Saved, deleted: number | null): Promise<number> {
  const rows = saved.sessions.list();
  const lost = saved.sessions.unreadable();
  if (lost.length > 0)
    openLog(context).notify({ level: "warning", code: "session", text: `cannot be read: ${nameSome(lost)}` });
  const { elsewhere, why } = await listElsewhere(saved);
  if (why !== null) openLog(context).notify({ level: "warning", code: "store", text: why });
  const columns = columnsOfResults(context);
  const line = (row: ListedSession, where = "") => `${renderListed(row, columns)}${where}\n`;
  const text = [
    ...rows.map((row) => line(row)),
    ...elsewhere.map((row) => line(row, `  (on ${visibleLine(row.host)})`)),
  ].join("");
  const data = { sessions: rows, elsewhere, deleted };
  return showResult(context, "resume", data, text === "" ? "no session here yet\n" : text);
}
