/** The model of a task or session: as set, from the only key, or chosen by the user at the terminal, who may keep it. */

import { toPaiError } from "../../core/error.ts";
import type { Outcome } from "../../core/outcome.ts";
import { findProvider, type ProviderId, providerOfKey, providers, providerTable } from "../../core/providers.ts";
import { type DiscoverOptions, type FoundServer, findServers, renderServer } from "../../models/local/discover.ts";
import { doubtKey, maskKey, putKey } from "../../store/keys.ts";
import { hang, wrap } from "../../ui/layout.ts";
import { readAnswer } from "../../ui/prompt/read-answer.ts";
import { visible } from "../../ui/sanitize.ts";
import { whoListens } from "../../workspace/host/ports.ts";
import { columnsOfErrors, openLog } from "../answer-document.ts";
import type { Context } from "../command.ts";
import { demoCommand } from "../commands/demo.ts";
import type { Base } from "../compose/base.ts";
import type { TerminalView } from "../compose/view.ts";
import { askOwner, type ReadLine, requireKey } from "../config/key-entry.ts";
import { validateOnline } from "../config/keys.ts";
import { writeSetting } from "../config/settings.ts";
import { answeredOrigin, lacksKey, pickModel } from "./pick-model.ts";

export const readLineOf = (view: TerminalView) => async (question: string) =>
  (await view.prompter()).readLine(question);

export async function chooseModel(context: Context, given: Base, view: TerminalView): Promise<Base> {
  if (!lacksKey(context, given)) return given;
  const { base, message, problem } = pickModel(context, given);
  if (problem !== null) throw problem;
  if (message !== null) view.notify({ level: "info", code: "model", text: message });
  if (!lacksKey(context, base) || !view.interactive) return base;
  return askForModel(context, base, {
    readLine: readLineOf(view),
    askHidden: async (...asked) => (await view.prompter()).askHidden(...asked),
    demo: () => demoCommand({ ...context, flags: {}, words: [] }),
    async check(provider, key) {
      const [verdict] = await validateOnline(providerTable[provider], [{ id: "primary", key, origin: "typed" }], base);
      if (verdict !== undefined && verdict.error !== null) throw verdict.error;
    },
  });
}

/** Asks only once for each `base`, whatever the answer. */
const asked = new WeakSet<Base>();

/** After a yes, writes the model, and its server's address if it is not the default, into config.json. */
export async function offerToKeep(context: Context, base: Base, { ok }: Pick<Outcome, "ok">, readLine: ReadLine) {
  const { places, settings, origins } = base;
  if (!ok || origins["model"] !== answeredOrigin || places.configDir === null || asked.has(base)) return;
  asked.add(base);
  const said = ((await readLine(`keep ${settings.model} as the default model? y or n: `)) ?? "").trim();
  if (!/^(y|yes|ya|ok|oke)$/i.test(said)) return;
  const url = settings.baseUrl.local;
  if (url !== null && url !== providerTable.local.url) writeSetting(places, "baseUrl.local", url);
  const file = writeSetting(places, "model", settings.model);
  const text = `saved in ${file}; another one: pai config set model NAME`;
  openLog(context).notify({ level: "info", code: "model_saved", text });
}

export const findLocalServers = (options: DiscoverOptions): Promise<readonly FoundServer[]> =>
  findServers({ whoListens, ...options });

const maxShown = 20;

export interface Asker {
  readonly readLine: ReadLine;
  readonly askHidden: ReadLine;
  readonly demo: () => Promise<unknown>;
  /** Throws the provider's refusal of the key, or why it could not be asked. */
  readonly check: (provider: ProviderId, key: string) => Promise<void>;
}

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

const offersOf = (servers: readonly FoundServer[]) =>
  servers.flatMap(({ url, models }) => models.map((name) => ({ name, url }))).slice(0, maxShown);

