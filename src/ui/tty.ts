/** Whether a descriptor is a terminal, and whether this process is in the foreground, without Node's streams. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** Major device numbers of Linux terminals: virtual consoles, /dev/tty and the console, pseudo-terminals. */
const majors = new Set([4, 5, 136, 137, 138, 139, 140, 141, 142, 143]);

/** Also false for a closed descriptor. */
export function isTerminal(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isCharacterDevice() && majors.has((stat.rdev >> 8) & 0xfff);
  } catch {
    return false;
  }
}

/** Whether a descriptor is a pipe, a socket or a file, as opposed to a device like /dev/null. */
export function isPipedIn(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isSocket() || stat.isFile();
  } catch {
    return false;
  }
}

/** Whether a person can type: on standard input, or on the terminal if something is piped into it. */
export function hasKeyboard(): boolean {
  if (isTerminal(0)) return true;
  if (!isPipedIn(0)) return false;
  try {
    closeSync(openSync("/dev/tty", constants.O_RDWR | constants.O_NOCTTY));
    return true;
  } catch {
    return false;
  }
}

/**
 * Opens the terminal behind a descriptor once more, for reading without waiting; null: it cannot be. After `su` the terminal
 * still belongs to who logged in: only its name as the controlling one opens it.
 */
export function openTyped(from: number): number | null {
  const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;
  for (const path of [`/proc/self/fd/${from}`, "/dev/tty"]) {
    try {
      return openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    } catch {
      // The next name may lead there.
    }
  }
  return null;
}

/** False if the shell has put this process into the background: changing the terminal there would stop it. */
export function isInForeground(): boolean {
  try {
    // pid (name) state parent group session terminal foreground: the name may contain spaces and parentheses.
    const fields = readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\)\s*/s, "")
      .split(" ");
    const [group, foreground] = [Number(fields[2]), Number(fields[5])];
    return foreground <= 0 || foreground === group;
  } catch {
    return true;
  }
}

/**
 * Erases from the start of the cursor's row. First the row itself, as tmux would otherwise treat it as wrapped. Then
 * everything below, starting at the second column: if a screen is erased from its corner, tmux moves it into its
 * history.
 */
export const eraseFromRow = "\r\x1b[K \x1b[J\r";
