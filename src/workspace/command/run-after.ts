/** Runs the user's own command after a proved change: with their rights, and what it starts may outlive it. */
import { closeSync, fstatSync, openSync, readSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AfterResult } from "../../core/ports.ts";

const keptBytes = 4096;

export interface AfterOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The output goes to a file without a name, as a service that it starts may hold it open. */
export async function runAfter(command: string, { cwd, env, timeoutMs, signal }: AfterOptions): Promise<AfterResult> {
  const file = join(tmpdir(), `pai-then-${crypto.randomUUID()}`);
  const fd = openSync(file, "wx+", 0o600);
  unlinkSync(file);
  const started = performance.now();
  try {
    const child = Bun.spawn(["/bin/sh", "-c", command], { cwd, env, detached: true, stdio: ["ignore", fd, fd] });
    let isLate = false;
    const end = () => {
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended meanwhile.
      }
    };
    const timer = setTimeout(() => {
      isLate = true;
      end();
    }, timeoutMs);
    signal.addEventListener("abort", end, { once: true });
    await child.exited;
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    const exit = isLate || child.signalCode !== null ? null : child.exitCode;
    return { exit, timedOut: isLate, ms: Math.round(performance.now() - started), output: endOf(fd) };
  } finally {
    closeSync(fd);
  }
}

function endOf(fd: number): string {
  const from = Math.max(0, fstatSync(fd).size - keptBytes);
  const bytes = Buffer.alloc(keptBytes);
  return bytes.subarray(0, readSync(fd, bytes, 0, keptBytes, from)).toString("utf8");
}
