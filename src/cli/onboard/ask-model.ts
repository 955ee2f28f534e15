/** Without a key, asks the user once at the terminal: for a model of a local server, or for a key. */
import { toPaiError } from "../../core/error.ts";
import { findProvider, type ProviderId, providerOfKey, providers } from "../../core/providers.ts";
import { type DiscoverOptions, type FoundServer, findServers, renderServer } from "../../models/local/discover.ts";
import { doubtKey, maskKey, putKey } from "../../store/keys.ts";
import { hang, wrap } from "../../ui/layout.ts";
import { readAnswer } from "../../ui/prompt/read-answer.ts";
import { visible } from "../../ui/sanitize.ts";
import { whoListens } from "../../workspace/host/ports.ts";
import { columnsOfErrors } from "../columns.ts";
import type { Context } from "../command.ts";
import type { Base } from "../compose/base.ts";
import { type AskHidden, askOwner, type ReadLine, requireKey } from "../config/key-entry.ts";
import { openLog } from "../open-log.ts";
import { answeredOrigin, lacksKey, pickModel } from "./pick-model.ts";

/** The model servers on this machine, each with who runs it. */
export const findLocalServers = (options: DiscoverOptions): Promise<readonly FoundServer[]> =>
  findServers({ whoListens, ...options });

const maxShown = 20;

export interface Asker {
  readonly readLine: ReadLine;
  readonly askHidden: AskHidden;
  readonly demo: () => Promise<unknown>;
  /** Throws the provider's refusal of the key, or why it could not be asked. */
  readonly check: (provider: ProviderId, key: string) => Promise<void>;
}

interface Offer {
  readonly name: string;
  readonly url: string;
}

const offersOf = (servers: readonly FoundServer[]): readonly Offer[] =>
  servers.flatMap(({ url, models }) => models.map((name) => ({ name, url }))).slice(0, maxShown);

/** Settings with a local model or a key that the user chose, or the given ones where the model in use needs none. */
export async function askForModel(
  context: Context,
  base: Base,
  asker: Asker,
  find: (options: DiscoverOptions) => Promise<readonly FoundServer[]> = findLocalServers,
): Promise<Base> {
  if (!lacksKey(context, base)) return base;
  const look = () => find({ signal: context.signal });
  const servers = await look();
  const text = `there is no key for ${base.settings.model} yet`;
  openLog(context).notify({ level: "info", code: "no_key", text });
  const asking = { context, base, asker, look };
  if (offersOf(servers).length > 0) return askForLocal(asking, servers);
  context.err(renderWays());
  return askForKey(asking);
}

interface Asking {
  readonly context: Context;
  readonly base: Base;
  readonly asker: Asker;
  readonly look: () => Promise<readonly FoundServer[]>;
}

/** An answer that leaves everything as it is. */
const none = /^(?:n|no|none|q|quit|exit)?$/i;

/** Asks for one of the models that were found, until an answer is understood. */
async function askForLocal(asking: Asking, servers: readonly FoundServer[]): Promise<Base> {
  const { context, base, asker } = asking;
  const offers = offersOf(servers);
  context.err("found on this machine:\n");
  const columns = columnsOfErrors(context);
  for (const server of servers) context.err(`${hang("  ", visible(renderServer(server)), columns).join("\n")}\n`);
  for (const [at, { name }] of offers.entries()) context.err(`  ${at + 1}  local:${visible(name)}\n`);
  for (;;) {
    const typed = await asker.readLine("use one? its number, y for the first, k to enter a key, n for none: ");
    const said = (typed ?? "").trim().toLowerCase();
    if (none.test(said)) return base;
    if (said === "k") return askForKey(asking);
    const chosen = choose(said, offers);
    if (chosen !== null) return withLocal(base, chosen);
    explain(context, `answer with a number from 1 to ${offers.length}, y, k or n`);
  }
}

const explain = (context: Context, text: string) => context.err(`${wrap(text, columnsOfErrors(context)).join("\n")}\n`);

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

