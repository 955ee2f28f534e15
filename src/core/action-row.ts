/** The type of a row in the table of actions: what an action looks like in scripts, plans, prompts and tools. */

/** What a plan must have promised before an action may be done. */
export type Right = "content" | "delete" | "move" | "folder" | "setting" | "command";

/**
 * What follows `NAME::` in a script: a path; a folder, by default the root; a path with a range of lines; two paths; a
 * pattern; a path with a value for it; a word that may be missing; a command; nothing; a path (for FINISH none) with a
 * body; another action; or the target of a planned step.
 */
export type Form =
  | "path"
  | "folder"
  | "lines"
  | "pair"
  | "setting"
  | "pattern"
  | "word"
  | "command"
  | "nothing"
  | "content"
  | "edits"
  | "message"
  | "amendment"
  | "withdrawal";

export interface Row {
  readonly name: string;
  /** Other names that models give it in plans and scripts. */
  readonly aliases: readonly string[];
  readonly kind: "look" | "change" | "command" | "finish" | "amend" | "skip";
  readonly right: Right | null;
  readonly form: Form;
  /** Its name among the tools of the tool-loop; null: it has none. */
  readonly tool: string | null;
  /** False: models are not offered the tool, since another does the same; a call of it still works. */
  readonly offered: boolean;
  /** What the tool does, for the model. */
  readonly about: string;
  /** How the plan prompt lists it; null: plans do not hold it. */
  readonly plan: string | null;
  /** How the script prompt lists it; null: it is not listed, or the prompt shows it with its body. */
  readonly script: string | null;
  /** The execution call shows the file it names, whole, before it can be done. */
  readonly shows: boolean;
  /** Skipped when the reply was cut: the missing part might have reversed it. */
  readonly unsafeWhenCut: boolean;
}
