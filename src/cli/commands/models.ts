/** `pai models`: lists providers, their keys, known models with context windows and prices. */
import { PaiError, toPaiError } from "../../core/error.ts";
import type { KeptList, ListedModel } from "../../core/listed-model.ts";
import { findAnyProvider, type Provider, providerIds, providers } from "../../core/providers.ts";
import type { Rate } from "../../core/spending/cost.ts";
import { findModel, knownModels, nextPrice, priceOn } from "../../models/catalogue.ts";
import { requireOwnAddresses } from "../../store/base-url.ts";
import { findKeys } from "../../store/keys.ts";
import { counted, renderDuration, roundTokens } from "../../ui/amount.ts";
import { hang } from "../../ui/layout.ts";
import { showResult } from "../answer-document.ts";
import { chooseProvider } from "../choose-word.ts";
import { columnsOfResults } from "../columns.ts";
import type { Context } from "../command.ts";
import { type Base, composeBase } from "../compose/base.ts";
import { describeChosen, factsOfModel, priceOf } from "../compose/model-facts.ts";
import { findServerModels } from "../compose/server-models.ts";
import { pickModel } from "../onboard/pick-model.ts";
import { openLog } from "../open-log.ts";

/** Providers with their keys; the known models that they serve today, and those of the settings, with current prices. */
function findRows(context: Context) {
  const base = composeBase(context);
  const { places, settings } = base;
  const day = context.now().toISOString().slice(0, 10);
  const sources = [...providerIds, ...settings.providers.map(({ id }) => id)];
  return sources.map((provider) => {
    const row = findAnyProvider(provider, settings.providers);
    const keyed = row?.needsKey ?? false;
    const keys = keyed && row !== null ? findKeys(row, { env: context.env, places }).map(({ id }) => id) : [];
    const served = knownModels().filter((model) => model.provider === provider && (model.ends ?? "9") > day);
    // What everybody gets comes first.
    const inOrder = served.toSorted((a, b) => Number(a.closed !== undefined) - Number(b.closed !== undefined));
    const known = new Map(inOrder.map((model) => [model.name, model]));
    const stated = Object.keys(settings.models).flatMap((id) => (id.startsWith(`${provider}:`) ? [id] : []));
    const names = new Set([...known.keys(), ...stated.map((id) => id.slice(provider.length + 1))]);
    const models = [...names].map((name) => {
      const id = `${provider}:${name}`;
      const model = known.get(name);
      const { window, maxOutputTokens } = describeChosen(id, base);
      return {
        name,
        window,
        max_output: maxOutputTokens,
        ends: model?.ends ?? null,
        closed: model?.closed ?? null,
        price: priceOf(id, base, context.now()),
        next_price: model === undefined || factsOfModel(id, base).prices !== undefined ? null : nextPrice(day, model),
      };
    });
    const own = settings.providers.find(({ id }) => id === provider) ?? null;
    const byCommand = own?.keyCommand != null;
    const place = own === null ? null : { wire: own.wire, url: own.url };
    return { provider, needs_key: keyed || byCommand, keys: byCommand ? ["by command"] : keys, own: place, models };
  });
}

type Row = ReturnType<typeof findRows>[number];

const heading = "USD per million tokens";

/** Columns for a window and three prices. */
const ratesWidth = 31;

/** Columns for a name; a longer one has a line of its own, so that all prices stand below each other. */
const nameWidthIn = (columns: number | null, mark: number): number =>
  Math.max(0, Math.min(24, (columns ?? 80) - mark - ratesWidth));

/** Fewer columns than these hold no note. */
const noteWidth = 16;

/** Places the notes behind the row, or below it where the line has no room for them. */
function placeNotes(row: string, notes: string, { columns, indent }: { columns: number | null; indent: number }) {
  const isBelow = notes !== "" && columns !== null && columns - Bun.stringWidth(row) - 2 < noteWidth;
  if (!isBelow) return hang(`${row}  `, notes, columns).map((line) => line.trimEnd());
  return [row, ...hang(" ".repeat(indent), notes, columns)];
}

/** `lead`: the mark and the name, padded. */
const alignRow = (lead: string, window: string, ...rates: readonly string[]) =>
  `${lead}${window.padStart(7)}${rates.map((rate) => rate.padStart(8)).join("")}`;

