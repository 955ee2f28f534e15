/** Lines as a multiset: what a file lost and gained, without what only moved. */

/** How often each line occurs. */
export type Tally = Map<string, number>;

/** What one file lost and gained. Both shrink when lines turn out to have moved. */
export interface Balance {
  readonly lost: Tally;
  readonly gained: Tally;
}

/** Lines without their `\n`; a carriage return stays, so changed line ends are changed lines. */
function tallyLines(text: string): Tally {
  const tally: Tally = new Map();
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const line of lines) tally.set(line, (tally.get(line) ?? 0) + 1);
  return tally;
}

/** What `a` has more than `b`, indentation and line ends set aside: moved code is often indented anew. */
function subtract(a: Tally, b: Tally): Tally {
  const rest: Tally = new Map();
  for (const [line, count] of a) {
    const more = count - (b.get(line) ?? 0);
    if (more > 0) rest.set(line.trim(), (rest.get(line.trim()) ?? 0) + more);
  }
  return rest;
}

/** Compares a file with itself: lines in another order are neither lost nor gained. */
export function balanceOf(old: string, now: string): Balance {
  const [before, after] = [tallyLines(old), tallyLines(now)];
  return { lost: subtract(before, after), gained: subtract(after, before) };
}

function take(tally: Tally, line: string, count: number): void {
  const rest = (tally.get(line) ?? 0) - count;
  if (rest > 0) tally.set(line, rest);
  else tally.delete(line);
}

/** Takes up to `wanted` of a line from what others lost; returns how many there were. */
function takeFrom(losers: readonly Balance[], line: string, wanted: number): number {
  let open = wanted;
  for (const { lost } of losers) {
    const moved = Math.min(open, lost.get(line) ?? 0);
    take(lost, line, moved);
    open -= moved;
  }
  return wanted - open;
}

/** Takes away, from both sides, what one file lost and another gained. */
export function settleMoves(balances: readonly Balance[]): void {
  const losers = new Map<string, Balance[]>();
  for (const balance of balances) {
    for (const line of balance.lost.keys()) {
      const known = losers.get(line);
      if (known) known.push(balance);
      else losers.set(line, [balance]);
    }
  }
  for (const balance of balances) {
    for (const [line, wanted] of [...balance.gained]) {
      const others = losers.get(line)?.filter((other) => other !== balance) ?? [];
      take(balance.gained, line, takeFrom(others, line, wanted));
    }
  }
}

/** Lines of a tally; `weigh` says what one counts. */
export function countTally(tally: Tally, weigh: (line: string) => number): number {
  let sum = 0;
  for (const [line, count] of tally) sum += count * weigh(line);
  return sum;
}
