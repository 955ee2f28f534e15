/** Whether a descriptor is a terminal, without loading Node's streams. */
import { fstatSync } from "node:fs";

/** Device majors of Linux terminals: virtual consoles, /dev/tty and the console, pseudo-terminals. */
const majors = new Set([4, 5, 136, 137, 138, 139, 140, 141, 142, 143]);

export function isTerminal(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isCharacterDevice() && majors.has((stat.rdev >> 8) & 0xfff);
  } catch {
    return false;
  }
}
