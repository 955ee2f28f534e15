/** Opens the models of the settings, with their keys, addresses and prices, and says what to do when a server does not know one. */

import { setTimeout as wait } from "node:timers/promises";
import { PaiError, toPaiError } from "../../core/error.ts";
import type { KeyState } from "../../core/key-turns.ts";
import type { Job, Model } from "../../core/model.ts";
import type { Provider } from "../../core/providers.ts";
import type { Notice } from "../../core/question.ts";
import type { Price } from "../../core/spending/cost.ts";
import { fallBack, pairModels } from "../../models/fallback.ts";
import { openModel, parseModelId, providerOfModel } from "../../models/open.ts";
import { findSuccessor, namedSuccessor, namesOnOffer, nearNames } from "../../models/successor.ts";
import { configuredAddress, findBaseUrl, requireConsent, requireOwnAddresses } from "../../store/base-url.ts";
import { openKeyState } from "../../store/key-state.ts";
import { type FoundKey, findKeys } from "../../store/keys.ts";
import { settingTable } from "../../store/setting-table.ts";
import { projectFile } from "../../store/settings.ts";
import { version } from "../commands/version.ts";
import { openLab } from "../lab.ts";
import type { Base } from "./base.ts";
import { findKeyCommand } from "./key-command.ts";
import { factsOfModel, findKeptList, findServerModels, priceOf } from "./model-facts.ts";

export interface Face {
  readonly notify: (notice: Notice) => void;
  /** Asks for approval, for example to send a key to a new address; null: nobody can be asked. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
}

export interface ComposedModel {
  readonly model: Model;
  /** USD prices of the model in use; null: unknown. */
  readonly price: (job: Job) => Price | null;
  /** What to use instead of a default model that its server refused as unknown; null: none was refused. */
  readonly successor: () => string | null;
}

export const withModel = (base: Base, model: string): Base => ({
  ...base,
  settings: { ...base.settings, model },
  origins: { ...base.origins, model: "flag" },
});

/** Whether the user can change the model for good: nobody named it for this call, and no project did. */
const isDefault = ({ origins }: Base): boolean =>
  !["flag", settingTable.model.env, projectFile].includes(origins["model"]);

/** The models in `a,b`, in order of use, or in `plan=a,work=b`, that of plans first. Throws usage for a mixture of both. */
export function listModels(source: string): readonly [string, ...string[]] {
  const pair = readPair(source);
  if (pair !== null) return [pair.plan, pair.work];
  const [first = "", ...others] = splitModels(source);
  return [first, ...others.filter((id) => id.trim() !== "")];
}

/** A recording's name may contain a comma. */
const splitModels = (source: string): readonly string[] =>
  source.trim().startsWith("replay:") ? [source] : source.split(",");

/** The models of `plan=a,work=b`; null: no job is named. Throws usage for what is neither that nor a list. */
function readPair(source: string): Readonly<Record<Job, string>> | null {
  const parts = splitModels(source).map((part) => /^\s*(plan|work)=\s*(.*)$/s.exec(part)?.slice(1) ?? null);
  if (parts.every((part) => part === null)) return null;
  const named = parts.flatMap((part) => (part === null ? [] : [part]));
  const of = (job: Job) => named.filter(([name]) => name === job).map(([, id = ""]) => id.trim());
  const [plan = "", ...plans] = of("plan");
  const [work = "", ...works] = of("work");
  const isPair = named.length === parts.length && plans.length + works.length === 0;
  if (isPair && plan !== "" && work !== "") return { plan, work };
  const why = "must name one model for plan and one for work, or stand-ins alone";
  throw new PaiError("usage", `the model ${JSON.stringify(source)} ${why}`, {
    hint: "two models are written plan=MODEL,work=MODEL, a list of stand-ins a,b",
  });
}

/** The models with their providers, as `a:b,c:d`. Throws model_unknown when a provider is unclear. */
export function spellModels({ model, providers }: Pick<Base["settings"], "model" | "providers">): string {
  const spelled = listModels(model)
    .map((id) => parseModelId(id, providers))
    .map(({ provider, name }) => `${provider}:${name}`);
  return readPair(model) === null ? spelled.join(",") : `plan=${spelled[0]},work=${spelled[1]}`;
}

/** Opens the models of the settings; `learn` gets every key. Throws usage for a cap on cost without a price. */
export async function composeModel(
  base: Base,
  face: Face,
  learn: (key: string) => void = () => {},
): Promise<ComposedModel> {
  const { context } = base;
  const ids = listModels(base.settings.model);
  const rows = ids.flatMap((id) => providerOfModel(id, base.settings.providers) ?? []);
  requireOwnAddresses(rows, context.env);
  requirePrices(ids, base);
  const opened = await Promise.all(ids.map((id) => openOne(id, base, face, learn)));
  const advised = opened.map((model) => adviseUnknown(model, base, { isDefault: ids.length === 1 && isDefault(base) }));
  const successor = () => advised.map((each) => each.successor()).find((each) => each !== null) ?? null;
  const [first, ...others] = advised.map(({ model }) => model);
  if (first === undefined) throw new PaiError("usage", "no model was named");
  const priced = ({ id }: Model) => priceOf(id, base, context.now());
  if (others.length === 0) return { model: first, price: () => priced(first), successor };
  const [work] = others;
  if (readPair(base.settings.model) !== null && work !== undefined)
    return { model: pairModels(first, work), price: (job) => priced(job === "plan" ? first : work), successor };
  const { model, current } = fallBack(first, others, face.notify);
  return { model, price: () => priced(current()), successor };
}

