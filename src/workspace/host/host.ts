/** The machine as its files tell it: /proc, /sys, /etc and /run, read in small pieces that nothing can make large. */

import { closeSync, constants, openSync, readdirSync, readSync } from "node:fs";
import { orNull } from "../../core/error.ts";
import { alignRows } from "../../core/text.ts";
import { showName } from "../parse-path.ts";

export type HostFiles = ReturnType<typeof openHostFiles>;

const maxBytes = 1024 * 1024;
const readOnly = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** `root`: folder that holds the machine's files, "" for the machine itself. Nothing is read before it is asked for. */
export function openHostFiles(root: string, showsArguments: boolean) {
  const buffer = Buffer.allocUnsafe(maxBytes);
  let users: ReadonlyMap<number, string> | null = null;
  const read = (path: string): string => {
    let fd: number | null = null;
    try {
      fd = openSync(root + path, readOnly);
      let length = 0;
      for (let more = 1; more > 0 && length < maxBytes; length += more)
        more = readSync(fd, buffer, length, maxBytes - length, null);
      return buffer.toString("utf8", 0, length);
    } catch {
      return "";
    } finally {
      if (fd !== null) closeSync(fd);
    }
  };
  return {
    /** Text of a file, at most 1 MiB of it; "" where there is none, or the system refuses. */
    read,
    /** Names in a folder, sorted; null where there is none, or the system refuses. */
    list: (path: string): readonly string[] | null => orNull(() => readdirSync(root + path).sort()),
    at: (path: string): string => root + path,
    userOf(uid: number): string {
      users ??= new Map(
        read("/etc/passwd")
          .split("\n")
          .map((line) => line.split(":"))
          .map(([name = "", , id = "-1"]) => [Number(id), plainName(name, 32)] as const),
      );
      return users.get(uid) ?? String(uid);
    },
    showsArguments,
  };
}

/** A name that a process, a mount or a file gave itself: on one line, without control characters, and short. */
export function plainName(text: string, length: number): string {
  const shown = showName(text.slice(0, length + 1));
  return shown.length <= length ? shown : `${shown.slice(0, length)}…`;
}

export const tableOf = <T>(
  head: readonly string[],
  all: readonly T[],
  most: number,
  rowOf: (each: T) => readonly string[],
): readonly string[] => [
  ...alignRows([head, ...all.slice(0, most).map(rowOf)]),
  ...(all.length > most ? [`(${all.length - most} more not shown)`] : []),
];

/** Bytes with three digits: 1536 → "1.5 KB". */
export function spellBytes(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB", "PB"];
  let [size, unit] = [bytes, 0];
  while (size >= 1000 && unit < units.length - 1) [size, unit] = [size / 1024, unit + 1];
  return `${unit === 0 || size >= 10 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

/** Seconds in the largest unit that fits: 90000 → "25 h". */
export function spellAge(seconds: number): string {
  if (seconds < 120) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}

export const fieldsOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split("\n").flatMap((line) => {
      const [, key = "", value = ""] = /^([\w()]+)\s*[:=]\s*(.*)$/.exec(line) ?? [];
      return key === "" ? [] : [[key, value] as const];
    }),
  );
