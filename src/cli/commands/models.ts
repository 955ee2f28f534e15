/** `pai models`: lists providers, their keys, known models with context windows and prices. */
import { PaiError, toPaiError } from "../../core/error.ts";
import type { KeptList } from "../../core/listed-model.ts";
import { type Provider, providers } from "../../core/providers.ts";
import type { Price, Rate } from "../../core/spending/cost.ts";
import { findModel, knownModels, nextPrice, priceOn } from "../../models/catalogue.ts";
import { requireOwnAddresses } from "../../store/base-url.ts";
import { findKeys } from "../../store/keys.ts";
import { counted, renderDuration, roundTokens } from "../../ui/amount.ts";
import { hang } from "../../ui/layout.ts";
import { columnsOfResults, openLog, showResult } from "../answer-document.ts";
import { chooseProvider } from "../choose-word.ts";
import type { Context } from "../command.ts";
import { type Base, composeBase } from "../compose/base.ts";
import { describeChosen, factsOfModel, findServerModels, priceOf } from "../compose/model-facts.ts";
import { pickModel } from "../onboard/pick-model.ts";

/** A model as it is listed; null: unknown, or there is nothing to say. Prices in USD per million tokens. */
interface ModelRow {
  readonly name: string;
  readonly window: number | null;
  readonly max_output: number | null;
  readonly ends: string | null;
  readonly closed: string | null;
  readonly price: Price | null;
  readonly next_price: ReturnType<typeof nextPrice>;
}

/** Providers with their keys; the known models that they serve today, and those of the settings, with current prices. */
function findRows(context: Context) {
  const base = composeBase(context);
  const { places, settings } = base;
  const day = context.now().toISOString().slice(0, 10);
  return [...providers, ...settings.providers].map((row) => {
    const { id: provider, needsKey } = row;
    const own = settings.providers.find(({ id }) => id === provider) ?? null;
    const served = knownModels.filter((model) => model.provider === provider && (model.ends ?? "9") > day);
    // What everybody gets comes first.
    const inOrder = served.toSorted((a, b) => Number(a.closed !== undefined) - Number(b.closed !== undefined));
    const stated = Object.keys(settings.models).filter((id) => id.startsWith(`${provider}:`));
    const names = new Set([...inOrder.map(({ name }) => name), ...stated.map((id) => id.slice(provider.length + 1))]);
    const models = [...names].map((name): ModelRow => {
      const id = `${provider}:${name}`;
      const known = findModel(provider, name);
      const { window, maxOutputTokens } = describeChosen(id, base);
      return {
        name,
        window,
        max_output: maxOutputTokens,
        ends: known?.ends ?? null,
        closed: known?.closed ?? null,
        price: priceOf(id, base, context.now()),
        next_price: known === null || factsOfModel(id, base).prices !== undefined ? null : nextPrice(day, known),
      };
    });
    const byCommand = own?.keyCommand != null;
    const keys = needsKey ? findKeys(row, { env: context.env, places }).map(({ id }) => id) : [];
    const place = own === null ? null : { wire: own.wire, url: own.url };
    return {
      ...{ provider, needs_key: needsKey || byCommand, keys: byCommand ? ["by command"] : keys },
      ...{ own: place, models },
    };
  });
}

type Row = ReturnType<typeof findRows>[number];

const heading = "USD per million tokens";
const figuresWidth = 37;
const noteWidth = 14;

const alignFigures = (figures: readonly string[]): string =>
  figures.map((each, at) => each.padStart([6, 7][at] ?? 8)).join("");

/** Columns for the mark and the name; a longer name has a line of its own, so that all prices stand below each other. */
const leadWidth = (columns: number | null, mark: number): number =>
  Math.max(0, Math.min(mark + heading.length, (columns ?? 80) - figuresWidth));

function notesOf({ price, next_price: next, ends, closed }: ModelRow): string {
  const rates = ({ input, output }: Rate) => `${input} / ${output}`;
  const large = price?.large ?? null;
  return [
    ...(large === null ? [] : [`above ${roundTokens(large.above)}: ${rates(large)}`]),
    ...(next === null ? [] : [`from ${next.from}: ${rates(next)}`]),
    ...(ends === null ? [] : [`ends ${ends}`]),
    ...(closed === null ? [] : [closed]),
  ].join("; ");
}

