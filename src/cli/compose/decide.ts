/** Answers a run's questions: the user at the terminal, or the policy of a run without one. */
import { grantsRun } from "../../core/command/run-patterns.ts";
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

/** What the person has allowed for the rest of the session. */
export interface Allowed {
  readonly kind: "folder" | "command" | "pattern";
  readonly what: string;
}

export interface Asking {
  readonly decide: Decide;
  /** Everything allowed so far, oldest first. */
  readonly allowed: () => readonly Allowed[];
  /** Allows commands in the sandbox that match a pattern, as --allow-run=PATTERN does. */
  readonly allowPattern: (pattern: string) => void;
  /** Drops what was allowed, counted from 0. */
  readonly drop: (at: number) => void;
  /** Forgets every `a`, so that its subject is asked about again. */
  readonly forget: () => void;
}

/** Asks the user, one question at a time. An `a` to a batch also answers later ones below the same folder. */
export function decideByAsking(prompter: () => Promise<Prompter>): Asking {
  let allowed: readonly Allowed[] = [];

  /** What an `a` to this question allows; null: nothing. */
  const subjectOf = ({ command, folder = null }: Question): Allowed | null =>
    command !== undefined
      ? { kind: "command", what: command }
      : folder === null
        ? null
        : { kind: "folder", what: folder };

  const covers = ({ kind, what }: Allowed, subject: Allowed) =>
    subject.kind === "folder"
      ? kind === "folder" && isBelow(subject.what, what)
      : (kind === "command" && what === subject.what) || (kind === "pattern" && grantsRun([what], subject.what));

  async function decide(question: Question): Promise<Decision> {
    const subject = subjectOf(question);
    if (subject !== null && allowed.some((each) => covers(each, subject)))
      return { accept: true, by: "user", reason: "allowed earlier in this session" };
    const answer = await (await prompter()).ask(question);
    if (answer === "always") {
      if (subject !== null) allowed = [...allowed, subject];
      return { accept: true, by: "user", reason: "yes, from now on" };
    }
    if (answer === "yes") return { accept: true, by: "user", reason: "yes" };
    if (answer === "review") return { accept: true, by: "user", reason: "yes, after the diff", review: true };
    if (answer === "no") return { accept: false, by: "user", reason: "no", feedback: null };
    return { accept: false, by: "user", reason: "feedback", feedback: answer.feedback };
  }

  return {
    decide,
    allowed: () => allowed,
    allowPattern(pattern) {
      allowed = [...allowed, { kind: "pattern", what: pattern }];
    },
    drop(at) {
      allowed = allowed.filter((_, index) => index !== at);
    },
    forget() {
      allowed = [];
    },
  };
}