/** What a person can do who has neither a key nor a server: one screen. */
function renderWays(): string {
  const pages = providers.flatMap(({ id, keyPage }) => (keyPage === undefined ? [] : [[id, keyPage] as const]));
  const width = Math.max(...pages.map(([id]) => id.length));
  return [
    "Three ways to begin:",
    "  1  paste a key below; where to get one:",
    ...pages.map(([id, page]) => `    ${id.padEnd(width)}  ${page}`),
    "  2  a model on this machine, without a key:",
    "    curl -fsSL https://ollama.com/install.sh | sh",
    "    ollama pull qwen3:8b",
    "  3  watch a whole task first, offline: d",
    "",
  ].join("\n");
}

const maxTries = 3;
/** Characters of the shortest key of a provider. */
const shortestKey = 16;

/** Explains why a text cannot be a key; null: it can. Throws what requireKey throws. */
function explainAnswer(text: string): string | null {
  const page = findProvider(text.toLowerCase())?.keyPage;
  if (page !== undefined) return `paste the key itself; you get one at ${page}`;
  if (text === "1") return `${renderWays()}paste the key itself`;
  const asksHow = /^(?:\?|help)$/i.test(text);
  if (!asksHow) requireKey(text);
  if (providerOfKey(text) !== null || text.length >= shortestKey) return null;
  const lead = asksHow ? "" : "that is too short for a key, and nothing was stored; ";
  return `${lead}paste a key, or type 2 to look for a model on this machine, d for the demo, Enter to leave`;
}

/** Does what one answer means. Returns the settings that follow from it; "again": none does; "refused": nor a key. */
async function doAnswer(asking: Asking, text: string): Promise<Base | "again" | "refused"> {
  const { context, base, asker, look } = asking;
  if (none.test(text)) return base;
  if (/^(?:d|demo|3)$/i.test(text)) {
    await asker.demo();
    return "again";
  }
  if (/^(?:2|local|ollama)$/i.test(text)) {
    const servers = await look();
    if (offersOf(servers).length > 0) return askForLocal(asking, servers);
    explain(context, "no model answers on this machine yet: run the two commands in another terminal, then type 2");
    return "again";
  }
  const explained = explainAnswer(text);
  if (explained === null)
    return (await takeKey(context, base, { asker, key: text })) ? tellModel(context, base) : "refused";
  explain(context, explained);
  return "again";
}

/** Asks until a key is accepted, and stores it, or until an answer means another way or none. */
async function askForKey(asking: Asking): Promise<Base> {
  const { context, base, asker } = asking;
  for (let tries = 0; tries < maxTries; ) {
    const text = await asker.askHidden("a key (shown as stars), 2, d for the demo, Enter for none: ");
    try {
      const done = await doAnswer(asking, (text ?? "").trim());
      if (typeof done === "object") return done;
      if (done === "refused") tries += 1;
    } catch (thrown) {
      const error = toPaiError(thrown);
      if (error.code === "interrupted") throw error;
      openLog(context).fail(error);
      tries += 1;
    }
  }
  return base;
}

/** The settings with the model of the key that is now stored, which is told. */
function tellModel(context: Context, base: Base): Base {
  const { base: picked, message } = pickModel(context, base);
  if (message !== null) openLog(context).notify({ level: "info", code: "model", text: message });
  return picked;
}

/** Finds out whose key it is, checks and stores it. false: the person did not mean it. Throws why it is refused. */
async function takeKey(
  context: Context,
  { places }: Base,
  { asker, key }: { readonly asker: Asker; readonly key: string },
): Promise<boolean> {
  const provider = providerOfKey(key)?.id ?? (await askOwner(asker.askHidden));
  if (!(await isMeant(asker, provider, key))) return false;
  await check(context, asker, provider, key);
  putKey({ provider, places }, "primary", key, context.now());
  openLog(context).notify({ level: "info", code: "key_saved", text: `saved the ${provider} key ${maskKey(key)}` });
  return true;
}

/** Whether the text looks like a key of the provider, or the person says that it is one. */
async function isMeant({ askHidden }: Asker, provider: ProviderId, key: string): Promise<boolean> {
  const doubt = doubtKey(provider, key, { origin: "default" });
  if (doubt === null && key.length >= shortestKey) return true;
  // A key may be pasted again here.
  const said = await askHidden(`the key ${doubt ?? "is very short"}; use it all the same? y or n: `);
  return readAnswer(said, { feedback: false }) === "yes";
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
