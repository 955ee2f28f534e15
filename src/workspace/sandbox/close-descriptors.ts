/** Closes descriptors from a tape, even on kernels without close_range (before Linux 5.9). */
import { readdirSync } from "node:fs";
import { closesRanges } from "./memory-file.ts";
import type { Tape } from "./tape.ts";

const last = 0xffffffff;
/** Room for descriptors that the tape, or a program that starts it, opens in between. */
const margin = 64;

/** Closes a descriptor and all higher ones. */
export function closeFrom(tape: Tape, first: number, note: string): void {
  if (closesRanges()) {
    tape.call("close_range", [first, last, 0], { note });
    return;
  }
  // A child can have inherited only descriptors that are open in this process; errors for the others are ignored.
  const highest = highestOpen() + margin;
  for (let each = first; each <= highest; each += 1) {
    tape.call("close", [each], { onError: "next", note });
  }
}

/** Throws a system error where they cannot be listed, since none may stay open unnoticed. */
const highestOpen = (): number => Math.max(...readdirSync("/proc/self/fd").map(Number));
