/** Where a text may be cut so that no secret is cut in half. Pure. */

/**
 * Where a text may be cut, the best place first: line feed, blank, double and single quotation mark, comma. No secret
 * holds one.
 */
const separators = [10, 32, 34, 39, 44] as const;
/** The share of a part in which a separator is looked for. */
const share = 4;

/** The end of the last whole line, or word: nothing recognises half a secret, so it may not stand beside the gap. */
export function endOfLines(bytes: Uint8Array): number {
  const earliest = bytes.length - Math.floor(bytes.length / share);
  const ends = separators.map((separator) => bytes.lastIndexOf(separator));
  return ends.find((at) => at >= earliest) ?? endOfCharacter(bytes);
}

export function startOfLines(bytes: Uint8Array): number {
  const latest = Math.floor(bytes.length / share);
  const starts = separators.map((separator) => bytes.indexOf(separator) + 1);
  return starts.find((at) => at > 0 && at <= latest) ?? startOfCharacter(bytes);
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

function startOfCharacter(bytes: Uint8Array): number {
  let at = 0;
  while (at < 3 && isContinuation(bytes[at])) at++;
  return at;
}

/** The end of the last complete character. */
function endOfCharacter(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start--;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? start : bytes.length;
}
