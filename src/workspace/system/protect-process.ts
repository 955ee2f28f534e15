/** Protects pai's own process before its first command: hides it from other processes, and adopts orphans. */
import { openLibc } from "../../system/libc.ts";

const operations = { dumpable: 4, childSubreaper: 36 } as const;
const shapes = { prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" } } as const;

let done = false;

/**
 * Closes `/proc/PID/{environ,fd,mem}` of pai, which expose its keys, to other processes of the same user (except root),
 * and makes pai the parent of orphaned command processes, so that they can be ended. Does nothing without FFI.
 */
export function protectProcess(): void {
  if (done) return;
  done = true;
  const functions = openLibc(shapes)?.functions;
  functions?.prctl(operations.dumpable, 0, 0, 0, 0);
  functions?.prctl(operations.childSubreaper, 1, 0, 0, 0);
}
