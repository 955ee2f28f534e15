/** Characters that are invisible or reverse text: spelled out for the model, and put back into what it writes. Pure. */
import { nameSome } from "./suggest.ts";
import { isAscii } from "./text.ts";

/** Joiners are kept in emoji, and in scripts that are written with them. */
const hidden =
  /(?![\u{FE0E}\u{FE0F}])(?!(?<=\p{Extended_Pictographic}|\u{FE0F}|\p{Emoji_Modifier}|[^\P{L}\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]|\p{M})[\u{200C}\u{200D}])[\p{Default_Ignorable_Code_Point}\u{2028}\u{2029}\u{FFF9}-\u{FFFB}]/gu;

const spell = (character: string) => `⟦U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}⟧`;

export const spellHidden = (text: string): string => (isAscii(text) ? text : text.replace(hidden, spell));

/** Undoes spellHidden in what a model wrote from it; only characters that `original` holds come back. */
export function restoreHidden(text: string, original: string): string {
  if (!text.includes("⟦U+")) return text;
  const known = new Map((original.match(hidden) ?? []).map((character) => [spell(character), character]));
  return text.replace(/⟦U\+[0-9A-F]{2,6}⟧/g, (spelled) => known.get(spelled) ?? spelled);
}

/** `3 invisible characters on line 2, 7`; null when there is none. */
export function describeHidden(text: string): string | null {
  if (isAscii(text)) return null;
  const found = text.split("\n").flatMap((line, at) => (line.match(hidden) ?? []).map(() => `${at + 1}`));
  if (found.length === 0) return null;
  const characters = found.length === 1 ? "1 invisible character" : `${found.length} invisible characters`;
  return `${characters} on line ${nameSome([...new Set(found)], 10)}`;
}

/** Characters that JSON allows in a string, but that mislead a terminal, a line reader or the eye. */
const unsafeInJson =
  /[\u007f-\u009f\u00ad\u061c\u115f\u1160\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\udb40[\udc00-\udfff]/g;

/** The same JSON with each of these characters as `\uXXXX`. */
export function spellInJson(json: string): string {
  const spell = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.replace(unsafeInJson, (character) => character.split("").map(spell).join(""));
}

/** A name or path in a listing: as it is, or quoted as JSON when it could be mistaken for something else. */
export function quoteName(name: string): string {
  const plain = /^[\p{L}\p{M}\p{N}._@+=/~#$%&()[\]{},!'-]+(?: [\p{L}\p{M}\p{N}._@+=/~#$%&()[\]{},!'-]+)*$/u.test(name);
  return spellHidden(plain ? name : JSON.stringify(name));
}
