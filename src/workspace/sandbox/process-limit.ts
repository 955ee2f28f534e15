/** Limits the number of a command's processes where the kernel does so even for root. */
import { maxProcesses } from "./confinement.ts";
import type { Tape } from "./tape.ts";

const currentFolder = -100;
const writeOnly = 1;

/** Since Linux 6.14 each process namespace has its own pid_max; before that the whole machine has one. */
export function hasOwnProcessLimit(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(".").map((part) => Number.parseInt(part, 10));
  return major > 6 || (major === 6 && minor >= 14);
}

/** pid_max, the only process limit that also applies to root. */
export function limitProcesses(tape: Tape): void {
  const text = `${maxProcesses}`;
  const file = tape.call("openat", [currentFolder, tape.text("/proc/sys/kernel/pid_max"), writeOnly, 0], {
    onError: "next",
    note: "limits",
  });
  tape.call("write", [file, tape.bytes(Buffer.from(text)), text.length], { onError: "next", note: "limits" });
}
