/** Where no key is set: offers the models of a server found on this machine; none is used without a yes. */
import { providerTable } from "../../core/providers.ts";
import { type DiscoverOptions, type FoundServer, findServers, renderServer } from "../../models/local/discover.ts";
import { parseModelId } from "../../models/open.ts";
import { findKeys } from "../../store/keys.ts";
import { visible } from "../../ui/sanitize.ts";
import type { Context } from "../command.ts";
import type { Base } from "../compose/base.ts";
import { listModels } from "../compose/compose-model.ts";

const mostShown = 20;

/** A model and where it runs. */
interface Offer {
  readonly name: string;
  readonly url: string;
}

/**
 * The settings to go on with: those given, or with the local model that was chosen. `readLine` asks the person;
 * null is the end of input. Looks for servers only when the model in use needs a key, has none, and no address was given.
 */
export async function offerLocal(
  context: Context,
  base: Base,
  readLine: (question: string) => Promise<string | null>,
  find: (options: DiscoverOptions) => Promise<readonly FoundServer[]> = findServers,
): Promise<Base> {
  if (!lacksKey(context, base)) return base;
  const servers = await find({ signal: context.signal });
  const offers = servers.flatMap(({ url, models }) => models.map((name) => ({ name, url }))).slice(0, mostShown);
  if (offers.length === 0) return base;
  context.err(`there is no key for ${base.settings.model}; on this machine answers\n`);
  for (const server of servers) context.err(`  ${visible(renderServer(server))}\n`);
  for (const [at, { name }] of offers.entries()) context.err(`  ${at + 1}  local:${visible(name)}\n`);
  const chosen = choose(await readLine("use one for this session? number, y for the first, n for none: "), offers);
  return chosen === null ? base : withLocal(base, chosen);
}

function lacksKey({ env }: Context, { settings, places }: Base): boolean {
  const [first] = listModels(settings.model);
  const { provider } = parseModelId(first);
  const isOwn = ["PAI_BASE_URL", providerTable.local.urlVariable].some((name) => (env[name] ?? "").trim() !== "");
  if (isOwn || provider === "replay" || !providerTable[provider].needsKey || settings.baseUrl[provider] !== null)
    return false;
  return findKeys(provider, { env, places }).length === 0;
}

function choose(answer: string | null, offers: readonly Offer[]): Offer | null {
  const said = (answer ?? "").trim().toLowerCase();
  if (/^(y|yes|ya|ok|oke)$/.test(said)) return offers[0] ?? null;
  return /^\d+$/.test(said) ? (offers[Number(said) - 1] ?? null) : null;
}

function withLocal(base: Base, { name, url }: Offer): Base {
  const settings = { ...base.settings, model: `local:${name}`, baseUrl: { ...base.settings.baseUrl, local: url } };
  return { ...base, settings, origins: { ...base.origins, model: "your answer", "baseUrl.local": "your answer" } };
}
