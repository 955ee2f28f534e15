/** The stat of a name, without following links, and the errors for the wrong kind. */
import { type BigIntStats, constants, lstatSync, readlinkSync } from "node:fs";
import { PaiError, toPaiError, unless } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import { showName } from "../parse-path.ts";

export interface Stat {
  readonly kind: "file" | "folder" | "link" | "special";
  readonly size: number;
  /** 07777. */
  readonly mode: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly ino: bigint;
  readonly dev: bigint;
  readonly uid: number;
  readonly gid: number;
  readonly nlink: number;
  /** As written in a link; null: it is none. */
  readonly target: string | null;
}

/** `at`: its path, to read the target of a link; null: it is no link. */
export function toStat(stats: BigIntStats, at: string | null): Stat {
  const mode = Number(stats.mode);
  const kind = kindOf(mode & constants.S_IFMT);
  return {
    kind,
    size: Number(stats.size),
    mode: mode & 0o7777,
    mtimeNs: stats.mtimeNs,
    ctimeNs: stats.ctimeNs,
    ino: stats.ino,
    dev: stats.dev,
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    nlink: Number(stats.nlink),
    target: kind === "link" && at !== null ? readlinkSync(at) : null,
  };
}

function kindOf(type: number): Stat["kind"] {
  if (type === constants.S_IFREG) return "file";
  if (type === constants.S_IFDIR) return "folder";
  return type === constants.S_IFLNK ? "link" : "special";
}

/** Of `${at}/${name}`; null: missing. `path`: its name in messages. */
export function statAt(at: string, name: string, path: RelPath): Stat | null {
  try {
    const stats = lstatSync(`${at}/${name}`, { bigint: true, throwIfNoEntry: false });
    return stats ? toStat(stats, `${at}/${name}`) : null;
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw systemError(thrown, path);
  }
}

/** For a name in a folder that may be listed and not entered. */
export const refusedStat: Stat = {
  kind: "special",
  size: 0,
  mode: 0,
  mtimeNs: 0n,
  ctimeNs: 0n,
  ino: 0n,
  dev: 0n,
  uid: 0,
  gid: 0,
  nlink: 1,
  target: null,
};

/** Like `statAt`; `refusedStat` where the rights are missing. */
export function statOrRefused(at: string, name: string, path: RelPath): Stat | null {
  const stat = unless(["permission_denied"], () => statAt(at, name, path));
  return stat === undefined ? refusedStat : stat;
}

/** Throws path_refused for a link, file_unusable for what is not a regular file. */
export function refuseUnlessFile(stat: Stat, path: RelPath): void {
  if (stat.kind === "link") throw refuseLink(path, stat.target);
  if (stat.kind === "folder") throw new PaiError("file_unusable", `${showName(path)} is a folder`);
  if (stat.kind === "special")
    throw new PaiError("file_unusable", `${showName(path)} is a pipe, socket or device, not a regular file`);
}

export function refuseLink(path: RelPath, target: string | null): PaiError {
  const points = target === null ? "" : ` to ${showName(target)}`;
  const hint = "name the real path, if it is below the root";
  return new PaiError("path_refused", `${showName(path)} is a link${points}; links are not followed`, { hint });
}

export const isMissing = (thrown: unknown): boolean =>
  thrown instanceof Error && (thrown as NodeJS.ErrnoException).code === "ENOENT";

/** The same error with the path instead of a descriptor. */
export function systemError(thrown: unknown, path: RelPath): PaiError {
  const { code } = toPaiError(thrown);
  const errno = thrown instanceof Error ? (thrown as NodeJS.ErrnoException).code : undefined;
  return new PaiError(code, `${showName(path)} cannot be opened (${errno ?? "unknown error"})`, { cause: thrown });
}
