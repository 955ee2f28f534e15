/** When the default model is no longer served: offers its successor, for this session and for good. */

import type { Outcome } from "../../core/outcome.ts";
import { readAnswer } from "../../ui/prompt/read-answer.ts";
import { composeModel, withModel } from "../compose/compose-model.ts";
import { writeSetting } from "../config/settings.ts";
import { readLineOf } from "../onboard/choose-model.ts";
import { type Talk, tell } from "./talk.ts";

/** Whether the session now has the successor of its model, which its server refused as unknown, after the user's yes. */
export async function takeSuccessor(talk: Talk, { error }: Pick<Outcome, "error">): Promise<boolean> {
  const { context, composed, view } = talk;
  const { base } = composed;
  const next = talk.model === undefined && error?.code === "model_unknown" ? composed.successor() : null;
  if (next === null) return false;
  const said = await readLineOf(view)(`use ${next} instead of ${base.settings.model}, from now on? y or n: `);
  if (readAnswer(said, { feedback: false }) !== "yes") return false;
  talk.model = await composeModel(context, withModel(base, next), view);
  if (base.places.configDir === null) return true;
  tell(
    talk,
    "model_saved",
    `saved in ${writeSetting(base.places, "model", next)}; another one: pai config put model NAME`,
  );
  return true;
}