/** An answer that leaves everything as it is. */
const none = /^(?:n|no|none|q|quit|exit)?$/i;

const maxTries = 3;

/** What an answer leads to: the settings to go on with, another question, or one of the few tries gone. */
type Answered = Base | "again" | "refused";

async function askUntilSettled(
  { context, base }: Asking,
  ask: () => Promise<string | null>,
  understand: (text: string) => Promise<Answered>,
): Promise<Base> {
  for (let tries = 0; tries < maxTries; ) {
    const text = ((await ask()) ?? "").trim();
    if (none.test(text)) return base;
    try {
      const answered = await understand(text);
      if (typeof answered === "object") return answered;
      if (answered === "refused") tries += 1;
    } catch (thrown) {
      const error = toPaiError(thrown);
      if (error.code === "interrupted" || error.code === "timeout") throw error;
      openLog(context).fail(error);
      tries += 1;
    }
  }
  return base;
}

function askForLocal(asking: Asking, servers: readonly FoundServer[]): Promise<Base> {
  const { context, base, asker } = asking;
  const offers = offersOf(servers);
  context.err("found on this machine:\n");
  const columns = columnsOfErrors(context);
  for (const server of servers) context.err(`${hang("  ", visible(renderServer(server)), columns).join("\n")}\n`);
  for (const [at, { name }] of offers.entries()) context.err(`  ${at + 1}  local:${visible(name)}\n`);
  const ask = () => asker.readLine("use one? its number, y for the first, k to enter a key, n for none: ");
  return askUntilSettled(asking, ask, async (text) => {
    const said = text.toLowerCase();
    if (said === "k") return askForKey(asking);
    const number = /^(y|yes|ya|ok|oke)$/.test(said) ? 1 : /^\d+$/.test(said) ? Number(said) : 0;
    const chosen = offers[number - 1];
    if (chosen === undefined) return explain(context, `answer with a number from 1 to ${offers.length}, y, k or n`);
    const baseUrl = { ...base.settings.baseUrl, local: chosen.url };
    return {
      ...base,
      settings: { ...base.settings, model: `local:${chosen.name}`, baseUrl },
      origins: { ...base.origins, model: answeredOrigin, "baseUrl.local": answeredOrigin },
    };
  });
}

function explain(context: Context, text: string): "again" {
  context.err(`${wrap(text, columnsOfErrors(context)).join("\n")}\n`);
  return "again";
}

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

function askForKey(asking: Asking): Promise<Base> {
  const { context, asker, look } = asking;
  const ask = () => asker.askHidden("a key (shown as stars), 2, d for the demo, Enter for none: ");
  return askUntilSettled(asking, ask, async (text) => {
    if (/^(?:d|demo|3)$/i.test(text)) {
      await asker.demo();
      return "again";
    }
    if (/^(?:2|local|ollama)$/i.test(text)) {
      const servers = await look();
      if (offersOf(servers).length > 0) return askForLocal(asking, servers);
      const way = "run the two commands in another terminal, then type 2";
      return explain(context, `no model answers on this machine yet: ${way}`);
    }
    const explained = explainAnswer(text);
    return explained === null ? takeKey(asking, text) : explain(context, explained);
  });
}

/** Finds out whose key it is, checks and stores it, and tells its model. Throws why it is refused. */
async function takeKey({ context, base, asker }: Asking, key: string): Promise<Answered> {
  const provider = providerOfKey(key)?.id ?? (await askOwner(asker.askHidden));
  if (!(await isMeant(asker, provider, key))) return "refused";
  await check(context, asker, provider, key);
  putKey({ provider, places: base.places }, "primary", key, context.now());
  const { notify } = openLog(context);
  notify({ level: "info", code: "key_saved", text: `saved the ${provider} key ${maskKey(key)}` });
  const { base: picked, message } = pickModel(context, base);
  if (message !== null) notify({ level: "info", code: "model", text: message });
  return picked;
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
