/** `pai models`: lists providers, their keys, known models with context windows and prices. */

import { PaiError } from "../../core/error.ts";
import { findAnyProvider } from "../../core/providers.ts";
import { knownModels, nextPrice } from "../../models/catalogue.ts";
import { modelSources } from "../../models/open.ts";
import { findKeys } from "../../store/keys.ts";
import { inThousands } from "../../ui/amount.ts";
import { hang } from "../../ui/layout.ts";
import { showResult } from "../answer-document.ts";
import { columnsOf } from "../columns.ts";
import type { Context } from "../command.ts";
import { composeBase } from "../compose/base.ts";
import { describeChosen, factsOfModel, priceOf } from "../compose/model-facts.ts";
import { pickModel } from "../onboard/pick-model.ts";
import { listOnline } from "./models-online.ts";

/** Providers with their keys; the known models that they serve today, and those of the settings, with current prices. */
function findRows(context: Context) {
  const base = composeBase(context);
  const { places, settings } = base;
  const day = context.now().toISOString().slice(0, 10);
  const sources = [...modelSources, ...settings.providers.map(({ id }) => id)];
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

/** Columns for a name; a longer one has a line of its own, so that all prices stand below each other. */
const nameWidth = 24;

/** `lead`: the mark and the name, padded. */
const alignRow = (lead: string, window: string, ...rates: readonly string[]) =>
  `${lead}${window.padStart(7)}${rates.map((rate) => rate.padStart(8)).join("")}`;

/** `number`: the model's number for /model; null: none. */
function renderModel(
  { name, window, price, next_price, ends, closed }: Row["models"][number],
  number: number | null,
  columns: number | null,
): string {
  const rates = price === null ? ["unknown"] : [price.input, price.cached, price.output].map(String);
  const large = price?.large ?? null;
  const notes = [
    ...(large === null ? [] : [`above ${inThousands(large.above)}: ${large.input} / ${large.output}`]),
    ...(next_price === null ? [] : [`from ${next_price.from}: ${next_price.input} / ${next_price.output}`]),
    ...(ends === null ? [] : [`ends ${ends}`]),
    ...(closed === null ? [] : [closed]),
  ].join("; ");
  const mark = marked(number);
  const isLong = name.length > nameWidth;
  const lead = isLong ? " ".repeat(mark.length + nameWidth) : mark + name.padEnd(nameWidth);
  const row = hang(`${alignRow(lead, inThousands(window), ...rates)}  `, notes, columns);
  return [...(isLong ? [`${mark}${name}`] : []), ...row].map((line) => `${line.trimEnd()}\n`).join("");
}

const marked = (number: number | null) => (number === null ? "  " : `${String(number).padStart(3)}  `);

/** `first`: number of the provider's first model; null: it has no models. */
function renderProvider(
  { provider, needs_key, keys, own, models }: Row,
  {
    isListed,
    first,
    columns,
  }: { readonly isListed: boolean; readonly first: number | null; readonly columns: number | null },
): string {
  const key = !needs_key ? "no key needed" : keys.length === 0 ? "no key" : `keys: ${keys.join(", ")}`;
  const lines = models.map((model, at) => renderModel(model, first === null ? null : first + at, columns));
  const where = own === null ? "" : `, ${own.wire} at ${own.url}`;
  return `${provider} (${key})${where}\n${isListed ? lines.join("") : ""}`;
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
  const columns = context.tty.stdout ? columnsOf(context.env) : null;
  const title = "USD per million tokens".padEnd(marked(which === "usable" ? 1 : null).length + nameWidth);
  const head = rows.some(isListed) ? `${alignRow(title, "window", "in", "cached", "out")}\n` : "";
  let next = 1;
  const blocks = rows.map((row) => {
    const first = which === "usable" ? next : null;
    if (isListed(row)) next += row.models.length;
    return renderProvider(row, { isListed: isListed(row), first, columns });
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