type Model = Row["models"][number];

const ratesOf = ({ price }: Pick<Model, "price">, unknown: readonly string[]): readonly string[] =>
  price === null ? unknown : [price.input, price.cached, price.output].map(String);

function notesOf({ price, ends, closed }: Pick<Model, "price" | "ends" | "closed">, next: Model["next_price"]): string {
  const rates = ({ input, output }: Rate) => `${input} / ${output}`;
  const large = price?.large ?? null;
  return [
    ...(large === null ? [] : [`above ${roundTokens(large.above)}: ${rates(large)}`]),
    ...(next === null ? [] : [`from ${next.from}: ${rates(next)}`]),
    ...(ends === null ? [] : [`ends ${ends}`]),
    ...(closed === null ? [] : [closed]),
  ].join("; ");
}

/** `number`: the model's number for /model; null: none. */
function renderModel(model: Model, number: number | null, columns: number | null): string {
  const { name, window } = model;
  const mark = marked(number);
  const nameWidth = nameWidthIn(columns, mark.length);
  const isLong = name.length > nameWidth;
  const lead = isLong ? " ".repeat(mark.length + nameWidth) : mark + name.padEnd(nameWidth);
  const aligned = alignRow(lead, roundTokens(window), ...ratesOf(model, ["unknown"]));
  const row = placeNotes(aligned, notesOf(model, model.next_price), { columns, indent: mark.length + 2 });
  return [...(isLong ? [`${mark}${name}`] : []), ...row].map((line) => `${line}\n`).join("");
}

const marked = (number: number | null) => (number === null ? "  " : `${String(number).padStart(3)}  `);

/** `first`: number of the provider's first model; null: it has no models. */
function renderProvider(
  { provider, needs_key, keys, own, models }: Row,
  first: number | null,
  columns: number | null,
): string {
  const key = !needs_key ? "no key needed" : keys.length === 0 ? "no key" : `keys: ${keys.join(", ")}`;
  const lines = models.map((model, at) => renderModel(model, first === null ? null : first + at, columns));
  const where = own === null ? "" : `, ${own.wire} at ${own.url}`;
  return `${provider} (${key})${where}\n${lines.join("")}`;
}

const isUsable = ({ keys, models }: Row, inUse: string) =>
  models.length > 0 && (keys.length > 0 || models.some(({ name }) => inUse.includes(name)));

/** The model with this number in the list of usable ones. Throws usage for an unknown number. */
export function numberedModel(context: Context, inUse: string, number: number): string {
  const ids = findRows(context)
    .filter((row) => isUsable(row, inUse))
    .flatMap(({ provider, models }) => models.map(({ name }) => `${provider}:${name}`));
  const id = ids[number - 1];
  if (id !== undefined) return id;
  throw new PaiError("usage", `no model ${number} in the list`, { hint: "/model shows it" });
}

/** The list as text. `usable`: with numbers, and without providers that lack a key. */
export function renderModels(context: Context, inUse: string, which: "all" | "usable"): string {
  const isListed = (row: Row) => (which === "all" ? row.models.length > 0 : isUsable(row, inUse));
  const rows = findRows(context);
  const columns = columnsOfResults(context);
  const mark = marked(which === "usable" ? 1 : null).length;
  const width = mark + nameWidthIn(columns, mark);
  const title = width < heading.length ? " ".repeat(width) : heading.padEnd(width);
  const head = rows.some(isListed) ? `${alignRow(title, "window", "in", "cached", "out")}\n` : "";
  let next = 1;
  const blocks = rows.map((row) => {
    const models = isListed(row) ? row.models : [];
    next += models.length;
    return renderProvider({ ...row, models }, which === "usable" ? next - models.length : null, columns);
  });
  return `${head}${blocks.join("")}in use: ${inUse}\n`;
}

export async function modelsCommand(context: Context): Promise<number> {
  const [word] = context.words;
  const { base } = pickModel(context, composeBase(context));
  const { settings } = base;
  if (context.flags.online === true || word !== undefined) {
    return listOnline(context, base, word);
  }
  return showResult(
    context,
    "models",
    { model: settings.model, providers: findRows(context) },
    renderModels(context, settings.model, "all"),
  );
}

