/** Lines that mark the parts of an edit block, also as models mangle them. They are never written by mistake. Pure. */

const exactOpener = /^<{5,9} ?SEARCH>?( ALL)?[>:]?\s*$/i;
const exactCloser = /^>{5,9} ?REPLACE:?\s*$/i;
const divider = /^={5,9}(?: ?(?:SEARCH|REPLACE))?:?\s*$/;
/** Five to nine `<` or `>`, alone or before words. */
const angles = /^(?:<{5,9}|>{5,9})(?:[:.]?\s*$|\s+\S|\w)/;
/** The words of the format show a mark that has other blanks or another count. */
const named = /^\s{0,40}(?:<{4,20}|>{4,20})\s?(?:SEARCH|REPLACE)(?: ALL)?\W{0,9}$/;

/** Whether the line opens, closes or quotes a conflict or an edit block; not for lines of `=`, which underline headings. */
export const looksLikeMark = (line: string): boolean =>
  /^\s*[<>]{4}/.test(line) && (angles.test(line) || named.test(line));

export const isDivider = (line: string): boolean => divider.test(line);

/** Whether the line opens a block in the words of the format: it shows that a text is an edit. */
export const opensSearch = (line: string): boolean => looksLikeMark(line) && /^\s*<+\s?SEARCH\b/i.test(line);

/** What the line does, or null. `isExact`: the file holds such lines itself, so only the format's own words count. */
export function readMark(line: string, isExact: boolean): "open" | "divide" | "close" | null {
  if (isDivider(line)) return "divide";
  if (isExact) return exactOpener.test(line) ? "open" : exactCloser.test(line) ? "close" : null;
  if (!looksLikeMark(line)) return null;
  return line.trimStart().startsWith("<") && !/REPLACE/i.test(line) ? "open" : "close";
}

export const holdsMarks = (text: string): boolean => findMark(text) !== null;

const findMark = (text: string): string | null =>
  /[<>]{4}/.test(text) ? (text.split(/\r\n|\n|\r/).find(looksLikeMark) ?? null) : null;

/** A line that looks like a mark, in a new text of a file that held none before; null: there is none. */
export function findNewMark(before: string, after: string): string | null {
  const mark = findMark(after);
  return mark === null || holdsMarks(before) ? null : mark.trim();
}
