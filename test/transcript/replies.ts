/** What the scripted model says in these tests: plans and action scripts. */
import type { PlanAction } from "../../src/core/vocabulary.ts";
import { event, parts } from "../models/gemini/gemini-wire.ts";
import type { Answer } from "./gemini.ts";

export interface PlanOptions {
  readonly reply?: string;
  readonly checks?: readonly string[];
}

type Step = readonly [action: PlanAction, target: string, destination?: string];

export function planned(steps: readonly Step[], { reply = "I will do it.", checks = [] }: PlanOptions = {}): Answer {
  const plan = {
    intent: "task",
    reply,
    analysis: null,
    execution_plan: {
      steps: steps.map(([action, target, destination], at) => ({
        step_number: at + 1,
        action,
        target,
        destination: destination ?? null,
        purpose: "as asked",
        depends_on: [],
        expected_outcome: "",
      })),
      checks,
      fallback_strategies: [],
    },
    intelligence_notes: {
      complexity_assessment: "simple",
      estimated_time: "",
      key_challenges: [],
      recommendations: [],
    },
  };
  return { text: JSON.stringify(plan) };
}

export function talked(reply: string): Answer {
  const plan = { intent: "conversation", reply, analysis: null, execution_plan: null, intelligence_notes: null };
  return { text: JSON.stringify(plan) };
}

export const write = (path: string, text: string) => `WRITE::${path}::EOT\n${text}END::EOT\n`;
export const modify = (path: string, search: string, replace: string) =>
  `MODIFY::${path}::EOT\n<<<<<<< SEARCH\n${search}=======\n${replace}>>>>>>> REPLACE\nEND::EOT\n`;

export function done(actions: string, message = "Done.", next: readonly string[] = []): Answer {
  const lines = [message, ...next.map((step) => `NEXT: ${step}`)];
  return { text: `${actions}FINISH::EOT\n${lines.join("\n")}\nEND::EOT\n` };
}

type Call = readonly [name: string, args: object];

/** A reply of tool-loop that makes these calls. */
export const called = (...calls: readonly Call[]): Answer => ({
  headers: { "content-type": "text/event-stream" },
  body: event(parts(calls.map(([name, args]) => ({ functionCall: { name, args } })))),
});
/** A reply of tool-loop that makes no call: the end of its turn. */
export const says = (text: string): Answer => ({ text });

export const writeCall = (path: string, content: string): Call => ["write", { path, content }];

/** A task of two calls that makes `hello.txt`. */
export const hello: readonly Answer[] = [planned([["WRITE", "hello.txt"]]), done(write("hello.txt", "hello\n"))];
