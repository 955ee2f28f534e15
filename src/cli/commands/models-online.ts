/** `pai models --online`: what the servers of the user's providers list, today. */
import { PaiError, toPaiError } from "../../core/error.ts";
import type { KeptList, ListedModel } from "../../core/listed-model.ts";
import { findAnyProvider, type Provider, providers } from "../../core/providers.ts";
import { suggest } from "../../core/suggest.ts";
import { findModel, priceOn } from "../../models/catalogue.ts";
import { requireOwnAddresses } from "../../store/base-url.ts";
import { findKeys } from "../../store/keys.ts";
import { counted, inThousands, renderDuration } from "../../ui/amount.ts";
import { hang } from "../../ui/layout.ts";
import { showResult } from "../answer-document.ts";
import { columnsOf } from "../columns.ts";
import type { Context } from "../command.ts";
import type { Base } from "../compose/base.ts";
import { findServerModels } from "../compose/server-models.ts";
import { openLog } from "../open-log.ts";

/** The provider of a word. Throws usage for an unknown one. */
function readProvider(word: string, own: readonly Provider[]): Provider {
  const found = findAnyProvider(word, own);
  if (found !== null) return found;
  const ids = [...providers, ...own].map(({ id }) => id);
  const near = suggest(word, ids);
  throw new PaiError("usage", `unknown provider: ${word}`, {
    hint: near === null ? `one of ${ids.join(", ")}` : `did you mean ${near}?`,
  });
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

const heading = "USD per million tokens";
const maxWidth = 44;

function renderList({ provider, address, asked_at, models, omitted }: Described, now: Date, columns: number | null) {
  const width = Math.min(maxWidth, Math.max(...models.map(({ name }) => name.length), heading.length));
  const age = now.getTime() - Date.parse(asked_at);
  const when = age < 60_000 ? "" : `, asked ${renderDuration(age)} ago`;
  const rows = models.map(({ name, window, max_output, price, ends, closed }) => {
    const rates = price === null ? ["?", "?", "?"] : [price.input, price.cached, price.output].map(String);
    const sizes = [window, max_output].map((tokens) => (tokens === null ? "?" : inThousands(tokens)).padStart(7));
    const large = price?.large ?? null;
    const notes = [
      ...(large === null ? [] : [`above ${inThousands(large.above)}: ${large.input} / ${large.output}`]),
      ...(ends === null ? [] : [`ends ${ends}`]),
      ...(closed === null ? [] : [closed]),
    ].join("; ");
    const row = `  ${name.padEnd(width)}${sizes.join("")}${rates.map((rate) => rate.padStart(8)).join("")}  `;
    return hang(row, notes, columns).map((line) => `${line.trimEnd()}\n`);
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
 * Lists the models of one provider's server, asked anew, or of all providers with a key, asked at most once a day. Throws
 * usage for an unknown provider or without --online, no_key when there is nobody to ask, and the first failure when there
 * is no list at all.
 */
export async function listOnline(context: Context, base: Base, word: string | undefined): Promise<number> {
  const { places, settings } = base;
  const named = word === undefined ? null : readProvider(word, settings.providers);
  if (named !== null && context.flags.online !== true)
    throw new PaiError("usage", "a list of one provider comes from its server", {
      hint: `pai models --online ${named.id}`,
    });
  const isKeyed = (row: Provider) => findKeys(row, { env: context.env, places }).length > 0;
  const asked = named === null ? [...providers.filter(isKeyed), ...settings.providers] : [named];
  if (asked.length === 0) {
    throw new PaiError("no_key", "no provider has a key", {
      hint: "store one with: pai key set, or name a provider that needs none: pai models --online openrouter|local",
    });
  }
  requireOwnAddresses(asked, context.env);
  const options = { fresh: named !== null };
  const answers = await Promise.all(
    asked.map(async (row) => findServerModels(row, { ...base, context, places }, options).catch(toPaiError)),
  );
  context.signal.throwIfAborted();
  const failures = answers.filter((answer) => answer instanceof PaiError);
  const lists = answers.flatMap((answer) => (answer instanceof PaiError ? [] : [answer]));
  const [failure] = failures;
  if (failure !== undefined && lists.length === 0) throw failure;
  for (const { code, message } of failures) openLog(context).notify({ level: "warning", code, text: message });
  const now = context.now();
  const described = lists.map((list) => describeList(list, now));
  const columns = context.tty.stdout ? columnsOf(context.env) : null;
  const text = described.map((list) => renderList(list, now, columns)).join("\n");
  return showResult(context, "models", { model: base.settings.model, providers: described }, text);
}
