/** The commands of the lab: `pai stats` and `pai dashboard`; `pai eval` has a file of its own. */

import { resolve } from "node:path";
import { columnsOfResults, openLog, showResult } from "../../cli/answer-document.ts";
import type { Context } from "../../cli/command.ts";
import { version } from "../../cli/commands/version.ts";
import { type Base, composeBase, knownSecrets, projectOf } from "../../cli/compose/base.ts";
import { styleOf } from "../../cli/compose/view.ts";
import { findOutput } from "../../cli/output-file.ts";
import { PaiError } from "../../core/error.ts";
import { noUsage, weighedOf } from "../../core/model.ts";
import type { GroupTotals, TeamRun } from "../../core/run-summary.ts";
import { counted } from "../../ui/amount.ts";
import { visible } from "../../ui/sanitize.ts";
import { renderStats } from "../../ui/stats.ts";
import { maxRuns, readDetails, readPageData } from "../dashboard/page-data.ts";
import { renderPage, servePage } from "../dashboard/serve.ts";
import { type Grouping, type IndexedRun, readRuns, sumRuns } from "../run-index.ts";
import { askTeam } from "../team/link-team.ts";
import { readTeamRuns } from "../team/shared.ts";
import { evalCommand } from "./eval.ts";

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Parses `--since`: "7d", "12h", "4w" or a date (UTC), returned in ISO 8601; null for "all". */
function readSince(text: string, now: Date): string | null {
  if (text === "all") return null;
  const [, count, unit] = /^(\d{1,4})([hdw])$/.exec(text) ?? [];
  if (count !== undefined) {
    const time = new Date(now.getTime() - Number(count) * (unitMs[unit ?? "d"] ?? 0)).toISOString();
    return unit === "h" ? time : time.slice(0, 10);
  }
  if (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new PaiError("usage", `--since ${text}: not a time`, { hint: "such as 12h, 7d, 4w, 2026-11-01 or all" });
}

/** A row for JSON and CSV: money in USD, times in milliseconds. */
const asRow = ({ key, runs, kept, cost, unpriced, ...totals }: GroupTotals) => ({
  key,
  runs,
  promises_kept: kept,
  weighed: weighedOf({ ...noUsage, input: totals.tokens, cached: totals.cached }),
  cost: unpriced === runs ? null : cost,
  cost_per_solved: unpriced === runs || totals.solved === 0 ? null : cost / totals.solved,
  unpriced,
  ...totals,
});

/** A field quoted as in RFC 4180. A text that a spreadsheet would run as a formula gets an apostrophe. */
function csvField(value: string | number | null): string {
  if (typeof value !== "string") return value === null ? "" : String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Lines end in a line feed alone, as other tools of a pipe expect it. */
function renderCsv(rows: readonly ReturnType<typeof asRow>[], by: Grouping): string {
  const [first] = rows;
  const names = first === undefined ? ["key"] : Object.keys(first);
  const head = names.map((name) => (name === "key" ? by : name)).join(",");
  return [head, ...rows.map((row) => Object.values(row).map(csvField).join(","))].map((line) => `${line}\n`).join("");
}

async function runsOf(base: Base, by: Grouping, since: string | null): Promise<readonly IndexedRun[]> {
  const { context, places } = base;
  if (context.flags.team === true) return askTeam(base, (store) => readTeamRuns(store, null, since));
  if (by === "user") throw new PaiError("usage", "--by user is for a team", { hint: "pai stats --team --by user" });
  if (places.stateDir === null) throw new PaiError("failed", "no receipts are kept: no home folder is known");
  return readRuns(places.stateDir);
}

/** Sums up the runs of all folders by day, model, mode or folder. */
async function statsCommand(given: Context): Promise<number> {
  const base = composeBase(given);
  const { context } = base;
  const by = context.flags.by ?? "day";
  if (context.flags.csv === true && context.flags.json === true)
    throw new PaiError("usage", "--csv and --json exclude each other", { hint: "give one of them" });
  const since = readSince(context.flags.since ?? "30d", context.now());
  const runs = await runsOf(base, by, since);
  const rows = sumRuns(runs, by, since);
  const [whole] = sumRuns(runs, "all", since);
  const data = { by, since, rows: rows.map(asRow), total: whole === undefined ? null : asRow(whole) };
  if (context.flags.csv === true) {
    context.out(visible(renderCsv(data.rows, by)));
    return 0;
  }
  const text =
    whole === undefined
      ? "no runs have ended in this time\n"
      : renderStats(rows, whole, by, {
          style: styleOf(context, context.tty.stdout),
          columns: columnsOfResults(context),
        });
  return showResult(context, "stats", data, text);
}

function readPort(text: string | undefined): number {
  const port = Number(text ?? "0");
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new PaiError("usage", `--port ${text}: not a port`, { hint: "a number from 1 to 65535" });
}

const ended = (signal: AbortSignal): Promise<unknown> =>
  new Promise((settle) => {
    if (signal.aborted) settle(signal.reason);
    else signal.addEventListener("abort", () => settle(signal.reason), { once: true });
  });

async function readTeam(base: Base): Promise<readonly TeamRun[] | null> {
  if (base.context.flags.team !== true) return null;
  return askTeam(base, (store) => readTeamRuns(store, maxRuns));
}

/** The runs of all folders as one page, written to a file or served on this machine. */
async function dashboardCommand(given: Context): Promise<number> {
  const base = composeBase(given);
  const { context, places } = base;
  const { stateDir } = places;
  if (stateDir === null) throw new PaiError("failed", "no receipts are kept: no home folder is known");
  const kept = { stateDir, known: (root: string) => knownSecrets(base, root) };
  const read = async (live: boolean) =>
    readPageData({ ...kept, now: context.now(), version, live, team: await readTeam(base) });
  const { out } = context.flags;
  if (out !== undefined) {
    const { file, write } = findOutput(resolve(context.cwd, out), projectOf(given), true);
    const data = await read(false);
    write(renderPage(data, crypto.randomUUID()));
    const text = `${counted(data.runs.length, "run")} written to ${file}\n`;
    return showResult(context, "dashboard", { file, runs: data.runs.length }, text);
  }
  if (context.flags.json === true) throw new PaiError("usage", "--json goes with --out FILE");
  // A page that could never show the team's runs is not served.
  await readTeam(base);
  const detailsOf = (key: string): string | null => {
    const [folder = "", id = ""] = key.split("/");
    const details = readDetails(kept, folder, id);
    return details === null ? null : JSON.stringify(details);
  };
  const pageNow = async (nonce: string) => renderPage(await read(true), nonce);
  const { url, stop } = servePage(pageNow, detailsOf, readPort(context.flags.port));
  context.out(`${url}\n`);
  const text = "Only this machine can open it. Ctrl+C ends it.";
  openLog(context).notify({ level: "info", code: "dashboard", text });
  const reason = await ended(context.signal);
  await stop();
  throw reason;
}

export const lab = { dashboard: dashboardCommand, eval: evalCommand, stats: statsCommand } as const;
