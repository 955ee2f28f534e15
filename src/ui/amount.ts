/** Numbers in words, the same in every locale. */

export function grouped(count: number): string {
  const digits = Math.round(count).toString();
  return digits.length < 4 ? digits : digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

export const counted = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

/** Tokens, rounded, millions down: 1048576 → "1M", 272000 → "272k". */
export const roundTokens = (tokens: number): string =>
  tokens < 999_500 ? `${Math.round(tokens / 1000)}k` : `${Math.max(10, Math.floor(tokens / 100_000)) / 10}M`;

/** Milliseconds in the units that people use: "0.4 s", "12 s", "2 min 5 s", "3 h 20 min". */
export function renderDuration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return seconds < 60 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}

/** USD, with as many digits as it takes not to look free; null: price unknown. */
export function priced(cost: number | null): string {
  if (cost === null) return "price unknown";
  if (cost === 0 || cost >= 0.01) return `$${cost.toFixed(2)}`;
  return `$${cost.toFixed(cost < 0.0001 ? 6 : 4)}`;
}
