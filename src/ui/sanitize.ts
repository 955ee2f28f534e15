/** Makes control and invisible characters visible, so that no text can control the terminal. */

/**
 * Control characters except LF and TAB, lone surrogates, line separators, interlinear marks, and invisible ones:
 * bidirectional marks, zero-width and tag characters, fillers. Emoji keep their joiners and presentation marks.
 */
const hidden =
  /(?!\n|\t|\u{FE0E}|\u{FE0F})(?!(?<=\p{Extended_Pictographic}|\u{FE0F}|[\u{1F3FB}-\u{1F3FF}])\u{200D})[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u{2028}\u{2029}\u{FFF9}-\u{FFFB}]/gu;

/** All characters outside ordinary scripts and signs; searching for these takes a tenth of the time of `hidden`. */
const unsure =
  /[^\n\t -~\u{A1}-\u{A8}\u{AA}-\u{AC}\u{AF}-\u{2FF}\u{2010}-\u{2027}\u{2500}-\u{257F}\u{3041}-\u{3096}\u{4E00}-\u{9FFF}]+/gu;

function spell(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x100) return `\\x${hex.padStart(2, "0")}`;
  return code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
}

export const visible = (text: string): string => text.replace(unsure, (run) => run.replace(hidden, spell));

/** Like `visible` for one line: escapes LF and TAB too. For paths, targets and messages. */
export const visibleLine = (text: string): string => visible(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");

export function firstLine(task: string): string {
  const [first = "", ...more] = task.trim().split("\n");
  return `${visibleLine(first.trimEnd())}${more.length === 0 ? "" : " …"}`;
}

const word = /(?:\p{L}|\p{M}|\p{N}|_)+/gu;
/** Scripts that have letters which look like Latin ones. */
const alike = ["Cyrillic", "Greek", "Armenian", "Cherokee", "Lisu"] as const;
const mayMix = /[\u0370-\u058f\u13a0-\u13ff\ua4d0-\ua4ff\uab70-\uabbf]/;

/** Adds a note to each word that mixes Latin letters with similar ones. */
export function markMixed(text: string): string {
  if (!mayMix.test(text)) return text;
  return text.replace(word, (found) => {
    if (!/\p{Script=Latin}/u.test(found)) return found;
    const scripts = alike.filter((script) => new RegExp(`\\p{Script=${script}}`, "u").test(found));
    return scripts.length === 0 ? found : `${found}[mixes Latin and ${scripts.join(", ")}]`;
  });
}

const code = /\x1b\[[\d;]*m/g;

/** Escapes a whole text except the codes in `own`; the last step before the terminal. */
export function visibleBut(own: ReadonlySet<string>, text: string): string {
  let out = "";
  let from = 0;
  for (const { 0: found, index } of text.matchAll(code)) {
    if (!own.has(found)) continue;
    out += visible(text.slice(from, index)) + found;
    from = index + found.length;
  }
  return out + visible(text.slice(from));
}

/** Like `visible` for text in pieces: holds half a surrogate pair back until its other half comes. */
export function openVisible(): (chunk: string) => string {
  let last = "";
  let half = "";
  return (chunk) => {
    const text = half + chunk;
    half = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? "";
    const whole = half === "" ? text : text.slice(0, -1);
    const shown = visible(last + whole).slice(visible(last).length);
    last = /.$/su.exec((last + whole).slice(-2))?.[0] ?? "";
    return shown;
  };
}
