/** The one error class of pai, its codes, and the exit code each code ends in. */

export const exitCodes = {
  failed: 1,
  commit_failed: 1,
  internal: 1,
  nothing_to_undo: 1,
  usage: 2,
  config_invalid: 3,
  untrusted: 3,
  model_unknown: 3,
  no_key: 4,
  key_invalid: 4,
  key_rejected: 4,
  network: 5,
  tls: 5,
  redirected: 5,
  provider_down: 5,
  store_away: 5,
  quota: 6,
  credit_exhausted: 6,
  reply_blocked: 7,
  reply_empty: 7,
  reply_cut: 7,
  reply_invalid: 7,
  request_rejected: 7,
  request_too_long: 7,
  edit_failed: 8,
  guard_refused: 8,
  file_unusable: 8,
  nothing_done: 8,
  check_failed: 9,
  then_failed: 9,
  command_failed: 9,
  approval_needed: 10,
  declined: 10,
  plan_stale: 11,
  conflict: 11,
  path_refused: 12,
  scope_refused: 12,
  command_refused: 12,
  delete_refused: 12,
  secret_refused: 12,
  sandbox_missing: 12,
  root_refused: 12,
  budget_calls: 13,
  budget_tokens: 13,
  budget_cost: 13,
  disk_full: 14,
  read_only: 14,
  permission_denied: 14,
  io_failed: 14,
  partial: 15,
  timeout: 124,
  hangup: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export type ErrorCode = keyof typeof exitCodes;

export interface ErrorDetails {
  readonly hint?: string | null | undefined;
  readonly cause?: unknown;
  /** Seconds until trying again makes sense. */
  readonly retryAfter?: number | null | undefined;
  /** Of a conflict the path, or the command, of the action that met it. */
  readonly target?: string | undefined;
}

/** A failure outside pai and the model. The model's own mistakes are results; any other throw is a bug in pai. */
export class PaiError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | null;
  readonly retryAfter: number | null;
  readonly target: string | undefined;
  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "PaiError";
    this.code = code;
    this.hint = details.hint ?? null;
    this.retryAfter = details.retryAfter ?? null;
    this.target = details.target;
  }
}

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string | null;
  readonly retry_after: number | null;
}

const ioCodes: Record<string, ErrorCode> = {
  ENOSPC: "disk_full",
  EDQUOT: "disk_full",
  EFBIG: "disk_full",
  EROFS: "read_only",
  EACCES: "permission_denied",
  EPERM: "permission_denied",
};

const diskWords: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  ENOSPC: ["no space is left on the disk", "free some space there, then try again"],
  EDQUOT: ["the quota of the disk is used up", "free some space there, then try again"],
  EFBIG: ["the file would be larger than is allowed", "raise the limit (ulimit -f), then try again"],
  EROFS: ["the disk is read-only", "make it writable, then try again"],
  EBUSY: [
    "it is mounted there by itself",
    "its content can be changed; to remove or rename it, do so where it really is",
  ],
  EIO: ["the disk failed", "look at the disk: dmesg says more"],
};

/** Codes of a disk that refuses or fails: the same work may succeed at the next start. */
export const diskCodes: readonly ErrorCode[] = ["disk_full", "read_only", "io_failed"];

function describeDisk(errno: string, thrown: NodeJS.ErrnoException, place?: string): PaiError {
  const code = ioCodes[errno] ?? "io_failed";
  const [what = null, hint] = diskWords[errno] ?? [];
  const where = place === undefined ? "" : `: ${place}`;
  return new PaiError(code, what === null ? thrown.message : what + where, { hint, cause: thrown });
}

/** The error that says that `path` cannot be written, why, and what to do; null: `thrown` is not a system error. */
export function cannotBeWritten(path: string, thrown: unknown): PaiError | null {
  const { code, hint } = toPaiError(thrown);
  const errno = thrown instanceof PaiError ? undefined : (thrown as NodeJS.ErrnoException).code;
  if (code === "internal" || errno === undefined) return null;
  const isImmutable = errno === "EPERM" ? `if lsattr shows an i, it is immutable: chattr -i ${path}` : undefined;
  const what = code === "permission_denied" ? "permission denied" : (diskWords[errno]?.[0] ?? errno);
  return new PaiError(code, `${path} cannot be written: ${what}`, { hint: isImmutable ?? hint, cause: thrown });
}

/** System errors become 14-codes, the rest `internal`. `place`: for calls on descriptors, whose errors name no path. */
export function toPaiError(thrown: unknown, place?: string): PaiError {
  if (thrown instanceof PaiError) return thrown;
  if (!(thrown instanceof Error)) return new PaiError("internal", String(thrown));
  const { code: errno, path = place } = thrown as NodeJS.ErrnoException;
  if (typeof errno === "string" && /^E[A-Z0-9]+$/.test(errno)) return describeDisk(errno, thrown, path);
  return new PaiError("internal", thrown.message, { cause: thrown });
}

export function orNull<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/** What the work comes to; undefined: it failed with one of these codes, pai's or the system's. Throws any other failure. */
export function unless<T>(codes: readonly string[], work: () => T): T | undefined {
  try {
    return work();
  } catch (thrown) {
    const errno = (thrown as NodeJS.ErrnoException | null)?.code ?? "";
    if (codes.includes(errno) || codes.includes(toPaiError(thrown).code)) return undefined;
    throw thrown;
  }
}

export function toFailure(thrown: unknown): Failure {
  const error = toPaiError(thrown);
  return { code: error.code, message: error.message, hint: error.hint, retry_after: error.retryAfter };
}

/** The refusal of a link: it names where it points, so that the real path can be named instead. */
export const linkRefused = (path: string, target: string): PaiError =>
  new PaiError("path_refused", `${path} is a link to ${JSON.stringify(target)}; links are not followed`, {
    hint: "name the real path, if it is inside the project",
  });
