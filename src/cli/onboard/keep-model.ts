/** After the first success with a model chosen at the terminal, offers to make it the default. */

import type { Outcome } from "../../core/outcome.ts";
import { providerTable } from "../../core/providers.ts";
import type { Context } from "../command.ts";
import type { Base } from "../compose/base.ts";
import { writeSetting } from "../config/settings.ts";
import { openLog } from "../open-log.ts";
import { answeredOrigin } from "./pick-model.ts";

/** Asks only once for each `base`, whatever the answer. */
const asked = new WeakSet<Base>();

/** After a yes, writes the model, and its server's address if it is not the default, into config.json. */
export async function offerToKeep(
  context: Context,
  base: Base,
  { ok }: Pick<Outcome, "ok">,
  readLine: (question: string) => Promise<string | null>,
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
