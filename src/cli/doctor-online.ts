/** `pai doctor --online`: whether the models in use answer. Asks for the list of their server, which is free, and for one plan. */
import { PaiError, toPaiError } from "../core/error.ts";
import { readJson } from "../core/json.ts";
import { type Model, type ModelRequest, noUsage } from "../core/model.ts";
import type { Provider } from "../core/providers.ts";
import type { Notice } from "../core/question.ts";
import { costOf } from "../core/spending/cost.ts";
import { singleShotPlan } from "../flows/planning.ts";
import { findModel } from "../models/catalogue.ts";
import { providerOfModel } from "../models/open.ts";
import type { LoadedSettings } from "../store/settings.ts";
import { counted, priced, renderDuration } from "../ui/amount.ts";
import type { Base } from "./compose/base.ts";
import { composeModel, listModels } from "./compose/compose-model.ts";
import { findServerModels } from "./compose/server-models.ts";
import { type Finding, failed, fine, type Patient, warning } from "./finding.ts";

const task = "This is a test of the connection. Say hello: intent conversation, reply hello.";

export async function examineOnline(
  { context, places, root }: Patient,
  loaded: LoadedSettings,
): Promise<readonly Finding[]> {
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
