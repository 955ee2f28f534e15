/** `pai doctor`: checks whether pai can work here, and shows its settings with their origin; with --online, whether the models in use answer. */

import { constants } from "node:fs";
import { holdsUnasked, isEnough } from "../../core/command/sandbox.ts";
import { PaiError, toFailure, toPaiError } from "../../core/error.ts";
import { readJson } from "../../core/json.ts";
import { type Model, type ModelRequest, noUsage } from "../../core/model.ts";
import type { Provider } from "../../core/providers.ts";
import type { Notice } from "../../core/question.ts";
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import { costOf } from "../../core/spending/cost.ts";
import { singleShotPlan } from "../../flows/planning.ts";
import { findModel } from "../../models/catalogue.ts";
import { renderServer } from "../../models/local/discover.ts";
import { providerOfModel } from "../../models/open.ts";
import { openPlaces } from "../../store/places.ts";
import type { LoadedSettings } from "../../store/settings.ts";
import { mayUse, nearestThere } from "../../system/lookups.ts";
import { counted, priced, renderDuration } from "../../ui/amount.ts";
import { renderCommandDocument } from "../../ui/command-document.ts";
import { hang } from "../../ui/layout.ts";
import { visible } from "../../ui/sanitize.ts";
import { openRoot } from "../../workspace/confine.ts";
import { openSandbox } from "../../workspace/sandbox/open-sandbox.ts";
import { columnsOfResults } from "../answer-document.ts";
import type { Context } from "../command.ts";
import { type Base, findRoot } from "../compose/base.ts";
import { composeModel, listModels } from "../compose/compose-model.ts";
import { findServerModels } from "../compose/model-facts.ts";
import { composeSandbox } from "../compose/options.ts";
import { examine, examineEndpoint, loadAll } from "../doctor-checks.ts";
import { type Finding, failed, fine, type Patient, warning } from "../finding.ts";
import { openLab } from "../lab.ts";
import { findLocalServers } from "../onboard/choose-model.ts";

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
    const local = servers.map((server) => fine("local server", renderServer(server)));
    return [...findings, ...endpoint, ...local, ...store, ...answers];
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
    if (holdsUnasked(level, choice) && isEnough(level, choice)) return fine("sandbox", text + copies, why);
    return warning("sandbox", `${text}: commands of a model do not run without a terminal`, why);
  } catch (thrown) {
    return failed(toPaiError(thrown).code === "root_refused" ? "project" : "sandbox", thrown, "warning");
  }
}

const task = "This is a test of the connection. Say hello: intent conversation, reply hello.";

export async function examineOnline({ context, places, root }: Patient, loaded: LoadedSettings) {
  const findings: Finding[] = [];
  for (const id of listModels(loaded.settings.model)) {
    const settings = { ...loaded.settings, model: id };
    findings.push(...(await examineModel({ ...loaded, settings, context, places, root })));
    context.signal.throwIfAborted();
  }
  return findings;
}

async function examineModel(base: Base): Promise<readonly Finding[]> {
  const id = base.settings.model;
  const row = providerOfModel(id, base.settings.providers);
  if (row === null) return [];
  const findings: Finding[] = [];
  const notify = ({ level, text }: Notice) => level === "warning" && findings.push(warning("answer", text));
  try {
    const { model, price } = await composeModel(base, { notify, confirm: null });
    findings.push(...(await examineList(model, row, base)));
    const { usage, ms, fault } = await askForPlan(model, base);
    const rates = price("plan");
    const cost = priced(rates === null ? null : costOf(usage, rates));
    const spent = `${renderDuration(ms)}, ${counted(usage.input + usage.output, "token")}, ${cost}`;
    if (fault === null) findings.push(fine("answer", `${id} made a plan (${spent})`));
    else findings.push(warning("answer", `${id} answers, but with no plan at first (${spent}): ${fault}`));
  } catch (thrown) {
    findings.push(failed("answer", thrown));
  }
  return findings;
}

/** What the server's list and the catalogue say of the model; a list that cannot be had is no fault of the model. */
async function examineList({ provider, name }: Model, row: Provider, base: Base): Promise<readonly Finding[]> {
  const doubt = (text: string) => warning("model list", text, `pai models --online ${provider}`);
  try {
    const { models, omitted } = await findServerModels(row, base, { fresh: true });
    const found = models.find((each) => each.name === name);
    const known = findModel(provider, name);
    const ends = found?.ends ?? known?.ends ?? null;
    const faults = [
      ...(found === undefined && omitted.length === 0 ? [`${provider} does not list ${name}`] : []),
      ...(ends === null ? [] : [`${name} ends ${ends}`]),
      ...(known?.closed === undefined ? [] : [`${name} is ${known.closed}`]),
    ];
    if (faults.length > 0) return faults.map(doubt);
    return [fine("model list", `${counted(models.length, "model")} of ${provider}, with ${name}`)];
  } catch (thrown) {
    base.context.signal.throwIfAborted();
    return [doubt(toPaiError(thrown).message)];
  }
}

/** Asks for one plan, as a task does; `fault`: why the reply is none. Throws reply_cut for a reply that ended early. */
async function askForPlan(model: Model, { context }: Base) {
  const request: ModelRequest = {
    purpose: "plan",
    system: singleShotPlan.system(false),
    messages: [{ role: "user", text: task }],
    tools: [],
    toolChoice: "none",
    format: singleShotPlan.format,
    maxOutputTokens: model.maxOutputTokens,
    isCapped: false,
    temperature: null,
  };
  const started = performance.now();
  let [text, usage] = ["", noUsage];
  for await (const event of model.stream(request, context.signal)) {
    if (event.type === "text") text += event.text;
    if (event.type !== "done") continue;
    usage = event.usage;
    if (event.stop !== "end") throw new PaiError("reply_cut", `${model.id} ended its reply early (${event.stop})`);
  }
  const json = readJson(text);
  const plan = json.ok ? singleShotPlan.readValue(json.value) : json;
  return { usage, ms: performance.now() - started, fault: plan.ok ? null : plan.why };
}
