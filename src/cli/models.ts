/** `pai models`: providers, whether a key is present, known models with their windows and prices. */
import { knownModels } from "../models/catalogue.ts";
import { providers } from "../models/open.ts";
import { findKeys } from "../store/keys.ts";
import { showResult } from "./answer-document.ts";
import type { Context } from "./command.ts";
import { composeBase } from "./compose.ts";

export async function modelsCommand(context: Context): Promise<number> {
  const { places, settings } = composeBase(context);
  const rows = providers.map((provider) => {
    const keyed = provider !== "replay" && provider !== "local";
    const keys = keyed ? findKeys(provider, { env: context.env, places }).map(({ id }) => id) : [];
    const models = knownModels.filter((model) => model.provider === provider);
    return {
      provider,
      needs_key: keyed,
      keys,
      models: models.map(({ name, window, maxOutputTokens, price }) => ({
        name,
        window,
        max_output: maxOutputTokens,
        price,
      })),
    };
  });
  const text = rows.map(({ provider, needs_key, keys, models }) => {
    const key = !needs_key ? "no key needed" : keys.length === 0 ? "no key" : `keys: ${keys.join(", ")}`;
    const lines = models.map(({ name, window, price }) => {
      const cost =
        price === null ? "price unknown" : `${price.input} / ${price.output} USD per million tokens in / out`;
      return `  ${name.padEnd(24)} ${String(Math.round(window / 1000)).padStart(5)}k  ${cost}\n`;
    });
    return `${provider} (${key})\n${lines.join("")}`;
  });
  return showResult(
    context,
    "models",
    { model: settings.model, providers: rows },
    `${text.join("")}in use: ${settings.model}\n`,
  );
}