function renderModel(model: ModelRow, mark: string, columns: number | null): readonly string[] {
  const { name, window, max_output: output, price } = model;
  const lead = mark + name;
  const width = leadWidth(columns, mark.length);
  const isLong = lead.length > width;
  const sizes = [window, output].map((size) => (size === null ? "?" : roundTokens(size)));
  const rates = [price?.input, price?.cached, price?.output].map((rate) => String(rate ?? "?"));
  const row = (isLong ? "" : lead).padEnd(width) + alignFigures([...sizes, ...rates]);
  const notes = notesOf(model);
  const isBelow = notes !== "" && columns !== null && columns - row.length - 2 < noteWidth;
  const placed = isBelow
    ? [row, ...hang(" ".repeat(mark.length + 2), notes, columns)]
    : hang(`${row}  `, notes, columns);
  return [...(isLong ? [lead] : []), ...placed.map((line) => line.trimEnd())];
}

interface Block {
  readonly title: string;
  readonly models: readonly ModelRow[];
}

/** Models below the titles of their providers, with one heading; `isNumbered`: with their numbers for /model. */
function renderBlocks(blocks: readonly Block[], isNumbered: boolean, columns: number | null): string {
  const markOf = (number: number) => (isNumbered ? `${String(number).padStart(3)}  ` : "  ");
  let number = 0;
  const lines = blocks.flatMap(({ title, models }) => [
    title,
    ...models.flatMap((model) => {
      number += 1;
      return renderModel(model, markOf(number), columns);
    }),
  ]);
  const width = leadWidth(columns, markOf(1).length);
  const lead = (width < heading.length ? "" : heading).padEnd(width);
  const head = lead + alignFigures(["window", "output", "in", "cached", "out"]);
  return [...(number === 0 ? [] : [head]), ...lines].map((line) => `${line}\n`).join("");
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

/** The list as text. `usable`: with numbers, and without models of providers that lack a key. */
export function renderModels(context: Context, inUse: string, which: "all" | "usable"): string {
  const blocks = findRows(context).map((row): Block => {
    const { provider, needs_key, keys, own, models } = row;
    const key = !needs_key ? "no key needed" : keys.length === 0 ? "no key" : `keys: ${keys.join(", ")}`;
    const where = own === null ? "" : `, ${own.wire} at ${own.url}`;
    return { title: `${provider} (${key})${where}`, models: which === "all" || isUsable(row, inUse) ? models : [] };
  });
  return `${renderBlocks(blocks, which === "usable", columnsOfResults(context))}in use: ${inUse}\n`;
}

export async function modelsCommand(context: Context): Promise<number> {
  const [word] = context.words;
  const { base } = pickModel(context, composeBase(context));
  if (context.flags.online === true || word !== undefined) return listOnline(context, base, word);
  const { model } = base.settings;
  const data = { model, providers: findRows(context) };
  return showResult(context, "models", data, renderModels(context, model, "all"));
}

/** A list of a server, with what the catalogue knows where the server does not tell. */
const describeList = ({ provider, address, at, models, omitted }: KeptList, now: Date) => ({
  provider,
  address,
  asked_at: new Date(at).toISOString(),
  models: models.map(({ name, window, output, price, ends }): ModelRow => {
    const known = findModel(provider, name);
    return {
      name,
      window: window ?? known?.window ?? null,
      max_output: output ?? known?.maxOutputTokens ?? null,
      price: price ?? (known === null ? null : priceOn(now.toISOString().slice(0, 10), known)),
      next_price: null,
      ends: ends ?? known?.ends ?? null,
      closed: known?.closed ?? null,
    };
  }),
  omitted,
});

function blockOfList({ provider, address, asked_at, models, omitted }: ReturnType<typeof describeList>, now: Date) {
  const age = now.getTime() - Date.parse(asked_at);
  const when = age < 60_000 ? "" : `, asked ${renderDuration(age)} ago`;
  const rest = omitted.length === 0 ? "" : `; left out: ${omitted.join(", ")}`;
  return { title: `${provider} (${address}${when}), ${counted(models.length, "model")}${rest}`, models };
}

/**
 * Lists the models of one server, asked anew, or of all that have a key or need none, asked at most once a day. Throws usage
 * without --online, no_key when there is nobody to ask, and the first failure when there is no list at all.
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
  const blocks = described.map((list) => blockOfList(list, now));
  const text = renderBlocks(blocks, false, columnsOfResults(context));
  return showResult(context, "models", { model: base.settings.model, providers: described }, text);
}
