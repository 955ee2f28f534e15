/** `pai models`: providers, whether a key is present, known models with their windows and prices. */
import { knownModels } from "../models/catalogue.ts";
import { providers } from "../models/open.ts";
import { findKeys } from "../store/keys.ts";
import { showResult } from "./answer-document.ts";
import type { Context } from "./command.ts";
import { composeBase } from "./compose.ts";

/** Providers with the keys at hand, and the models pai knows of them. */
function findRows(context: Context) {
  const { places } = composeBase(context);
  return providers.map((provider) => {
    const keyed = provider !== "replay" && provider !== "local";
    const keys = keyed ? findKeys(provider, { env: context.env, places }).map(({ id }) => id) : [];
    const models = knownModels.filter((model) => model.provider === provider);
    const shown = models.map(({ name, window, maxOutputTokens, price }) => ({
      name,
      window,
      max_output: maxOutputTokens,
      price,
    }));
    return { provider, needs_key: keyed, keys, models: shown };
  });
}

/** The same as text for people. */
export function renderModels(context: Context, inUse: string): string {
  const text = findRows(context).map(({ provider, needs_key, keys, models }) => {
    const key = !needs_key ? "no key needed" : keys.length === 0 ? "no key" : `keys: ${keys.join(", ")}`;
    const lines = models.map(({ name, window, price }) => {
      const cost =
        price === null ? "price unknown" : `${price.input} / ${price.output} USD per million tokens in / out`;
      return `  ${name.padEnd(24)} ${String(Math.round(window / 1000)).padStart(5)}k  ${cost}\n`;
    });
    return `${provider} (${key})\n${lines.join("")}`;
  });
  return `${text.join("")}in use: ${inUse}\n`;
}

export async function modelsCommand(context: Context): Promise<number> {
  const { settings } = composeBase(context);
  return showResult(
    context,
    "models",
    { model: settings.model, providers: findRows(context) },
    renderModels(context, settings.model),
  );
}
