/** Picks a model if the user chose none: that of the only provider with a key. */
import { PaiError } from "../../core/error.ts";
import { findProvider, type ProviderId, providers, providerTable } from "../../core/providers.ts";
import { providerOfModel } from "../../models/open.ts";
import { configuredAddress } from "../../store/base-url.ts";
import { findKeys } from "../../store/keys.ts";
import type { Context } from "../command.ts";
import type { Base } from "../compose/base.ts";
import { listModels } from "../compose/compose-model.ts";

const pickedOrigin = "the only key";
export const answeredOrigin = "your answer";

/** Whether the first model needs a key and has none; false if its address was set, as that of an own provider is. */
export function lacksKey({ env }: Pick<Context, "env">, { settings, places }: Pick<Base, "settings" | "places">) {
  const [first] = listModels(settings.model);
  const provider = providerOfModel(first, settings.providers);
  if (provider === null || !provider.needsKey || findProvider(provider.id) === null) return false;
  const isMoved = ["PAI_BASE_URL", "OLLAMA_HOST"].some((name) => (env[name] ?? "").trim() !== "");
  if (isMoved || configuredAddress(provider, { settings, origins: {} }).url !== null) return false;
  return findKeys(provider, { env, places }).length === 0;
}

type Pickable = Pick<Base, "settings" | "origins" | "values" | "places">;

/** Sets a model that has a key, unless a flag, a variable or a file sets one; no_key if the keys leave the choice open. */
export function pickModel<B extends Pickable>(context: Pick<Context, "env">, base: B) {
  const unchanged = { base, message: null, problem: null };
  if (base.origins["model"] !== "default" || !lacksKey(context, base)) return unchanged;
  const asked = { env: context.env, places: base.places };
  const keyed = providers.filter((row) => row.needsKey && findKeys(row, asked).length > 0).map(({ id }) => id);
  const [only, ...others] = keyed;
  if (only === undefined) return unchanged;
  const usual = providerTable[only].usualModel;
  if (others.length > 0 || usual === null) return { ...unchanged, problem: manyKeys(keyed) };
  const model = `${only}:${usual}`;
  return {
    base: {
      ...base,
      settings: { ...base.settings, model },
      origins: { ...base.origins, model: pickedOrigin },
      values: { ...base.values, model },
    },
    message: `model: ${model}, as ${only} is the only provider with a key; another: --model, or pai config set model NAME`,
    problem: null,
  };
}

function manyKeys(ids: readonly ProviderId[]): PaiError {
  const choices = ids.map((id) => `pai -m ${id}:${providerTable[id].usualModel ?? "MAKER/MODEL"}`);
  const keys = ids.length === 1 ? `a key for ${ids[0]} is` : `keys for ${ids.join(" and ")} are`;
  return new PaiError("no_key", `no model was chosen; ${keys} set`, {
    hint: `choose one: ${choices.join(" or ")}; for good: pai config set model NAME`,
  });
}
