/** The statistics of an evaluation: how sure a share is, and whether two candidates differ. Pure. */

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The 95 % interval of `passed / of` (Wilson); with `of` 0 it is 0 to 1. */
export function wilson(passed: number, of: number): Interval {
  if (of === 0) return { low: 0, high: 1 };
  const z = 1.959964;
  const share = passed / of;
  const scale = 1 + (z * z) / of;
  const middle = (share + (z * z) / (2 * of)) / scale;
  const margin = (z * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of))) / scale;
  return { low: Math.max(0, middle - margin), high: Math.min(1, middle + margin) };
}

/**
 * How likely a difference at least this large is when both are equally good (McNemar, exact, two-sided): `onlyFirst`
 * pairs were solved by the first candidate alone, `onlySecond` by the second alone.
 */
export function mcnemar(onlyFirst: number, onlySecond: number): number {
  const of = onlyFirst + onlySecond;
  let tail = 0;
  let logTerm = -of * Math.LN2;
  for (let hits = 0; hits <= Math.min(onlyFirst, onlySecond); hits += 1) {
    tail += Math.exp(logTerm);
    logTerm += Math.log(of - hits) - Math.log(hits + 1);
  }
  return Math.min(1, 2 * tail);
}
