/** Answers a run's questions: the user at the terminal, or the policy of a run without one. */
import type { Decide, Decision, Question } from "../../core/question.ts";
import type { Prompter } from "../../ui/prompt/prompt.ts";

/** Without a terminal: `-y` approves plans, amendments and batches without a plan; it never widens budget or policy. */
export function decideByPolicy(yes: boolean): Decide {
  return async ({ kind }) =>
    yes && ["plan", "amend", "batch"].includes(kind)
      ? { accept: true, by: "policy", reason: "-y" }
      : { accept: false, by: "policy", reason: "nobody can be asked", feedback: null };
}

const isBelow = (folder: string, allowed: string) =>
  allowed === "" || folder === allowed || folder.startsWith(`${allowed}/`);

export interface Asking {
  readonly decide: Decide;
  /** Forgets every `a`, so that its subject is asked about again. */
  readonly forget: () => void;
}

/** Asks the user, one question at a time. An `a` to a batch also answers later ones below the same folder. */
export function decideByAsking(prompter: () => Promise<Prompter>): Asking {
  let allowed: readonly string[] = [];

  async function decide(question: Question): Promise<Decision> {
    const { folder = null } = question;
    if (folder !== null && allowed.some((each) => isBelow(folder, each)))
      return { accept: true, by: "user", reason: "allowed earlier in this session" };
    const answer = await (await prompter()).ask(question);
    if (answer === "always") {
      if (folder !== null) allowed = [...allowed, folder];
      return { accept: true, by: "user", reason: "yes, from now on" };
    }
    if (answer === "yes") return { accept: true, by: "user", reason: "yes" };
    if (answer === "review") return { accept: true, by: "user", reason: "yes, after the diff", review: true };
    if (answer === "no") return { accept: false, by: "user", reason: "no", feedback: null };
    return { accept: false, by: "user", reason: "feedback", feedback: answer.feedback };
  }

  return {
    decide,
    forget() {
      allowed = [];
    },
  };
}
