/** How many processes a command may have, where the kernel counts them for root, too. */
import { maxProcesses } from "./confinement.ts";
import type { Tape } from "./tape.ts";

const currentFolder = -100;
const writeOnly = 1;

/** From Linux 6.14 each process namespace has its own highest process number; before, the machine has one. */
export function hasOwnProcessLimit(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(".").map((part) => Number.parseInt(part, 10));
  return major > 6 || (major === 6 && minor >= 14);
}

/** The one limit of processes that counts for root, too. */
export function limitProcesses(tape: Tape): void {
  const text = `${maxProcesses}`;
  const file = tape.call("openat", [currentFolder, tape.text("/proc/sys/kernel/pid_max"), writeOnly, 0], {
    onError: "next",
    note: "limits",
  });
  tape.call("write", [file, tape.bytes(Buffer.from(text)), text.length], { onError: "next", note: "limits" });
}
