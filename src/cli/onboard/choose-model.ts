/** The model of a task or session: as set, the only one with a key, or what the person at the terminal chooses. */
import type { ProviderId } from "../../core/providers.ts";
import type { Context } from "../command.ts";
import type { Base } from "../compose/base.ts";
import type { View } from "../compose/view.ts";
import { lacksKey, pickModel } from "./pick-model.ts";

export const readLineOf = (view: View) => async (question: string) => (await view.prompter()).readLine(question);

/** Tries a key with its provider. Throws what that says against it. */
async function checkKey(context: Context, { places }: Base, provider: ProviderId, key: string): Promise<void> {
  const { validateOnline } = await import("../config/validate-online.ts");
  const verdicts = await validateOnline(provider, [{ id: "primary", key, origin: "typed" }], { context, places });
  for (const { error } of verdicts) if (error !== null) throw error;
}

/** Throws no_key where several providers have a key, or nobody can be asked and a server on this machine needs none. */
export async function chooseModel(context: Context, given: Base, view: View): Promise<Base> {
  if (!lacksKey(context, given)) return given;
  const { base, told, problem } = pickModel(context, given);
  if (problem !== null) throw problem;
  if (told !== null) view.notify({ level: "info", code: "model", text: told });
  if (!lacksKey(context, base)) return base;
  const { askForModel, nameLocalServer } = await import("./ask-model.ts");
  if (!view.interactive) {
    await nameLocalServer(context, base);
    return base;
  }
  return askForModel(context, base, {
    readLine: readLineOf(view),
    askHidden: async (question) => (await view.prompter()).askHidden(question),
    check: (provider, key) => checkKey(context, base, provider, key),
  });
}
