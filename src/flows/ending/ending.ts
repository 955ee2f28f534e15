/** What a run ends with: its answer, what is remembered and what is committed; written by replies and by the ending. */

import { fence } from "../../core/data-fence.ts";
import { PaiError } from "../../core/error.ts";
import type { ProjectMemory } from "../../core/memory.ts";
import type { Outcome, RefusedAction } from "../../core/outcome.ts";
import type { PlanStep } from "../../core/plan/plan.ts";
import { renderUndone } from "../../core/plan/scope.ts";

/** `unverified`: also where no check has proved the work. `again`: once more after a failure took the work back. */
export interface ThenOptions {
  readonly commands: readonly string[];
  readonly unverified: boolean;
  readonly again: boolean;
}

export interface EndOptions {
  /** JSON Schema of the answer, as text; absent or null: any text. */
  readonly outputSchema?: string | null;
  /** Commit what a verified run changed, with this message or one of the run's own words; absent or null: no. */
  readonly commit?: { readonly message: string | null } | null;
  readonly after?: ThenOptions;
}

export interface RunEnding extends EndOptions {
  readonly memory: ProjectMemory | null;
  readonly after: ThenOptions;
  ranThen: NonNullable<Outcome["then"]>;
  text: string;
  /** How many commands had run and noes had been said before the last words; null: all. */
  heard: { readonly commands: number; readonly noes: number } | null;
  next: readonly string[];
  score: number | null;
  /** What the person said when asked whether the changes stay; absent: nobody was asked. */
  keep?: boolean;
  /** Planned steps that are open at the end, while what was done stays. */
  undone: readonly RefusedAction[];
  open: () => readonly PlanStep[];
  /** Planned steps that the model withdrew and has not done after all; `agreed`: a person said yes. */
  skipped: readonly (RefusedAction & { readonly agreed: boolean })[];
}

/** Takes off the list of steps left out those with these targets, which are planned again or done after all. */
export function takeUp(ending: RunEnding, targets: readonly string[]): void {
  ending.skipped = ending.skipped.filter(({ target }) => !targets.includes(target));
}

/** The failure of a run whose every step the model has left out; notices told the reasons. */
export const leftOutAll = ({ skipped }: Readonly<RunEnding>): PaiError =>
  new PaiError("nothing_done", `the model left out every step: ${skipped.map(renderUndone).join(", ")}`);

export interface EndPorts {
  /** Facts about the project from earlier runs; null or absent: none are shown or learned. */
  readonly memory?: ProjectMemory | null;
}

export function createEnding({ outputSchema, commit, after }: EndOptions, ports: EndPorts): RunEnding {
  return {
    outputSchema: outputSchema ?? null,
    commit: commit ?? null,
    after: after ?? { commands: [], unverified: false, again: false },
    ranThen: [],
    memory: ports.memory ?? null,
    text: "",
    heard: null,
    next: [],
    score: null,
    undone: [],
    open: () => [],
    skipped: [],
  };
}

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
