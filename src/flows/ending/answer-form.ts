/** What the model is told about its closing message: the form of the answer (--output-schema), and facts to add. */

import { fence } from "../../core/data-fence.ts";
import type { RunEnding } from "./ending.ts";

/** The required form of the answer, for the model. */
export const describeSchema = (schema: string): string =>
  `The answer must be one JSON value of this JSON Schema, and nothing else: no words, no fence.\n${fence("schema", {}, schema)}`;

/** The instruction about the form of the answer; "": any form will do. */
export const renderAnswerForm = ({ outputSchema }: Readonly<RunEnding>): string =>
  outputSchema == null
    ? ""
    : `Your last message to the user (the reply where nothing is to be done, the FINISH message, the summary) is the answer. ${describeSchema(outputSchema)}`;

/** Asks the model for facts worth keeping; "": this run keeps none. */
export const renderLearning = (ending: Readonly<RunEnding>): string =>
  (ending.memory?.learn ?? null) === null || ending.outputSchema != null
    ? ""
    : "If later work in this project would need to know it (how to build or test, a convention, a decision), add to your " +
      "closing message up to 3 lines `REMEMBER: one fact`. Usually none.";
