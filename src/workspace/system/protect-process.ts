/** What pai does to itself before its first command: no process of the user may look into it, and none can run away from it. */
import { openLibc } from "./libc.ts";

const operations = { dumpable: 4, childSubreaper: 36 } as const;
const shapes = { prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" } } as const;

let done = false;

/**
 * Closes `/proc/PID/{environ,fd,mem}` of pai to other processes of the same user (root aside), where its keys are, and
 * becomes the parent of whatever a command leaves behind, so that it can be found and ended. Does nothing where there is no
 * FFI.
 */
export function protectProcess(): void {
  if (done) return;
  done = true;
  const functions = openLibc(shapes)?.functions;
  functions?.prctl(operations.dumpable, 0, 0, 0, 0);
  functions?.prctl(operations.childSubreaper, 1, 0, 0, 0);
}
