/** The time that words of a request mean, and the time that a line of a log tells. */

/** Milliseconds since 1970; both ends count. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

const units = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;
const back = /\b(?:last|past)\s+(?:(\d{1,4}|few)\s+)?(minute|hour|day|week)s?\b/i;

/** The span that the first time words of a text mean, in local time; null: it has none. */
export function spanOf(text: string, now: Date): TimeSpan | null {
  const at = (days: number, hours: number) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hours).getTime();
  const [, count = "1", unit = ""] = back.exec(text) ?? [];
  if (unit !== "") {
    const length = units[unit.toLowerCase() as keyof typeof units] * (count === "few" ? 5 : Number(count));
    return { from: now.getTime() - length, to: now.getTime() };
  }
  if (/\b(?:last night|overnight|over night)\b/i.test(text)) return { from: at(-1, 18), to: at(0, 9) };
  if (/\byesterday evening\b/i.test(text)) return { from: at(-1, 17), to: at(0, 0) };
  if (/\byesterday\b/i.test(text)) return { from: at(-1, 0), to: at(0, 0) };
  if (/\bthis morning\b/i.test(text)) return { from: at(0, 0), to: at(0, 12) };
  return /\b(?:today|tonight)\b/i.test(text) ? { from: at(0, 0), to: at(1, 0) } : null;
}

const months = "janfebmaraprmayjunjulaugsepoctnovdec";
const monthOf = (name: string): number => months.indexOf(name.toLowerCase()) / 3;

const headLength = 200;

const iso = /\b(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d)(?::(\d\d))?(?:[.,]\d+)?(Z|[+-]\d\d:?\d\d)?/;
const web = /\b(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-]\d{4})/;
const syslog = /\b([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d)(?:[.]\d+)?(?: (\d{4}))?/;

function timeAt(zone: string, ...[year, month, day, hour, minute, second]: readonly number[]): number {
  const parts = [year ?? 0, month ?? 0, day ?? 1, hour ?? 0, minute ?? 0, second ?? 0] as const;
  if (zone === "") return new Date(...parts).getTime();
  const [, sign = "+", hours = "0", minutes = "0"] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
  const ahead = (Number(hours) * 60 + Number(minutes)) * units.minute;
  return Date.UTC(...parts) - (sign === "-" ? -ahead : ahead);
}

/** Milliseconds since 1970; null: the line tells no day and time. A day without a year is the latest one before `now`. */
export function timeOfLine(line: string, now: Date): number | null {
  const head = line.slice(0, headLength);
  const [, ...long] = iso.exec(head) ?? [];
  if (long.length > 0) {
    const [year, month, ...rest] = long.slice(0, 6).map((part) => Number(part ?? 0));
    return timeAt(long[6] ?? "", year ?? 0, (month ?? 1) - 1, ...rest);
  }
  const [, day, name = "", year, hour, minute, second, zone = ""] = web.exec(head) ?? [];
  if (monthOf(name) >= 0 && name !== "")
    return timeAt(zone, Number(year), monthOf(name), Number(day), Number(hour), Number(minute), Number(second));
  const [, month = "", date, ...clock] = syslog.exec(head) ?? [];
  if (month === "" || !Number.isInteger(monthOf(month)) || monthOf(month) < 0) return null;
  const inYear = (each: number) => timeAt("", each, monthOf(month), Number(date), ...clock.slice(0, 3).map(Number));
  if (clock[3] !== undefined) return inYear(Number(clock[3]));
  const time = inYear(now.getFullYear());
  return time > now.getTime() + units.day ? inYear(now.getFullYear() - 1) : time;
}
