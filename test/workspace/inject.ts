/** Lets single system calls of a waiting process fail, by strace. */
import { join } from "node:path";
import { startCommitter, type Work } from "./cut.ts";
import type { Place } from "./tree.ts";

export const faults = ["ENOSPC", "EIO", "EACCES", "EROFS", "EDQUOT", "SIGKILL"] as const;

const onFiles =
  /^(open|close|p?read|p?write|l?stat|fstat|newfstatat|statx|access|faccess|f?chmod|[fl]?chown|mkdir|rmdir|unlink|link|symlink|readlink|rename|f(data)?sync|getdents|[lf]?(list|get|set|remove)xattr|fcntl|flock|ftruncate)/;

/** Attaches to the main thread of a waiting process; null when that is not allowed here. */
async function attach(pid: number, rules: readonly string[], log: string) {
  const args = ["strace", "-p", `${pid}`, "-o", log, ...rules.flatMap((rule) => ["-e", rule])];
  const tracer = Bun.spawn(args, { stdout: "ignore", stderr: "pipe" });
  const reader = tracer.stderr.getReader();
  const { value } = await reader.read();
  const said = Buffer.from(value ?? []).toString();
  if (said.includes("attached")) return { end: () => tracer.exited };
  await tracer.exited;
  return null;
}

/** How often a work undisturbed makes each system call on files. Throws when strace may not attach. */
export async function countCalls(place: Place, work: Work): Promise<Map<string, number>> {
  const log = join(place.base, "log");
  const child = await startCommitter(place, work);
  const tracer = await attach(child.pid, [], log);
  if (tracer === null) throw new Error("strace may not attach here");
  child.go();
  await child.end();
  await tracer.end();
  const counts = new Map<string, number>();
  for (const [, name = ""] of (await Bun.file(log).text()).matchAll(/^(\w+)\(/gm)) {
    if (onFiles.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** The `at`-th call of this name fails so. */
export interface Point {
  readonly name: string;
  readonly at: number;
  readonly fault: string;
}

/** Every fault at every call; `every` n: only each n-th of them. */
export function* pointsOf(calls: ReadonlyMap<string, number>, every: number): Generator<Point> {
  let index = 0;
  for (const [name, count] of calls) {
    for (let at = 1; at <= count; at++) {
      for (const fault of faults) if (index++ % every === 0) yield { name, at, fault };
    }
  }
}

/** What the work said, empty when it was killed. */
export async function inject(place: Place, work: Work, { name, at, fault }: Point): Promise<string> {
  const child = await startCommitter(place, work);
  const how = fault === "SIGKILL" ? "signal=KILL" : `error=${fault}`;
  const rules = [`trace=${name}`, `inject=${name}:${how}:when=${at}`];
  const tracer = await attach(child.pid, rules, join(place.base, "log"));
  child.go();
  const said = await child.end();
  await tracer?.end();
  return said;
}
