/** The time that words of a request mean, and the time that a line of a log tells. */

const units = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;
const back = /\b(?:last|past)\s+(?:(\d{1,4}|few)\s+)?(minute|hour|day|week)s?\b/i;

/** What the first time words of a text mean, in milliseconds since 1970; both ends count. null: it has none. */
export function spanOf(text: string, now: Date): { readonly from: number; readonly to: number } | null {
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
/** "01" to "12"; for any other name no number of a month. */
const monthOf = (name: string): string => `${months.indexOf(name.toLowerCase()) / 3 + 1}`.padStart(2, "0");

const headLength = 200;

const iso = /\b(\d{4}[-/]\d\d[-/]\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)?(Z|[+-]\d\d:?\d\d)?/;
const web = /\b(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})/;
const syslog = /\b([A-Z][a-z]{2}) +(\d{1,2}) (\d\d:\d\d:\d\d)(?:[.]\d+)?(?: (\d{4}))?/;

/** Without a zone in local time; null: there is no such time. */
function timeAt(day: string, clock: string, zone = ""): number | null {
  const time = Date.parse(`${day.replaceAll("/", "-")}T${clock}${zone.replace(/(\d\d)(\d\d)$/, "$1:$2")}`);
  return Number.isNaN(time) ? null : time;
}

/** Milliseconds since 1970; null: the line tells no day and time. A day without a year is the latest one before `now`. */
export function timeOfLine(line: string, now: Date): number | null {
  const head = line.slice(0, headLength);
  const [, date, clock = "", zone] = iso.exec(head) ?? [];
  if (date !== undefined) return timeAt(date, clock, zone);
  const [, day, month = "", year, time = "", ahead] = web.exec(head) ?? [];
  if (day !== undefined) return timeAt(`${year}-${monthOf(month)}-${day}`, time, ahead);
  const [, name = "", number = "", hour = "", told] = syslog.exec(head) ?? [];
  const inYear = (each: number | string) => timeAt(`${each}-${monthOf(name)}-${number.padStart(2, "0")}`, hour);
  if (told !== undefined) return inYear(told);
  const found = inYear(now.getFullYear());
  return found !== null && found > now.getTime() + units.day ? inYear(now.getFullYear() - 1) : found;
}
