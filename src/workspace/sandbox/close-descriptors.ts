/** Closes descriptors on a tape, also where the kernel closes no range of them (before Linux 5.9). */
import { readdirSync } from "node:fs";
import { closesRanges } from "./memory-file.ts";
import type { Tape } from "./tape.ts";

const last = 0xffffffff;
/** Numbers that the tape itself, or a program that starts it, may have given meanwhile. */
const margin = 64;

/** Closes a descriptor and all above it. */
export function closeFrom(tape: Tape, first: number, note: string): void {
  if (closesRanges()) {
    tape.call("close_range", [first, last, 0], { note });
    return;
  }
  // Those that this process has open are all that a child can have inherited; most are not open.
  const highest = highestOpen() + margin;
  for (let each = first; each <= highest; each += 1) {
    tape.call("close", [each], { onError: "next", note });
  }
}

/** Throws a system error where they cannot be listed: nothing must stay open unseen. */
const highestOpen = (): number => Math.max(...readdirSync("/proc/self/fd").map(Number));
