/** Joins models of a file with those of the catalogue: what the file says holds, what it does not tell stays. */
import type { CatalogueEntry, EntryPrice } from "../../src/models/catalogue.ts";
import type { Given, GivenCost } from "./models-dev.ts";

export interface Merged {
  readonly models: readonly CatalogueEntry[];
  /** One line for each difference, for the owner to read. */
  readonly changes: readonly string[];
}

type Rates = Omit<EntryPrice, "date" | "from" | "until" | "source">;

/** models.dev writes 0 both for "free" and for "not known": neither is a price that a cap may rely on. */
function readRates({ tiers = [], context_over_200k: over, ...usual }: GivenCost): Rates | null {
  const rateOf = ({ input, output, cache_read, cache_write }: GivenCost) => ({
    input,
    cached: cache_read === undefined || cache_read === 0 ? input : cache_read,
    ...(cache_write === undefined || cache_write === 0 ? {} : { written: cache_write }),
    output,
  });
  if (usual.input === 0 || usual.output === 0) return null;
  const long = tiers.filter(({ tier }) => tier.type === "context").map((each) => ({ ...each, above: each.tier.size }));
  const all = long.length > 0 || over === undefined ? long : [{ ...over, above: 200_000 }];
  if (all.length === 0) return rateOf(usual);
  // Of several tiers the first length and the dearest rates, so that no call is counted too cheap.
  const above = Math.min(...all.map((each) => each.above));
  const dearest = all.toSorted((a, b) => b.input - a.input)[0] ?? usual;
  return { ...rateOf(usual), large: { above, ...rateOf(dearest) } };
}

const ratesOf = ({ date: _, from: __, until: ___, source: ____, ...rates }: EntryPrice): Rates => rates;
const inOrder = (value: unknown): string =>
  JSON.stringify(value, (_key, each) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
const isSame = (a: unknown, b: unknown): boolean => inOrder(a) === inOrder(b);

function dayBefore(day: string): string {
  return new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
}

/** Prices that a model has from `today` on: what the file says of today, and what was announced for later. */
function mergePrices(given: Given, before: readonly EntryPrice[], today: string): readonly EntryPrice[] {
  const ahead = before.filter(({ until = "9" }) => until >= today);
  if (given.prices !== undefined) {
    return given.prices.flatMap(({ from, until, source, date, ...cost }) => {
      const rates = readRates(cost);
      if (rates === null || (until ?? "9") < today) return [];
      return [{ date, ...(from && { from }), ...(until && { until }), source, ...rates }];
    });
  }
  const rates = given.cost === undefined ? null : readRates(given.cost);
  const current = ahead.find(({ from = "" }) => from <= today);
  if (rates === null || (current !== undefined && isSame(ratesOf(current), rates))) return ahead;
  const later = ahead.filter(({ from = "" }) => from > today);
  const next = later.map(({ from = "" }) => from).toSorted()[0];
  const source = given.source ?? "https://models.dev/api.json";
  return [{ date: today, ...(next === undefined ? {} : { until: dayBefore(next) }), source, ...rates }, ...later];
}

/** Models that write a plan and call tools. Nobody is sent to one that its maker has deprecated. */
const isUseful = ({ tool_call = true, modalities, status }: Given): boolean =>
  tool_call && (modalities?.output.includes("text") ?? true) && status !== "deprecated";

/**
 * The output that a reply may have. Where a file names the whole window it knows no limit; a quarter leaves room for the
 * request.
 */
const outputOf = ({ context, output }: NonNullable<Given["limit"]>): number =>
  output < context ? output : Math.floor(context / 4);

function mergeOne(given: Given, before: CatalogueEntry | undefined, today: string): CatalogueEntry | null {
  const { provider, name, limit } = given;
  const window = limit?.context ?? before?.window;
  const maxOutputTokens = limit === undefined ? before?.maxOutputTokens : outputOf(limit);
  if (window === undefined || maxOutputTokens === undefined) return null;
  const [ends, closed] = [given.ends ?? before?.ends, given.closed ?? before?.closed];
  const prices = mergePrices(given, before?.prices ?? [], today);
  return { provider, name, window, maxOutputTokens, ...(ends && { ends }), ...(closed && { closed }), prices };
}

const idOf = ({ provider, name }: Pick<CatalogueEntry, "provider" | "name">) => `${provider}:${name}`;
const nothingLeft = ({ ends = "9", prices }: CatalogueEntry, today: string): boolean =>
  ends <= today && !prices.some(({ from = "", until = "9" }) => from >= ends && until >= today);

/**
 * The catalogue with the models of a file, on a day ("2026-11-23"). Models that ended are left out. Throws an Error for a
 * new model without limits.
 */
export function mergeModels(before: readonly CatalogueEntry[], given: readonly Given[], today: string): Merged {
  const rows = new Map(before.map((entry) => [idOf(entry), entry]));
  const changes: string[] = [];
  for (const each of given) {
    const id = idOf(each);
    const old = rows.get(id);
    if (old === undefined && !isUseful(each)) continue;
    const entry = mergeOne(each, old, today);
    if (entry === null) throw new Error(`${id} is new and has no limit.context and limit.output`);
    if (old === undefined) changes.push(`+ ${id}`);
    else if (!isSame(old, entry)) changes.push(`~ ${id}: ${describe(old, entry)}`);
    rows.set(id, entry);
  }
  const left = [...rows.values()].filter((entry) => {
    const isOver = nothingLeft(entry, today);
    if (isOver) changes.push(`- ${idOf(entry)}: ended ${entry.ends}`);
    return !isOver;
  });
  const order = [...new Set(before.map(({ provider }) => provider))];
  const rank = ({ provider }: CatalogueEntry) => (order.includes(provider) ? order.indexOf(provider) : order.length);
  return { models: left.toSorted((a, b) => rank(a) - rank(b)), changes };
}

function describe(old: CatalogueEntry, entry: CatalogueEntry): string {
  const names = ["window", "maxOutputTokens", "ends", "closed", "prices"] as const;
  return names
    .filter((name) => !isSame(old[name] ?? null, entry[name] ?? null))
    .map((name) => `${name} ${JSON.stringify(old[name] ?? null)} -> ${JSON.stringify(entry[name] ?? null)}`)
    .join(", ");
}