async function openOne(id: string, base: Base, { notify, confirm }: Face, learn: (key: string) => void) {
  const { context, settings, places } = base;
  const provider = providerOfModel(id, settings.providers);
  const common = {
    id,
    own: settings.providers,
    agent: `pai/${version}`,
    insecureHttp: settings.insecureHttp,
    limits: factsOfModel(id, base),
    folder: context.cwd,
    notify,
    now: () => context.now().getTime(),
    sleep: (ms: number, signal: AbortSignal) => wait(ms, undefined, { signal }),
    random: Math.random,
    maxWaitMs: (settings.limits.timeout ?? Number.POSITIVE_INFINITY) * 1000,
    ...(settings.limits.silence === null ? {} : { idleMs: settings.limits.silence * 1000 }),
    proxyEnv: context.env,
    signal: context.signal,
  };
  const own = openKeyState(context.flags.ephemeral === true ? null : places.stateDir);
  if (provider === null) return openModel({ ...common, keyState: own, keys: [], baseUrl: null });
  const address = findBaseUrl(provider, context.env, configuredAddress(provider, base));
  const renew = findKeyCommand(provider, base, learn);
  if (renew !== null) {
    const key = await renew(context.signal, null);
    return openModel({ ...common, keyState: own, keys: [key], renew, baseUrl: address.url });
  }
  const found = findKeys(provider, { env: context.env, places });
  const keys = found.map(({ key }) => key);
  keys.forEach(learn);
  await requireConsent(address, keys, { places, ask: confirm });
  const keyState = await shareRests(own, { provider, found, base });
  return openModel({ ...common, keyState, keys: found, baseUrl: address.url });
}

/** Shares rests with the team, but not of a single key, which never rests. */
async function shareRests(
  own: KeyState,
  { provider, found, base }: { readonly provider: Provider; readonly found: readonly FoundKey[]; readonly base: Base },
): Promise<KeyState> {
  const { storeUrl } = base.settings;
  if (storeUrl === null || found.length < 2) return own;
  const { shareKeyState, readAddress } = await openLab();
  const now = () => base.context.now().getTime();
  return shareKeyState(own, { address: readAddress(storeUrl), provider: provider.id, keys: found, now });
}

function requirePrices(ids: readonly string[], base: Base): void {
  const { cost, day } = base.settings.limits;
  const [name] = [...(cost === null ? [] : ["--max-cost"]), ...(day.cost === null ? [] : ["limits.day.cost"])];
  const unknown = name === undefined ? undefined : ids.find((id) => priceOf(id, base, base.context.now()) === null);
  if (unknown === undefined) return;
  const instead = cost === null ? "cap tokens or calls instead" : "use --max-tokens or --max-calls";
  const provider = providerOfModel(unknown, base.settings.providers);
  const ask = provider?.listsPrices === true ? `, ask for it: pai models --online ${provider.id}` : "";
  throw new PaiError("usage", `${name} needs a known price, and ${unknown} has none`, {
    hint: `${instead}${ask}, or say it: pai config set models.${unknown} '{"prices": {"input": USD, "output": USD}}' (per million tokens)`,
  });
}

/** The model, whose refusal as unknown says what to do. Of a default model, which ends one day, its server is asked. */
export function adviseUnknown(model: Model, base: Base, { isDefault }: { readonly isDefault: boolean }) {
  /** What to use instead of a default model that its server refused, as `provider:name`; null: it did not. */
  let successor: string | null = null;
  const row = providerOfModel(model.id, base.settings.providers);
  const advise = async (error: PaiError, signal: AbortSignal): Promise<PaiError> => {
    if (row === null) return error;
    const { provider, name } = model;
    const day = base.context.now().toISOString().slice(0, 10);
    const listed = (isDefault ? await askList(row, base, signal) : null) ?? findKeptList(row, base);
    const next = findSuccessor({ provider, name, said: error.message }, listed, day);
    const near = nearNames(name, namesOnOffer(provider, listed, day));
    const all = `all of them: pai models --online ${provider}`;
    // What the catalogue alone knows is a guess.
    const isTold = listed !== null || namedSuccessor(error.message) === next;
    if (next !== null && isDefault && isTold) {
      successor = `${provider}:${next}`;
      return withHint(error, `use its successor: pai config set model ${successor}`);
    }
    const names = [...new Set([...(next === null ? [] : [next]), ...near])].filter((each) => each !== name).slice(0, 3);
    const [last, ...others] = names.map((each) => `${provider}:${each}`).toReversed();
    if (last === undefined) return withHint(error, `choose another one with --model or PAI_MODEL; ${all}`);
    const listing = others.length === 0 ? last : `${others.toReversed().join(", ")} or ${last}`;
    return withHint(error, `did you mean ${listing}? ${all}`);
  };
  const stream: Model["stream"] = async function* (request, signal, refit) {
    try {
      yield* model.stream(request, signal, refit);
    } catch (thrown) {
      const error = toPaiError(thrown);
      throw error.code === "model_unknown" ? await advise(error, signal) : thrown;
    }
  };
  return { model: { ...model, stream }, successor: () => successor };
}

/** The error with this hint before what else its own one says to do: "…, or turn on billing …". */
function withHint({ code, message, cause, hint: own }: PaiError, hint: string): PaiError {
  const other = /, (or .+)$/.exec(own ?? "")?.[1];
  return new PaiError(code, message, { hint: other === undefined ? hint : `${hint}, ${other}`, cause });
}

async function askList(row: Provider, base: Base, signal: AbortSignal) {
  const asking = { ...base, context: { ...base.context, signal } };
  const list = await findServerModels(row, asking, { fresh: true }).catch(() => null);
  signal.throwIfAborted();
  return list?.models ?? null;
}
