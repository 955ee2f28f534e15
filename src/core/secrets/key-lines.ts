/** Finds lines of a private key in the output of a command, where its beginning may be missing. Pure. */

/** How long tools wrap base64: OpenSSL, OpenSSH, MIME. */
const widths: readonly number[] = [64, 70, 76];
/** A line beside key lines is a part of the key from this length on: before them, after them. */
const [leastBefore, leastAfter] = [16, 4];

/** What listings put before the base64 of a line: blanks, the sign of a diff, `path:`, `12:`, `12-`, a column, a quote. */
const shape =
  /^((?:[^\n]{0,499}[\s:|>"'=]|[ \t]*-|(?:[^\n]{0,480}-)?\d{1,18}-)?)([A-Za-z0-9+/]{2,77}={0,2})(?=[ \r]*$)/;
const onlyHex = /^[0-9a-f]+$/i;

type Part = NonNullable<ReturnType<typeof partOf>>;

/** `isSigned`: a plus before the base64 is the sign of a diff. `prefix`: the same for all lines of a listing. */
function partOf(line: string, isSigned: boolean) {
  const [, listed = "", found = ""] = shape.exec(line) ?? [];
  const sign = isSigned && found.startsWith("+") ? "+" : "";
  const [before, base64] = [listed + sign, found.slice(sign.length)];
  if (base64.length < leastAfter) return null;
  return { before, base64, prefix: before.replace(/^[ +-]/, "").replace(/\s*\d+/g, "0") };
}

/** Whether the text changes between small, large and digits as often as chance does: names and paths do not. */
function isRandom(text: string): boolean {
  const runs = text.match(/[a-z]+|[A-Z]+|\d+|[^a-zA-Z\d]+/g) ?? [];
  const hasAll = [/[a-z]/, /[A-Z]/, /\d/].every((kind) => kind.test(text));
  return hasAll && runs.length >= text.length * 0.4 && !onlyHex.test(text);
}

/** The lines of one key from this one on, and where they end. Lines of another kind have no parts. */
function keyAt(lines: readonly string[], at: number): { readonly parts: ReadonlyMap<number, Part>; end: number } {
  const line = lines[at] ?? "";
  const isSigned = !widths.includes(partOf(line, false)?.base64.length ?? 0);
  const first = partOf(line, isSigned);
  const width = first?.base64.length ?? 0;
  const parts = new Map<number, Part>();
  if (first === null || !widths.includes(width)) return { parts, end: at + 1 };
  const add = (n: number, isRest: (length: number) => boolean): boolean => {
    const part = partOf(lines[n] ?? "", isSigned);
    if (part?.prefix !== first.prefix || !isRest(part.base64.length)) return false;
    parts.set(n, part);
    return true;
  };
  let end = at;
  while (add(end, (length) => length === width)) end += 1;
  if (!parts.values().some(({ base64 }) => isRandom(base64))) return { parts: new Map(), end };
  add(at - 1, (length) => length >= leastBefore);
  add(end, (length) => length < width);
  return { parts, end };
}

/** Replaces the base64 of a private key: lines of one usual width, one of which looks random, and the rests beside. */
export function replaceKeyLines(text: string, replace: (part: string) => string): string {
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; ) {
    const { parts, end } = keyAt(lines, at);
    for (const [n, { before, base64 }] of [...parts].sort(([a], [b]) => a - b)) {
      const rest = (lines[n] ?? "").slice(before.length + base64.length);
      if (!onlyHex.test(base64)) lines[n] = before + replace(base64) + rest;
    }
    at = end;
  }
  return lines.join("\n");
}