/** A row of a list, with what the catalogue knows where the server does not tell. */
function completeRow(provider: string, { name, window, output, price, ends }: ListedModel, now: Date) {
  const known = findModel(provider, name);
  return {
    name,
    window: window ?? known?.window ?? null,
    max_output: output ?? known?.maxOutputTokens ?? null,
    price: price ?? (known === null ? null : priceOn(now.toISOString().slice(0, 10), known)),
    ends: ends ?? known?.ends ?? null,
    closed: known?.closed ?? null,
  };
}

const describeList = ({ provider, address, at, models, omitted }: KeptList, now: Date) => ({
  provider,
  address,
  asked_at: new Date(at).toISOString(),
  models: models.map((model) => completeRow(provider, model, now)),
  omitted,
});

type Described = ReturnType<typeof describeList>;

const maxWidth = 44;

function renderList({ provider, address, asked_at, models, omitted }: Described, now: Date, columns: number | null) {
  const width = Math.min(maxWidth, Math.max(...models.map(({ name }) => name.length), heading.length));
  const age = now.getTime() - Date.parse(asked_at);
  const when = age < 60_000 ? "" : `, asked ${renderDuration(age)} ago`;
  const size = (tokens: number | null) => (tokens === null ? "?" : roundTokens(tokens));
  const rows = models.map((model) => {
    const lead = `  ${model.name.padEnd(width)}${size(model.window).padStart(7)}`;
    const row = alignRow(lead, size(model.max_output), ...ratesOf(model, ["?", "?", "?"]));
    return placeNotes(row, notesOf(model, null), { columns, indent: 4 }).map((line) => `${line}\n`);
  });
  const head = `  ${heading.padEnd(width)} window output      in  cached     out\n`;
  const rest = omitted.length === 0 ? "" : `  left out: ${omitted.join(", ")}\n`;
  return [
    `${provider} (${address}${when}), ${counted(models.length, "model")}\n`,
    ...(rows.length === 0 ? [] : [head]),
    ...rows.flat(),
    rest,
  ].join("");
}

/**
 * Lists the models of one provider's server, asked anew, or of all providers with a key or without need of one, asked at
 * most once a day. Throws usage for an unknown provider or without --online, no_key when there is nobody to ask, and the
 * first failure when there is no list at all.
 */
async function listOnline(context: Context, base: Base, word: string | undefined): Promise<number> {
  const { places, settings } = base;
  const named = word === undefined ? null : chooseProvider(word, settings.providers);
  if (named !== null && context.flags.online !== true)
    throw new PaiError("usage", "a list of one provider comes from its server", {
      hint: `pai models --online ${named.id}`,
    });
  const isKeyed = (row: Provider) => findKeys(row, { env: context.env, places }).length > 0;
  const asked = named === null ? [...providers.filter(isKeyed), ...settings.providers] : [named];
  requireOwnAddresses(asked, context.env);
  // A server of this machine may be there or not, and PAI_BASE_URL is the address of another.
  const isMoved = (context.env["PAI_BASE_URL"] ?? "").trim() !== "";
  const free = named === null && !isMoved ? providers.filter((row) => !row.needsKey && !isKeyed(row)) : [];
  const options = { fresh: named !== null };
  const ask = (rows: readonly Provider[]) =>
    Promise.all(rows.map((row) => findServerModels(row, { ...base, context, places }, options).catch(toPaiError)));
  const [answers, tried] = await Promise.all([ask(asked), ask(free)]);
  context.signal.throwIfAborted();
  const failures = answers.filter((answer) => answer instanceof PaiError);
  const lists = [...answers, ...tried].flatMap((answer) => (answer instanceof PaiError ? [] : [answer]));
  if (asked.length + lists.length === 0) {
    throw new PaiError("no_key", "no provider has a key", {
      hint: "store one with: pai key set, or name a provider that needs none: pai models --online openrouter|local",
    });
  }
  const [failure] = failures;
  if (failure !== undefined && lists.length === 0) throw failure;
  for (const { code, message } of failures) openLog(context).notify({ level: "warning", code, text: message });
  const now = context.now();
  const described = lists.map((list) => describeList(list, now));
  const columns = columnsOfResults(context);
  const text = described.map((list) => renderList(list, now, columns)).join("\n");
  return showResult(context, "models", { model: base.settings.model, providers: described }, text);
}
