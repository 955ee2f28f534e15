/** Who answers a question: the person at the terminal, or the policy of a run without one. */
import type { Decide, Decision, Question } from "../core/ports.ts";
import type { Prompter } from "../ui/prompt.ts";

/** Headless: `-y` approves a plan, or a batch where there is none; it never widens what was promised. */
export function decideByPolicy(yes: boolean): Decide {
  return async ({ kind }) =>
    (kind === "plan" || kind === "batch") && yes
      ? { accept: true, by: "policy", reason: "-y" }
      : { accept: false, by: "policy", reason: "nobody can be asked", feedback: null };
}

/** Asks the person, one question at a time. */
export function decideByAsking(prompter: () => Promise<Prompter>): Decide {
  return async (question: Question): Promise<Decision> => {
    const answer = await (await prompter()).ask(question);
    if (answer === "yes") return { accept: true, by: "user", reason: "yes" };
    if (answer === "no") return { accept: false, by: "user", reason: "no", feedback: null };
    return { accept: false, by: "user", reason: "feedback", feedback: answer.feedback };
  };
}
