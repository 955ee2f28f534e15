/** The sandbox of commands as values: levels, the user's choice, and what works on this machine. Pure. */

/** `full`: own mounts, processes and network. `writes`: writes only in the project, no network. */
export const sandboxLevels = ["full", "writes"] as const;
export type SandboxLevel = (typeof sandboxLevels)[number];

/** What a command ran in; `off`: none. */
export const sandboxUses = [...sandboxLevels, "off"] as const;
export type SandboxUse = (typeof sandboxUses)[number];

/** `auto`: the best that works. A level: at least this one, or commands do not run. `off`: no sandbox. */
export const sandboxChoices = ["auto", "full", "writes", "off"] as const;
export type SandboxChoice = (typeof sandboxChoices)[number];

const strength: Readonly<Record<SandboxChoice, number>> = { off: 0, auto: 1, writes: 2, full: 3 };

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
  /** A few words for people: what confines commands, without a label before it. */
  readonly text: string;
  /** How it does that, and what it hides; absent: nothing more is to be said. */
  readonly details?: string;
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

export interface Wall {
  /** One line, for people and for the model. */
  readonly text: string;
  /** Only the user's own rights lift it; false: a flag of the sandbox does. */
  readonly needsRights: boolean;
}

export interface Failed {
  readonly output: string;
  readonly root: string;
  readonly hidden: readonly string[];
  /** A socket of the machine that the command names and does not see; programs do not say what they could not reach. */
  readonly socket?: string | undefined;
  readonly isRoot: boolean;
  /** Whether the user may write at this absolute path. */
  readonly mayWrite: (path: string) => boolean;
  /** Whether something is at this absolute path, or at the folder that would hold it, that commands do not see. */
  readonly isUnseen: (path: string) => boolean;
}

const gitIsReadOnly = ".git is read-only (--allow-write .git)";

/** What a command prints when the sandbox stopped it; the first match counts. */
const walls: readonly (readonly [said: RegExp, text: string, needsRights: boolean, cause?: string])[] = [
  [
    /Network is unreachable|Temporary failure in name resolution|Could not resolve host|ENETUNREACH|EAI_AGAIN|getaddrinfo|Address family not supported/i,
    "the network is off (--allow-net)",
    false,
  ],
  [
    /Failed to connect to (?:system scope |user scope )?bus|not been booted with systemd/i,
    "the system bus is out of reach",
    true,
  ],
  [/"?no new privileges"?/i, "no program gets more rights there, so sudo cannot work", true],
  [
    /\bset(?:res|re|e)?[ug]id\b.*Operation not permitted|\bsetgroups\b.*Operation not permitted/,
    "nobody becomes another user there",
    true,
  ],
  // The copy knows one user and one group only.
  [
    /Value too large for defined data type|EOVERFLOW/i,
    "what belongs to another group than yours cannot be changed on the copy that commands work on",
    true,
  ],
  [/\.git\/[^\n]*Read-only file system/i, gitIsReadOnly, false, "the sandbox"],
  [/\.git\/[^\n]*Permission denied/i, gitIsReadOnly, false],
];

const readOnly = /: Read-only file system|\bEROFS: |\[Errno 30\]/;
const denied = /Permission denied|Operation not permitted|\bEACCES: |\bEPERM: |\[Errno 13\]|\[Errno 1\]/;
const missing = /No such file or directory|\bENOENT: |\[Errno 2\]/;
const unwell = /fail|error|cannot|could not|unable|no such|not found|denied|not permitted|\bbad\b|permissions/i;
const absolute = /(?:^|[\s'"`(=:])(\/[^\s'"`:;,)]+)/g;
const lowPort = /\b(?:bind|listen)\b.*?:(\d{1,4})\b/i;

const isBelow = (path: string, root: string) => path === root || path.startsWith(root === "/" ? root : `${root}/`);

const names = (line: string, path: string) =>
  line
    .split(/[^\w./~+@-]+/)
    .some((word) => isBelow(word, path) || isBelow(word.replace(/^\.\//, ""), path) || word.endsWith(`/${path}`));

/** How a shell begins a complaint: with its own path, which is not what it complains of. */
const speaker = /^\/\S+: line \d+: /;

function explainLine(said: string, { root, hidden, isRoot, mayWrite, isUnseen }: Failed): string | null {
  const line = said.replace(speaker, "");
  const isDenied = denied.test(line);
  if (isRoot && isDenied && Number(lowPort.exec(line)?.[1] ?? 1024) < 1024) return "ports below 1024 are closed";
  const named = unwell.test(line) ? hidden.find((path) => names(line, path)) : undefined;
  if (named !== undefined) return `${named} is hidden from commands (--allow-read ${named})`;
  const outside = [...line.matchAll(absolute)].map(([, found = ""]) => found).filter((path) => !isBelow(path, root));
  const unseen = missing.test(line) || isDenied ? outside.find(isUnseen) : undefined;
  if (unseen !== undefined) return `commands do not see all that is outside of the project (--allow-read ${unseen})`;
  const isClosed = readOnly.test(line);
  const path = isClosed || isDenied ? outside.find(mayWrite) : undefined;
  if (path !== undefined) return `only the project can be written (--allow-write ${path})`;
  return isClosed && outside.length === 0 ? "only the project can be written (--allow-write PATH)" : null;
}

/** How the sandbox may have made a command fail, judged by what it printed; null: nothing hints at that. */
export function explainWall(level: SandboxLevel | null, exit: number | null, failed: Failed): Wall | null {
  if (level === null || exit === null || exit === 0) return null;
  const { output, isRoot, socket } = failed;
  const wall = walls.find(([said]) => said.test(output));
  if (wall !== undefined) return { text: `${wall[3] ?? "perhaps the sandbox"}: ${wall[1]}`, needsRights: wall[2] };
  if (isRoot && /no hostkeys available/.test(output))
    return { text: "perhaps the sandbox: the keys of the host are hidden from commands", needsRights: true };
  if (socket !== undefined)
    return { text: `perhaps the sandbox: ${socket} is out of reach (--allow-read ${socket})`, needsRights: true };
  for (const line of output.split("\n")) {
    const text = explainLine(line, failed);
    if (text !== null) return { text: `perhaps the sandbox: ${text}`, needsRights: true };
  }
  return null;
}
