/** Without a key, asks the user once at the terminal: for a model of a local server, or for a key. */
import { PaiError, toPaiError } from "../../core/error.ts";
import { type ProviderId, providerOfKey } from "../../core/providers.ts";
import { type DiscoverOptions, type FoundServer, findServers, renderServer } from "../../models/local/discover.ts";
import { maskKey, putKey } from "../../store/keys.ts";
import { hang } from "../../ui/layout.ts";
import { visible } from "../../ui/sanitize.ts";
import { columnsOfErrors } from "../columns.ts";
import type { Context } from "../command.ts";
import type { Base } from "../compose/base.ts";
import { askOwner, keyed, requireKey } from "../config/key-entry.ts";
import { openLog } from "../open-log.ts";
import { answeredOrigin, lacksKey, pickModel } from "./pick-model.ts";

const maxShown = 20;

/** How to ask the user and to check a key. */
export interface Asker {
  /** null: end of input. */
  readonly readLine: (question: string) => Promise<string | null>;
  /** Like `readLine` for hidden text. */
  readonly askHidden: (question: string) => Promise<string | null>;
  /** Throws the provider's refusal of the key, or why it could not be asked. */
  readonly check: (provider: ProviderId, key: string) => Promise<void>;
}

/** A model of a local server. */
interface Offer {
  readonly name: string;
  readonly url: string;
}

const offersOf = (servers: readonly FoundServer[]): readonly Offer[] =>
  servers.flatMap(({ url, models }) => models.map((name) => ({ name, url }))).slice(0, maxShown);

/**
 * Asks for a model. Returns the given settings, or settings with the chosen local model or key. Looks for servers only
 * if the model in use needs a key, has none, and no address was given.
 */
export async function askForModel(
  context: Context,
  base: Base,
  asker: Asker,
  find: (options: DiscoverOptions) => Promise<readonly FoundServer[]> = findServers,
): Promise<Base> {
  if (!lacksKey(context, base)) return base;
  const servers = await find({ signal: context.signal });
  const offers = offersOf(servers);
  const text = `there is no key for ${base.settings.model} yet`;
  openLog(context).notify({ level: "info", code: "no_key", text });
  if (offers.length === 0) return askForKey(context, base, asker);
  context.err("found on this machine:\n");
  const columns = columnsOfErrors(context);
  for (const server of servers) context.err(`${hang("  ", visible(renderServer(server)), columns).join("\n")}\n`);
  for (const [at, { name }] of offers.entries()) context.err(`  ${at + 1}  local:${visible(name)}\n`);
  const said = ((await asker.readLine("use one? its number, y for the first, k to enter a key, n for none: ")) ?? "")
    .trim()
    .toLowerCase();
  if (said === "k") return askForKey(context, base, asker);
  const chosen = choose(said, offers);
  return chosen === null ? base : withLocal(base, chosen);
}

function choose(said: string, offers: readonly Offer[]): Offer | null {
  if (/^(y|yes|ya|ok|oke)$/.test(said)) return offers[0] ?? null;
  return /^\d+$/.test(said) ? (offers[Number(said) - 1] ?? null) : null;
}

function withLocal(base: Base, { name, url }: Offer): Base {
  const settings = { ...base.settings, model: `local:${name}`, baseUrl: { ...base.settings.baseUrl, local: url } };
  return {
    ...base,
    settings,
    origins: { ...base.origins, model: answeredOrigin, "baseUrl.local": answeredOrigin },
  };
}

const maxTries = 3;

/** Asks for a key until one is accepted, and stores it; with no input the settings stay as they are. */
async function askForKey(context: Context, base: Base, asker: Asker): Promise<Base> {
  const log = openLog(context);
  for (let tries = 0; tries < maxTries; tries += 1) {
    const key = ((await asker.askHidden(`API key of ${keyed.join(", ")} (not shown; Enter for none): `)) ?? "").trim();
    if (key === "") return base;
    try {
      requireKey(key);
      const provider = providerOfKey(key)?.id ?? (await askOwner(asker.readLine));
      await check(context, asker, provider, key);
      putKey({ provider, places: base.places }, "primary", key, context.now());
      log.notify({ level: "info", code: "key_saved", text: `saved the ${provider} key ${maskKey(key)}` });
      const { base: picked, message } = pickModel(context, base);
      if (message !== null) log.notify({ level: "info", code: "model", text: message });
      return picked;
    } catch (thrown) {
      const error = toPaiError(thrown);
      if (error.code === "interrupted") throw error;
      log.fail(error);
    }
  }
  return base;
}

/** Checks a key; an unreachable provider is no evidence against it. */
async function check(context: Context, asker: Asker, provider: ProviderId, key: string): Promise<void> {
  try {
    await asker.check(provider, key);
  } catch (thrown) {
    const { code, message } = toPaiError(thrown);
    if (code === "interrupted" || code.startsWith("key_") || code === "no_key") throw thrown;
    openLog(context).notify({ level: "warning", code, text: `the key could not be checked: ${message}` });
  }
}

/**
 * Suggests a local model server to a user who cannot be asked. Throws no_key if there is one and the model lacks a key.
 */
export async function nameLocalServer(
  context: Context,
  base: Base,
  find: (options: DiscoverOptions) => Promise<readonly FoundServer[]> = findServers,
): Promise<void> {
  if (!lacksKey(context, base)) return;
  const [first] = offersOf(await find({ signal: context.signal }));
  if (first === undefined) return;
  throw new PaiError("no_key", `there is no key for ${base.settings.model}`, {
    hint: `a model server on this machine needs none: pai -m local:${first.name} … (${first.url}); or store a key with: pai key set`,
  });
}
