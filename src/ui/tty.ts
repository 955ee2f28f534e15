/** Whether a descriptor is a terminal, and whether this process is in the foreground, without Node's streams. */

import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { orNull } from "../core/error.ts";

/** Major device numbers of Linux terminals: virtual consoles, /dev/tty and the console, pseudo-terminals. */
const majors = new Set([4, 5, 136, 137, 138, 139, 140, 141, 142, 143]);

/** Also false for a closed descriptor. */
export function isTerminal(fd: number): boolean {
  const stat = orNull(() => fstatSync(fd));
  return stat?.isCharacterDevice() === true && majors.has((stat.rdev >> 8) & 0xfff);
}

/** Whether a descriptor is a pipe, a socket or a file, as opposed to a device like /dev/null. */
export function isPipedIn(fd: number): boolean {
  const stat = orNull(() => fstatSync(fd));
  return stat !== null && (stat.isFIFO() || stat.isSocket() || stat.isFile());
}

/** Whether a person can type: on standard input, or on the terminal if something is piped into it. */
export function hasKeyboard(): boolean {
  if (isTerminal(0)) return true;
  const fd = isPipedIn(0) ? orNull(() => openSync("/dev/tty", constants.O_RDWR | constants.O_NOCTTY)) : null;
  if (fd !== null) closeSync(fd);
  return fd !== null;
}

/** Opens a terminal once more, to read without waiting; null: it cannot be. After `su` only its name opens it. */
export function openTyped(from: number): number | null {
  const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;
  const open = (path: string) => orNull(() => openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  return open(`/proc/self/fd/${from}`) ?? open("/dev/tty");
}

/** Reads what has been typed, without waiting; "" for nothing. */
export function readTyped(fd: number, decoder: TextDecoder): string {
  const bytes = new Uint8Array(4096);
  let typed = "";
  try {
    for (let size = readSync(fd, bytes); size > 0; size = readSync(fd, bytes))
      typed += decoder.decode(bytes.subarray(0, size), { stream: true });
  } catch {
    // EAGAIN: nothing is left.
  }
  return typed;
}

/** False if the shell has put this process into the background: changing the terminal there would stop it. */
export function isInForeground(): boolean {
  // pid (name) state parent group session terminal foreground: the name may contain spaces and parentheses.
  const text = orNull(() => readFileSync("/proc/self/stat", "utf8"));
  const [, , group, , , foreground] = (text ?? "").replace(/^.*\)\s*/s, "").split(" ");
  return text === null || Number(foreground) <= 0 || foreground === group;
}

/**
 * Erases from the start of the cursor's row. The row first, else tmux takes it for a wrapped one; then all below from the
 * second column on: a screen that is erased from its corner goes into tmux's history.
 */
export const eraseFromRow = "\r\x1b[K \x1b[J\r";
