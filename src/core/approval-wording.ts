/** The wording of every question that asks a person for approval, in a run and in other commands. */
import type { SandboxState } from "./command/sandbox.ts";
import type { Question } from "./question.ts";

const lines = (...texts: readonly string[]): string => texts.join("\n");

/** A command with each of its lines marked, so that none can pass for pai's own words. */
const quoteCommand = (command: string): string =>
  command
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => `│ ${line}`)
    .join("\n");

/** The sandbox of commands in `root`, in brackets: whoever approves a command must know what confines it. */
export const sandboxWording = (root: string, { level, why }: Pick<SandboxState, "level" | "why">): string =>
  level === null ? `(in ${root}, not sandboxed${why === null ? "" : `: ${why}`})` : `(in ${root}, sandbox ${level})`;

const reason = (why: string): string => (why === "" ? "no reason given" : why);
const rest = "Yes allows it; no leaves it out, and the rest goes on";

/** Questions of a run; those of the change guard have the words of its verdict. `sandbox`: see `sandboxWording`. */
export const approvalWording = {
  withFaults: (question: string, faults: readonly string[]): string =>
    lines(question, ...faults.map((each) => `Not in the diff: ${each.split("\n", 1)[0]}`)),
  plan: (
    deletes: readonly string[],
    concerns: readonly string[],
    commands: readonly string[],
    sandbox: string,
  ): string =>
    lines(
      "Carry out this plan?",
      ...(deletes.length > 0 ? [`It deletes: ${deletes.join(", ")}`] : []),
      ...(concerns.length > 0 ? [`It changes what needs a yes of its own: ${concerns.join(", ")}`] : []),
      ...[...new Set(commands)].map((command) => `It runs ${sandbox}:\n${quoteCommand(command)}`),
    ),

  changes: (of: "plan" | "command", changes: readonly string[], ended = ""): string =>
    lines(
      of === "plan" ? "Apply these changes?" : `Apply what the command changed?${ended === "" ? "" : ` (${ended})`}`,
      ...changes,
    ),

  unallowed: (reasons: ReadonlyMap<string, string>): string =>
    lines(
      "Change these, too? A yes to the rest is not a yes to this:",
      ...[...reasons].map(([path, why]) => `${path}: ${why}`),
    ),

  secret: (path: string, names: string): string =>
    lines("Write a secret to another file?", `${path} would hold the value of ${names}`),

  command: (command: string, sandbox: string): string => lines("Run this command?", quoteCommand(command), sandbox),

  checkOutside: (command: string): string =>
    lines("This check needs your rights:", quoteCommand(command), "Run this check without the sandbox?"),

  /** `cost` in USD; null: unknown. */
  hugeRequest: (tokens: number, cost: number | null): string =>
    `This request has about ${tokens.toLocaleString("en")} tokens${cost === null ? "" : ` ($${cost.toFixed(2)} or more)`}. Send it?`,

  showOutside: (path: string): string =>
    `Show the model ${JSON.stringify(path)}, which lies outside the project? (until the session ends, and never changed)`,

  /** For a command of the model. `wall`: how the sandbox stopped it. */
  commandOutside: (command: string, wall: string, root: string): string =>
    lines(
      `This command failed (${wall}):`,
      quoteCommand(command),
      `Run it once without the sandbox? (in ${root}, with your rights)`,
    ),

  /** Put before a question that is asked again; "": no file was changed. */
  changedMeanwhile: (files: readonly string[]): string =>
    files.length === 0 ? "" : `${files.join(", ")} was changed since you were asked\n`,

  lostFiles: (paths: readonly string[]): string =>
    lines("Let the command delete this? It is ignored, and cannot be restored:", ...paths),

  beyondPlan: (what: string): string => lines(`Not in the plan: ${what}`, rest),

  /** For a model that asks with AMEND. `wishes`: texts made by `wish` and `wishToRun`. */
  amendments: (wishes: readonly string[]): string =>
    lines(
      wishes.length === 1 ? "The model asks for one thing beyond the plan:" : "The model asks for more than the plan:",
      ...wishes,
      rest,
    ),

  wish: (action: string, target: string, why: string, concern: string | null): string =>
    `- ${action} ${target}: ${reason(why)}${concern === null ? "" : ` (${concern})`}`,

  wishToRun: (action: string, command: string, why: string, sandbox: string): string =>
    lines(`- ${action} ${sandbox}: ${reason(why)}`, quoteCommand(command)),

  /** `steps`: each with the model's reason. `isLast`: no call is left. */
  skips: (steps: readonly string[], isLast: boolean): string =>
    lines(
      "The model wants to leave out of the plan:",
      ...steps.map((step) => `- ${step}`),
      `Yes leaves it out; ${isLast ? "after a no it is told as not done, since no call is left" : "no asks the model to do it"}`,
    ),

  /** `others`: files that somebody else has changed since; "": none. `isAll`: it changed no others. */
  keepFailed: (failure: string, others: string, isAll: boolean): string => {
    const stays = isAll
      ? `nothing is taken back, since somebody else changed ${others}`
      : `it is taken back, but for what somebody else changed since: ${others}`;
    const back = others === "" ? "everything is taken back" : stays;
    return lines(`The run failed: ${failure}`, `Keep what it changed so far? (no: ${back})`);
  },
};

