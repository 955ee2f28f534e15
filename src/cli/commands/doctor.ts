/** `pai doctor`: checks whether pai can work here, and shows its settings with their origin. */

import { constants } from "node:fs";
import { holdsUnasked, isEnough } from "../../core/command/sandbox.ts";
import { PaiError, toFailure, toPaiError } from "../../core/error.ts";
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import { renderServer } from "../../models/local/discover.ts";
import { openPlaces } from "../../store/places.ts";
import type { LoadedSettings } from "../../store/settings.ts";
import { mayUse, nearestThere } from "../../system/lookups.ts";
import { counted } from "../../ui/amount.ts";
import { renderCommandDocument } from "../../ui/command-document.ts";
import { hang } from "../../ui/layout.ts";
import { visible } from "../../ui/sanitize.ts";
import { openRoot } from "../../workspace/confine.ts";
import { openSandbox } from "../../workspace/sandbox/open-sandbox.ts";
import { columnsOfResults } from "../columns.ts";
import type { Context } from "../command.ts";
import { findRoot } from "../compose/base.ts";
import { composeSandbox } from "../compose/options.ts";
import { examine, examineEndpoint, loadAll } from "../doctor-checks.ts";
import { examineOnline } from "../doctor-online.ts";
import { type Finding, failed, fine, type Patient, warning } from "../finding.ts";
import { openLab } from "../lab.ts";
import { findLocalServers } from "../onboard/ask-model.ts";

/** Returns exit code 1 if a finding is an error, but prints the findings as a result. */
export async function doctorCommand(context: Context): Promise<number> {
  if (context.flags.online === true && context.flags.offline === true)
    throw new PaiError("usage", "--online and --offline exclude each other");
  const findings = await examineAll(context);
  const errors = findings.filter(({ level }) => level === "error").length;
  const code = errors === 0 ? 0 : 1;
  const verdict = errors === 0 ? "pai can work here" : `pai cannot work here: ${counted(errors, "error")}`;
  const error = errors === 0 ? null : toFailure(new PaiError("failed", verdict));
  const isJson = context.flags.json === true;
  context.out(
    isJson
      ? renderCommandDocument({ command: "doctor", code, data: { findings }, notices: context.notices.take(), error })
      : `${renderFindings(findings, Math.min(columnsOfResults(context) ?? 80, 80))}\n\n${verdict}\n`,
  );
  return code;
}

async function examineAll(context: Context): Promise<readonly Finding[]> {
  const patient: Patient = { context, root: findRoot(context), places: openPlaces(context.env) };
  try {
    const loaded = loadAll(patient);
    const findings = [...examine(patient, loaded), await examineSandbox(patient, loaded)];
    if (context.flags.offline === true) return findings;
    const online = context.flags.online === true ? examineOnline(patient, loaded) : [];
    const [endpoint, servers, store, answers] = await Promise.all([
      examineEndpoint(patient, loaded),
      findLocalServers(context),
      loaded.settings.storeUrl === null ? [] : (await openLab()).examineStore(patient, loaded),
      online,
    ]);
    context.signal.throwIfAborted();
    return [
      ...findings,
      ...endpoint,
      ...servers.map((server) => fine("local server", renderServer(server))),
      ...store,
      ...answers,
    ];
  } catch (thrown) {
    context.signal.throwIfAborted();
    return [failed("settings", thrown)];
  }
}

const marks: Readonly<Record<Finding["level"], string>> = { ok: "ok", warning: "!", error: "x" };

function renderFindings(findings: readonly Finding[], columns: number): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.flatMap(({ name, level, text, hint }) => [
    ...hang(`${marks[level].padEnd(2)}  ${name.padEnd(width)}  `, text, columns),
    ...(hint === null ? [] : hang(" ".repeat(width + 6), hint, columns)),
  ]);
  return lines.map((line) => visible(maskSecrets(line))).join("\n");
}

/** The sandbox level that works here, found by trying; why no stronger one does, and what would help. */
async function examineSandbox({ root, places, context }: Patient, loaded: LoadedSettings): Promise<Finding> {
  try {
    const { settings } = loaded;
    // Copies lie in the state folder, which the first run makes.
    const folder = places.stateDir === null ? null : nearestThere(places.stateDir);
    const opened = openRoot(root, { force: context.flags.forceRoot === true, home: places.home });
    const own = [places.configDir, places.stateDir].filter((folder) => folder !== null);
    const sandbox = openSandbox({
      settings: composeSandbox(context, settings),
      workspace: opened.path,
      workspaceFd: opened.lent.fd,
      rules: settings.policy,
      home: places.home,
      own,
      stateFolder: folder !== null && mayUse(folder, constants.W_OK) ? folder : null,
    });
    const { level, choice, text: brief, details, why, proposes } = await sandbox.state();
    opened.close();
    const text = details === undefined ? brief : `${brief} (${details})`;
    if (choice === "off") return fine("sandbox", text);
    const copies = proposes ? "; what commands change comes back as a proposal" : "";
    if (holdsUnasked(level, choice) && isEnough(level, choice)) {
      return fine("sandbox", text + copies, why);
    }
    return warning("sandbox", `${text}: commands of a model do not run without a terminal`, why);
  } catch (thrown) {
    return failed(toPaiError(thrown).code === "root_refused" ? "project" : "sandbox", thrown, "warning");
  }
}
