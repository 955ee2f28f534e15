/** Pipes for the output of commands. Bun's own are sockets, which programs cannot open as /dev/stdout. */
import { closeSync } from "node:fs";
import { openLibc } from "../../system/libc.ts";

export type PipeOutput = ReturnType<typeof openOutput>;

const closeOnExec = 0o2000000;
const shapes = { pipe2: { args: ["buffer", "i32"], returns: "i32" } } as const;

/** Throws a system error where there is no FFI, or no descriptor is left. */
export function openOutput() {
  const ends = new Int32Array(2);
  if (openLibc(shapes)?.functions.pipe2(Buffer.from(ends.buffer), closeOnExec) !== 0)
    throw Object.assign(new Error("EMFILE: pipe"), { code: "EMFILE" });
  const [readFd = -1, writeFd = -1] = ends;
  let isOpen = true;
  return {
    /** For the program; close it here once the program has started. */
    writeFd,
    stream: Bun.file(readFd).stream(),
    /** Ends the reading, even while another process holds the other end. */
    close(): void {
      if (isOpen) closeSync(readFd);
      isOpen = false;
    },
  };
}
