/** When a provider asks to retry: from its headers, Google's RetryInfo, and the start of its next quota day. */

/**
 * Seconds until trying again makes sense, or null. `Retry-After-Ms`, then `Retry-After`
 * (seconds or an HTTP date), then `retryDelay` ("17s"). `now` in epoch milliseconds.
 */
export function readDelay(headers: Headers, retryDelay: string, now: number): number | null {
  return (
    seconds(headers.get("retry-after-ms"), 0.001) ??
    seconds(headers.get("retry-after"), 1) ??
    untilDate(headers.get("retry-after"), now) ??
    seconds(/^(\d+(?:\.\d+)?)s$/.exec(retryDelay)?.[1] ?? null, 1)
  );
}

/** Seconds until midnight in California, when Google's daily quotas reset. */
export function secondsToNewDay(now: number): number {
  const clock = new Intl.DateTimeFormat("en-GB", { timeZone: "America/Los_Angeles", timeStyle: "medium" }).format(now);
  const [hours = 0, minutes = 0, secs = 0] = clock.split(":").map(Number);
  return 86_400 - ((hours % 24) * 3600 + minutes * 60 + secs);
}

/** A longer wait counts as a mistake of the server. */
const maxDelay = 366 * 86_400;

function seconds(value: string | null, unit: number): number | null {
  const delay = value !== null && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) * unit : null;
  return delay === null || delay > maxDelay ? null : delay;
}

/** Seconds until an HTTP date. It must name a month, since Date.parse also reads "-5" and "5, 10" as dates. */
function untilDate(value: string | null, now: number): number | null {
  if (value === null || !/[a-z]{3}/i.test(value)) return null;
  const delay = (Date.parse(value) - now) / 1000;
  return Number.isNaN(delay) || delay > maxDelay ? null : Math.max(0, delay);
}
