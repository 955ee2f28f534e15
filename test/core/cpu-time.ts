/** Measures work so that neither a slow machine nor a busy one fails a test. */
import { expect } from "bun:test";

/** Processor time in milliseconds. */
export function measureCpu(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Milliseconds of the reference work on the machine that the limits of the tests are written for. */
const referenceMs = 9;

/** Work of a fixed size and of the kinds that tests measure: text is made, split, looked up and sorted. */
function doReferenceWork(): number {
  const lines = Array.from({ length: 20_000 }, (_, at) => `line ${(at * 7919) % 10_007} of ${at}`).join("\n");
  const counts = new Map<string, number>();
  for (const word of lines.split(/\s/)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one).length;
}

/** How many times slower than that machine this one is now; at least 1. */
export function measureSlowness(): number {
  const times = Array.from({ length: 5 }, () => measureCpu(doReferenceWork));
  return Math.max(1, Math.min(...times) / referenceMs);
}

/**
 * Fails if the work takes as much processor time as the limit in each of three tries; the limit is stretched by how
 * slow the machine is. A limit is three times what the work takes, at least.
 */
export function expectCpu(limitMs: number, work: () => unknown, what?: string): void {
  let ms = measureCpu(work);
  for (let tries = 1; ms >= limitMs && tries < 3; tries += 1) {
    if (ms < limitMs * measureSlowness()) return;
    ms = Math.min(ms, measureCpu(work));
  }
  if (ms >= limitMs) expect(ms, what).toBeLessThan(limitMs * measureSlowness());
}

/** How many times longer work takes here now than on that machine alone, by the clock: others use this machine, too. */
function measureDelay(): number {
  const times = Array.from({ length: 5 }, () => {
    const started = performance.now();
    doReferenceWork();
    return performance.now() - started;
  });
  return Math.max(1, (times.sort((a, b) => a - b)[2] ?? 0) / referenceMs);
}

/** Milliseconds after which a wait is not tried again: the whole test has two minutes. */
const longestMs = 40_000;

/** Fails if the wait takes as long as the limit, stretched by how slow and busy the machine is, in each of ten tries. */
export async function expectPrompt(limitMs: number, attempt: () => Promise<number>): Promise<void> {
  const until = performance.now() + longestMs;
  let ms = await attempt();
  for (let tries = 1; ms >= limitMs && tries < 10 && performance.now() < until; tries += 1) {
    if (ms < limitMs * measureDelay()) return;
    ms = Math.min(ms, await attempt());
  }
  if (ms >= limitMs) expect(ms).toBeLessThan(limitMs * measureDelay());
}
