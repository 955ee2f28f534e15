/** Runs the user's own command after a proved change; finds a file of the workspace that one would start. */

import { closeSync, existsSync, fstatSync, openSync, readSync, statSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startedBy } from "../../core/command/command-files.ts";
import { orNull } from "../../core/error.ts";
import type { AfterResult } from "../../core/ports.ts";
import { realPathOf } from "../../system/lookups.ts";
import { contains } from "../sandbox/folders.ts";
import type { ShellOptions } from "./shell.ts";

const keptBytes = 4096;

/** The output goes to a file without a name, as a service that it starts may hold it open. */
export async function runAfter(
  command: string,
  { cwd, env, timeoutMs, signal }: ShellOptions & { readonly cwd: string },
): Promise<AfterResult> {
  const file = join(tmpdir(), `pai-then-${crypto.randomUUID()}`);
  const fd = openSync(file, "wx+", 0o600);
  unlinkSync(file);
  const started = performance.now();
  try {
    const child = Bun.spawn(["/bin/sh", "-c", command], { cwd, env, detached: true, stdio: ["ignore", fd, fd] });
    let isLate = false;
    // It may have ended meanwhile.
    const end = () => orNull(() => process.kill(-child.pid, "SIGKILL"));
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

/** A file of the workspace that a command would start; null: none. All are real paths. */
export function findOwnProgram(roots: readonly [string, ...string[]], command: string, path: string): string | null {
  const [root] = roots;
  const { programs, files } = startedBy(command);
  const found = programs.map((name) => (name.includes("/") ? resolve(root, name) : Bun.which(name, { PATH: path })));
  const named = files.map((name) => resolve(root, name)).filter(isFile);
  for (const each of [...found, ...named]) {
    const real = each === null ? null : (realPathOf(each) ?? each);
    if (real !== null && roots.some((folder) => contains(folder, real))) return real;
  }
  return null;
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();
