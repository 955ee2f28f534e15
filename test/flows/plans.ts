/** Plans, schedules, verdicts and scripts as a model would write them. */
import type { Plan, PlanStep } from "../../src/core/plan/plan.ts";

export interface PlanParts {
  /** "WRITE a.py", "MV a -> b", "RUN make". */
  readonly steps?: readonly string[];
  readonly complexity?: "simple" | "moderate" | "complex";
  readonly checks?: readonly string[];
  readonly read?: readonly string[];
  readonly reply?: string;
  readonly intent?: "task" | "conversation";
  /** Purpose of every step. */
  readonly purpose?: string;
}

function stepOf(text: string, at: number, purpose: string): PlanStep {
  const [, action = "", rest = ""] = /^(\S+) ?(.*)$/s.exec(text) ?? [];
  const [target = "", destination = null] = ["MV", "COPY", "SEARCH", "LINK", "MODE"].includes(action)
    ? rest.split(" -> ")
    : [rest];
  return {
    step_number: at + 1,
    action: action as PlanStep["action"],
    target,
    destination,
    purpose,
    depends_on: [],
    expected_outcome: "",
  };
}

/** A plan as a model would write it. */
export function planOf({ steps = [], complexity = "simple", checks = [], read = [], ...rest }: PlanParts): Plan {
  const { reply = "I will do it.", intent = "task", purpose = "" } = rest;
  return {
    intent,
    reply,
    analysis: {
      user_intent: "",
      target_identification: "",
      files_to_read: read,
      files_to_create: [],
      files_to_modify: [],
      files_to_delete: [],
      risk_assessment: "",
      success_criteria: [],
    },
    execution_plan: { steps: steps.map((text, at) => stepOf(text, at, purpose)), checks, fallback_strategies: [] },
    intelligence_notes: {
      complexity_assessment: complexity,
      estimated_time: "",
      key_challenges: [],
      recommendations: [],
    },
  };
}

export const plan = (parts: PlanParts): string => JSON.stringify(planOf(parts));
/** A simple plan of these steps alone. */
export const planTo = (...steps: readonly string[]): string => plan({ steps });

interface ScheduleParts {
  /** Titles. */
  readonly steps?: readonly string[];
  readonly create?: readonly string[];
  readonly modify?: readonly string[];
  readonly remove?: readonly string[];
  readonly run?: readonly string[];
  readonly mode?: "task" | "chat";
  readonly complexity?: "simple" | "moderate" | "complex";
}

/** The schedule of eight-step. */
export const schedule = ({
  steps = ["Write it"],
  create = [],
  modify = [],
  remove = [],
  run = [],
  ...rest
}: ScheduleParts): string =>
  JSON.stringify({
    mode: rest.mode ?? "task",
    complexity: rest.complexity ?? "simple",
    reply: "On it.",
    steps: steps.map((title) => ({ title, hint: "" })),
    scope: {
      files_to_read: [],
      files_to_create: create,
      files_to_modify: modify,
      files_to_delete: remove,
      commands: run,
    },
  });
/** What eight-step is told of a step. */
export const verdict = (
  passed = true,
  quality_score: number | null = 8,
  reasons: readonly string[] = [],
  next_fix: readonly string[] = [],
): string => JSON.stringify({ passed, quality_score, reasons, next_fix });

export const talk = (reply: string): string =>
  JSON.stringify({ intent: "conversation", reply, analysis: null, execution_plan: null, intelligence_notes: null });
export const write = (path: string, text: string): string => `WRITE::${path}::EOT\n${text}END::EOT\n`;
export const modify = (path: string, ...blocks: readonly (readonly [search: string, replace: string])[]): string =>
  `MODIFY::${path}::EOT\n${blocks.map(([a, b]) => `<<<<<<< SEARCH\n${a}=======\n${b}>>>>>>> REPLACE\n`).join("")}END::EOT\n`;
export const finish = (text = "Done."): string => `FINISH::EOT\n${text}\nEND::EOT\n`;
