/** The model of a task or session: as set, from the only key, or chosen by the user at the terminal, who may keep it. */

import type { Outcome } from "../../core/outcome.ts";
import { type ProviderId, providerTable } from "../../core/providers.ts";
import type { Context } from "../command.ts";
import { demoCommand } from "../commands/demo.ts";
import type { Base } from "../compose/base.ts";
import type { TerminalView } from "../compose/view.ts";
import type { ReadLine } from "../config/key-entry.ts";
import { validateOnline } from "../config/keys.ts";
import { writeSetting } from "../config/settings.ts";
import { openLog } from "../open-log.ts";
import { askForModel } from "./ask-model.ts";
import { answeredOrigin, lacksKey, pickModel } from "./pick-model.ts";

export const readLineOf = (view: TerminalView) => async (question: string) =>
  (await view.prompter()).readLine(question);

async function checkKey(context: Context, { places }: Base, provider: ProviderId, key: string): Promise<void> {
  const verdicts = await validateOnline(providerTable[provider], [{ id: "primary", key, origin: "typed" }], {
    context,
    places,
  });
  for (const { error } of verdicts) if (error !== null) throw error;
}

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
    check: (provider, key) => checkKey(context, base, provider, key),
  });
}

/** Asks only once for each `base`, whatever the answer. */
const asked = new WeakSet<Base>();

/** After a yes, writes the model, and its server's address if it is not the default, into config.json. */
export async function offerToKeep(
  context: Context,
  base: Base,
  { ok }: Pick<Outcome, "ok">,
  readLine: ReadLine,
): Promise<void> {
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
