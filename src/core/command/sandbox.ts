/** The sandbox of commands as values: levels, the user's choice, and what works on this machine. Pure. */

/**
 * From the strongest to the weakest. `full`: own mounts, processes and network. `writes`: writes only in the project, no
 * network.
 */
export const sandboxLevels = ["full", "writes"] as const;
export type SandboxLevel = (typeof sandboxLevels)[number];

/** What a command ran in; `off`: none. */
export type SandboxUse = SandboxLevel | "off";

/** `auto`: the best that works. A level: at least this one, or commands do not run. `off`: no sandbox. */
export const sandboxChoices = ["auto", "full", "writes", "off"] as const;
export type SandboxChoice = (typeof sandboxChoices)[number];

const strength: Readonly<Record<SandboxChoice, number>> = { off: 0, auto: 1, writes: 2, full: 3 };

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
  choice === "off" || level !== null;

export interface SandboxState {
  /** null: no sandbox works. */
  readonly level: SandboxLevel | null;
  readonly choice: SandboxChoice;
  /** One line for people: what confines commands, without a label before it. */
  readonly text: string;
  /** Why the sandbox is not full with copies, and how to get that; null: it is, or the choice is `off`. */
  readonly why: string | null;
  /** Commands work on a copy, and their changes come back as a proposal. */
  readonly proposes: boolean;
}

/** What of a command's answers is about the sandbox and not about the machine, for the model; null: nothing. */
export function tellOwn(level: SandboxLevel | null, network: boolean): string | null {
  if (level !== "full") return null;
  return `(in a sandbox: processes, /tmp${network ? " and /run" : ", /run and network"} are its own)`;
}

/** What a command prints when the sandbox stopped it, with the explanation; the first match counts. */
const walls: readonly (readonly [RegExp, string])[] = [
  [
    /Network is unreachable|Temporary failure in name resolution|Could not resolve host|ENETUNREACH|EAI_AGAIN|getaddrinfo|Address family not supported/i,
    "the network is off (--allow-net)",
  ],
  [
    /Failed to connect to (?:system scope |user scope )?bus|not been booted with systemd/i,
    "the system bus is out of reach",
  ],
  [/\.git\/[^\n]*(?:Read-only file system|Permission denied)/i, ".git is read-only (--allow-git)"],
  [/: Read-only file system|\bEROFS: |\[Errno 30\]/i, "only the project can be written (--allow-write PATH)"],
];

/** How programs say that a path cannot be written, or is not there. */
const denied = /Permission denied|Operation not permitted|\bEACCES: |\bEPERM: |\[Errno 13\]|\[Errno 1\]/;
const missing = /No such file or directory|\bENOENT: |\[Errno 2\]/;
const absolute = /(?:^|[\s'"`(=:])(\/[^\s'"`:;,)]+)/g;

/** Explains an error that names a path outside of the project; null: no line is one. */
function explainOutside(output: string, root: string): string | null {
  for (const line of output.split("\n")) {
    const isMissing = missing.test(line);
    if (!isMissing && !denied.test(line)) continue;
    const path = [...line.matchAll(absolute)].map(([, found = ""]) => found).find((each) => !isBelow(each, root));
    if (path === undefined) continue;
    return isMissing
      ? `commands do not see all that is outside of the project (--allow-read ${path})`
      : `only the project can be written (--allow-write ${path})`;
  }
  return null;
}

const isBelow = (path: string, root: string) => path === root || path.startsWith(root === "/" ? root : `${root}/`);

/**
 * One line on how the sandbox may have made a command fail, judged by its output; null: nothing hints at that. `root`:
 * the folder of the project.
 */
export function explainWall(
  level: SandboxLevel | null,
  exit: number | null,
  output: string,
  root: string,
): string | null {
  if (level === null || exit === 0) return null;
  const wall = walls.find(([said]) => said.test(output))?.[1] ?? explainOutside(output, root);
  return wall === null ? null : `perhaps the sandbox: ${wall}`;
}
