/** The model of a task or session: as set, from the only key, or chosen by the user at the terminal. */

import { type ProviderId, providerTable } from "../../core/providers.ts";
import type { Context } from "../command.ts";
import { demoCommand } from "../commands/demo.ts";
import type { Base } from "../compose/base.ts";
import type { TerminalView } from "../compose/view.ts";
import { validateOnline } from "../config/validate-online.ts";
import { askForModel, nameLocalServer } from "./ask-model.ts";
import { lacksKey, pickModel } from "./pick-model.ts";

export const readLineOf = (view: TerminalView) => async (question: string) =>
  (await view.prompter()).readLine(question);

/** Checks a key with its provider. Throws the provider's refusal. */
async function checkKey(context: Context, { places }: Base, provider: ProviderId, key: string): Promise<void> {
  const verdicts = await validateOnline(providerTable[provider], [{ id: "primary", key, origin: "typed" }], {
    context,
    places,
  });
  for (const { error } of verdicts) if (error !== null) throw error;
}

/** Throws no_key if several providers have a key, or if nobody can be asked and a local server needs none. */
export async function chooseModel(context: Context, given: Base, view: TerminalView): Promise<Base> {
  if (!lacksKey(context, given)) return given;
  const { base, message, problem } = pickModel(context, given);
  if (problem !== null) throw problem;
  if (message !== null) view.notify({ level: "info", code: "model", text: message });
  if (!lacksKey(context, base)) return base;
  if (!view.interactive) {
    await nameLocalServer(context, base);
    return base;
  }
  return askForModel(context, base, {
    readLine: readLineOf(view),
    askHidden: async (question) => (await view.prompter()).askHidden(question),
    demo: () => demoCommand({ ...context, flags: {}, words: [] }),
    check: (provider, key) => checkKey(context, base, provider, key),
  });
}
