/** `@path` as people type it: how it is written, and where it ends. Pure. */

/** Pattern of a mention's `@`: at the start of a word, or after any character of a script without blanks. */
export const mentionMark = String.raw`(?<=^|[\s(]|[^\x00-\x7f])@`;

const mention = new RegExp(`${mentionMark}(?:"([^"]+)"|(\\S+))`, "g");

/** Text that may follow a path without a blank; in scripts without blanks that is everything that follows. */
const endings = [/[，。、；：！？）」』】].*$/s, /[^!-~].*$/s];

/** Removes punctuation at the end; a regular expression would take quadratic time. */
function withoutMarks(name: string): string {
  let end = name.length;
  while (end > 0 && /\p{P}/u.test(name.charAt(end - 1))) end -= 1;
  return name.slice(0, end);
}

/** Extensions of files; without one, `@dataclass` or `@types/node` is an ordinary word. */
const extensions = new Set(
  `py pyi ipynb js mjs cjs jsx ts mts cts tsx vue svelte json jsonl yaml yml toml ini cfg conf env lock xml html htm css
  scss less md rst txt adoc tex csv tsv log sql sh bash zsh fish ps1 bat c h cc cpp cxx hpp hh rs go java kt kts scala
  groovy gradle rb php pl lua r jl swift m mm cs fs vb dart ex exs erl hs clj elm zig nim proto graphql tf diff patch
  svg png jpg jpeg gif pdf zip gz tar bin so exe`.split(/\s+/),
);

export function looksLikePath(name: string): boolean {
  if (/^(?:\.{1,2}\/|\/|~)/.test(name) || /^\.\w/.test(name)) return true;
  const ending = /[^/]\.(\w+)$/.exec(name)?.[1];
  return ending !== undefined && extensions.has(ending.toLowerCase());
}

/** What each `@path` of a text may name: as it stands, and without what may follow a path, the longest first. */
export const atPathsIn = (text: string): readonly (readonly string[])[] =>
  [...text.matchAll(mention)].map(([, quoted, bare = ""]) => {
    const name = quoted ?? bare;
    const cut = [withoutMarks(name), ...endings.map((ending) => name.replace(ending, ""))];
    return [...new Set([name, ...cut.map((each) => each || name)])];
  });
