/** `pai dashboard`: the runs of all folders as one page, written to a file or served on this machine. */

import { resolve } from "node:path";
import { openLog, showResult } from "../../cli/answer-document.ts";
import type { Context } from "../../cli/command.ts";
import { version } from "../../cli/commands/version.ts";
import { type Base, composeBase, knownSecrets, projectOf } from "../../cli/compose/base.ts";
import { findOutput } from "../../cli/output-file.ts";
import { PaiError } from "../../core/error.ts";
import type { TeamRun } from "../../core/run-summary.ts";
import { counted } from "../../ui/amount.ts";
import { maxRuns, readDetails, readPageData } from "../dashboard/page-data.ts";
import { renderPage, servePage } from "../dashboard/serve.ts";
import { askTeam } from "../team/link-team.ts";
import { readTeamRuns } from "../team/shared-runs.ts";

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

export async function dashboardCommand(given: Context): Promise<number> {
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
  const { url, stop } = servePage(
    {
      page: async (nonce) => renderPage(await read(true), nonce),
      details(key) {
        const [folder = "", id = ""] = key.split("/");
        const details = readDetails(kept, folder, id);
        return details === null ? null : JSON.stringify(details);
      },
    },
    readPort(context.flags.port),
  );
  context.out(`${url}\n`);
  const text = "Only this machine can open it. Ctrl+C ends it.";
  openLog(context).notify({ level: "info", code: "dashboard", text });
  const reason = await ended(context.signal);
  await stop();
  throw reason;
}
