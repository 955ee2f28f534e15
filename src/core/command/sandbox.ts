/** The sandbox of commands as values: levels, what a person asked for, and what was found to work here. Pure. */

/**
 * From the strongest to the weakest. L3: an own world of mounts, processes and network. L3b: the same, made by bwrap.
 * L2: writes only in the project, nothing hidden is read, no network. L1: no network; files are not protected.
 */
export const sandboxLevels = ["L3", "L3b", "L2", "L1"] as const;
export type SandboxLevel = (typeof sandboxLevels)[number];

/** `auto`: the best there is. A level: at least this one, or commands do not run. `off`: none. */
export const sandboxChoices = ["auto", "L3", "L2", "L1", "off"] as const;
export type SandboxChoice = (typeof sandboxChoices)[number];

const strength: Readonly<Record<SandboxChoice | "L3b", number>> = { off: 0, L1: 1, auto: 2, L2: 3, L3b: 4, L3: 4 };

/** The stricter of two wishes. */
export const stricterChoice = (a: SandboxChoice, b: SandboxChoice): SandboxChoice =>
  strength[b] > strength[a] ? b : a;

/** Whether a level is at least what was asked for. null: none holds. */
export function isEnough(level: SandboxLevel | null, choice: SandboxChoice): boolean {
  if (choice === "off" || choice === "auto") return true;
  return level !== null && strength[level] >= strength[choice];
}

/** Whether what a model wrote may run at this level without a person who says yes to it. */
export const holdsUnasked = (level: SandboxLevel | null, choice: SandboxChoice): boolean =>
  choice === "off" || (level !== null && strength[level] >= (choice === "L1" ? strength.L1 : strength.L2));

export interface SandboxState {
  /** null: none holds. */
  readonly level: SandboxLevel | null;
  readonly choice: SandboxChoice;
  /** One line for people: what holds, without a name before it. */
  readonly text: string;
  /** Why it is not L3 with copies, and what would mend that; null: it is, or none is wanted. */
  readonly why: string | null;
  /** Commands work on a copy, and what they change comes back as a proposal. */
  readonly proposes: boolean;
}

/** What a command prints that the sandbox stopped, and the way out, in order. */
const walls: readonly (readonly [RegExp, string])[] = [
  [
    /Network is unreachable|Temporary failure in name resolution|Could not resolve host|ENETUNREACH|EAI_AGAIN|getaddrinfo|Address family not supported/i,
    "the network is off (--allow-net)",
  ],
  [/\.git\/[^\n]*(?:Read-only file system|Permission denied)/i, ".git is read-only (--allow-git)"],
  [/Read-only file system|EROFS/i, "only the project can be written (--allow-write PATH)"],
];

/** A line on why a command that failed may have failed, when its output looks like a wall of the sandbox; else null. */
export function explainWall(level: SandboxLevel | null, exit: number | null, output: string): string | null {
  if (level === null || exit === 0) return null;
  const wall = walls.find(([said]) => said.test(output));
  return wall === undefined ? null : `perhaps the sandbox: ${wall[1]}`;
}
