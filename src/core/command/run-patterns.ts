/** Which commands may run without a question: all of them, or those that match a pattern as a whole. Pure. */
import { quoteForShell } from "./quote.ts";

/** true: all commands. false: none. A list: those that match one of its patterns. */
export type RunGrant = boolean | readonly string[];

/** Characters with which one command line can run several commands: a command with one of these matches no pattern. */
const joins = /[;&|<>$()`\n\r]/;

export const isJoined = (command: string): boolean => joins.test(command);

/** `*` stands for any text; everything else for itself. A command may be spelled with its action, as plans show it. */
function matches(pattern: string, command: string): boolean {
  const parts = pattern
    .trim()
    .replace(/^RUN\s+/, "")
    .split("*");
  const [first = "", ...others] = parts;
  if (others.length === 0) return command === first;
  const last = others.pop() ?? "";
  if (!command.startsWith(first)) return false;
  let rest = command.slice(first.length);
  for (const part of others) {
    const at = rest.indexOf(part);
    if (at === -1) return false;
    rest = rest.slice(at + part.length);
  }
  return rest.endsWith(last);
}

/** The first pattern that the whole command matches; null: none does, or all commands are granted or none. */
export function patternOf(grant: RunGrant, command: string): string | null {
  const text = command.trim();
  if (typeof grant === "boolean" || isJoined(text)) return null;
  return grant.find((pattern) => matches(pattern, text)) ?? null;
}

export const grantsRun = (grant: RunGrant, command: string): boolean =>
  typeof grant === "boolean" ? grant : patternOf(grant, command) !== null;

export const grantsSome = (grant: RunGrant): boolean => (typeof grant === "boolean" ? grant : grant.length > 0);

/** The flag that would grant a command: for one that no pattern can match, the one that grants all. */
export const flagToRun = (command: string): string =>
  isJoined(command) || command.includes("*") ? "--allow-run" : `--allow-run=${quoteForShell(command.trim())}`;

export const flagsToRun = (commands: readonly string[]): string => {
  const flags = [...new Set(commands.map(flagToRun))];
  return flags.includes("--allow-run") ? "--allow-run" : flags.join(" ");
};

export const whyNotRun = (grant: RunGrant): string =>
  typeof grant === "boolean"
    ? "where nobody is asked, commands of the model run only with --allow-run"
    : `no pattern of --allow-run permits it; permitted: ${grant.join(", ")}`;

export interface Permitted {
  readonly command: string;
  readonly pattern: string;
}

export const permittedBy = (grant: RunGrant, commands: readonly string[]): readonly Permitted[] =>
  [...new Set(commands)].flatMap((command) => {
    const pattern = patternOf(grant, command);
    return pattern === null ? [] : [{ command, pattern }];
  });