export const commandWording = {
  /** `what`: a sentence that says who sends which key to which address. */
  sendKey: (what: string): string => lines(what, "Send the key there?"),
  trust: "Trust this as it is?",
  startServer: (kind: "address" | "program"): string =>
    `${kind === "address" ? "Connect to" : "Start"} this server of the project, to see its tools?`,
  callTools: (tools: string, server: string): string => `Let pai call these ${tools} of ${server}?`,
  reverse: (kind: "undo" | "redo", run: string, task: string): string =>
    `${kind === "undo" ? "Take back" : "Bring back"} run ${run}: ${task}`,
  rewind: (runs: string, paths: string): string => `Take back ${runs}: ${paths}?`,
  merge: (paths: string): string =>
    `Changed since, but not in these lines: ${paths}. Keep that, and change what is shown above?`,
  uninstall: "Remove all of this? There is no undo",
};

const verbs: Readonly<Record<Question["kind"], string>> = {
  plan: "apply? ",
  batch: "apply? ",
  changes: "go on? ",
  scope: "allow? ",
  amend: "allow? ",
  command: "run? ",
  keep: "keep? ",
};

export const takesWords = ({ kind, takesWords: takes }: Question): boolean =>
  kind === "plan" || (kind === "batch" && takes !== false);

/** Whether a yes may ask to see the changes before they are applied: a plan without its work that changes something. */
export const takesReview = ({ kind, diff, commands }: Question): boolean =>
  kind === "plan" && diff === undefined && commands === undefined;

/** What `a` allows for the rest of the session; null: this question takes none. */
const alwaysOf = ({ kind, folder = null, commands = [], isConfined = false }: Question): string | null => {
  if (isConfined && commands.length > 0) return commands.length === 1 ? "this command" : "these commands";
  return kind !== "batch" || folder === null ? null : `below ${folder}/; plans still ask`;
};

export const takesAlways = (question: Question): boolean => alwaysOf(question) !== null;

export function answerPrompt(question: Question): string {
  const kind = question.commands === undefined ? question.kind : "command";
  if (takesReview(question)) return "y, n, d (show the diff before applying), or say what to change: ";
  const always = alwaysOf(question);
  const keys = ["y", "n", ...(always === null ? [] : [`a (always ${always})`])];
  if (takesWords(question)) return `${verbs[kind]}${keys.join(", ")}, or say what to change: `;
  return `${verbs[kind]}${keys.slice(0, -1).join(", ")} or ${keys.at(-1)}: `;
}

export function explainKeys(question: Question): string {
  const always = alwaysOf(question);
  return lines(
    "y  yes",
    "n  no (Escape, too)",
    takesReview(question) ? "d  yes, and show the diff before it is applied" : "d  show all of it again, with its diff",
    ...(always === null ? [] : [`a  yes, and always in this session: ${always} (/allow lists and drops)`]),
    ...(takesWords(question) ? ["or say in words what to change (a single word: f WORD)"] : []),
    "Ctrl+C stops the task",
  );
}

export const answerRule = (question: Question): string =>
  takesWords(question)
    ? "answer y or n, or say what to change (a single word: f WORD); ? explains the keys"
    : "answer y or n alone: this question takes no other words, say them once it is answered; ? explains the keys";
