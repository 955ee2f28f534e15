/** What to do when a server does not know the model, or no longer serves it: its successor, or names that are near. */
import { PaiError, toPaiError } from "../../core/error.ts";
import type { Model } from "../../core/model.ts";
import type { Provider } from "../../core/providers.ts";
import { providerOfModel } from "../../models/open.ts";
import { findSuccessor, namedSuccessor, namesOnOffer, nearNames } from "../../models/successor.ts";
import type { Base } from "./base.ts";
import { findKeptList } from "./model-facts.ts";
import { findServerModels } from "./server-models.ts";

/** The model, whose refusal as unknown says what to do. Of a default model, which ends one day, its server is asked. */
export function adviseUnknown(model: Model, base: Base, { isDefault }: { readonly isDefault: boolean }) {
  /** What to use instead of a default model that its server refused, as `provider:name`; null: it did not. */
  let successor: string | null = null;
  const row = providerOfModel(model.id, base.settings.providers);
  const advise = async (error: PaiError, signal: AbortSignal): Promise<PaiError> => {
    if (row === null) return error;
    const { provider, name } = model;
    const day = base.context.now().toISOString().slice(0, 10);
    const listed = (isDefault ? await askList(row, base, signal) : null) ?? findKeptList(row, base);
    const next = findSuccessor({ provider, name, said: error.message }, listed, day);
    const near = nearNames(name, namesOnOffer(provider, listed, day));
    const all = `all of them: pai models --online ${provider}`;
    // What the catalogue alone knows is a guess.
    const isTold = listed !== null || namedSuccessor(error.message) === next;
    if (next !== null && isDefault && isTold) {
      successor = `${provider}:${next}`;
      return withHint(error, `use its successor: pai config set model ${successor}`);
    }
    const names = [...new Set([...(next === null ? [] : [next]), ...near])].filter((each) => each !== name).slice(0, 3);
    const [last, ...others] = names.map((each) => `${provider}:${each}`).toReversed();
    if (last === undefined) return withHint(error, `choose another one with --model or PAI_MODEL; ${all}`);
    const listing = others.length === 0 ? last : `${others.toReversed().join(", ")} or ${last}`;
    return withHint(error, `did you mean ${listing}? ${all}`);
  };
  const stream: Model["stream"] = async function* (request, signal, refit) {
    try {
      yield* model.stream(request, signal, refit);
    } catch (thrown) {
      const error = toPaiError(thrown);
      throw error.code === "model_unknown" ? await advise(error, signal) : thrown;
    }
  };
  return { model: { ...model, stream }, successor: () => successor };
}

/** The error with this hint before what else its own one says to do: "…, or turn on billing …". */
function withHint({ code, message, cause, hint: own }: PaiError, hint: string): PaiError {
  const other = /, (or .+)$/.exec(own ?? "")?.[1];
  return new PaiError(code, message, { hint: other === undefined ? hint : `${hint}, ${other}`, cause });
}

async function askList(row: Provider, base: Base, signal: AbortSignal) {
  const asking = { ...base, context: { ...base.context, signal } };
  const list = await findServerModels(row, asking, { fresh: true }).catch(() => null);
  signal.throwIfAborted();
  return list?.models ?? null;
}
