/** The sandbox of commands as values: levels, the user's choice, and what works on this machine. Pure. */

/**
 * From the strongest to the weakest. L3: own namespaces of mounts, processes and network. L3b: the same, made by bwrap.
 * L2: writes only in the project, nothing hidden is read, no network. L1: no network; files are not protected.
 */
export const sandboxLevels = ["L3", "L3b", "L2", "L1"] as const;
export type SandboxLevel = (typeof sandboxLevels)[number];

/** `auto`: the best that works. A level: at least this one, or commands do not run. `off`: no sandbox. */
export const sandboxChoices = ["auto", "L3", "L2", "L1", "off"] as const;
export type SandboxChoice = (typeof sandboxChoices)[number];

const strength: Readonly<Record<SandboxChoice | "L3b", number>> = { off: 0, L1: 1, auto: 2, L2: 3, L3b: 4, L3: 4 };

/** The stricter of two choices. */
export const stricterChoice = (a: SandboxChoice, b: SandboxChoice): SandboxChoice =>
  strength[b] > strength[a] ? b : a;

/** Whether a level is at least as strong as the choice. `level` null: no sandbox works. */
export function isEnough(level: SandboxLevel | null, choice: SandboxChoice): boolean {
  if (choice === "off" || choice === "auto") return true;
  return level !== null && strength[level] >= strength[choice];
}

/** Whether a command that a model wrote may run at this level without a person's yes. */
export const holdsUnasked = (level: SandboxLevel | null, choice: SandboxChoice): boolean =>
  choice === "off" || (level !== null && strength[level] >= (choice === "L1" ? strength.L1 : strength.L2));

export interface SandboxState {
  /** null: no sandbox works. */
  readonly level: SandboxLevel | null;
  readonly choice: SandboxChoice;
  /** One line for people: what confines commands, without a label before it. */
  readonly text: string;
  /** Why the sandbox is not L3 with copies, and how to get that; null: it is, or the choice is `off`. */
  readonly why: string | null;
  /** Commands work on a copy, and their changes come back as a proposal. */
  readonly proposes: boolean;
}

/** What a command prints when the sandbox stopped it, with the explanation; the first match counts. */
const walls: readonly (readonly [RegExp, string])[] = [
  [
    /Network is unreachable|Temporary failure in name resolution|Could not resolve host|ENETUNREACH|EAI_AGAIN|getaddrinfo|Address family not supported/i,
    "the network is off (--allow-net)",
  ],
  [/\.git\/[^\n]*(?:Read-only file system|Permission denied)/i, ".git is read-only (--allow-git)"],
  [/Read-only file system|EROFS/i, "only the project can be written (--allow-write PATH)"],
];

/** One line on how the sandbox may have made a command fail, judged by its output; null: nothing hints at that. */
export function explainWall(level: SandboxLevel | null, exit: number | null, output: string): string | null {
  if (level === null || exit === 0) return null;
  const wall = walls.find(([said]) => said.test(output));
  return wall === undefined ? null : `perhaps the sandbox: ${wall[1]}`;
}
