/** Finds omission placeholders: "... existing code ..." where a model should have written the code itself. */

/** Lines (from 1) that stand for code left out, in English and Indonesian. Spread, Python's `...` and prose are none. */
export function findPlaceholders(text: string, path = "") {
  const found: { readonly line: number; readonly text: string }[] = [];
  if (!hasHint(text)) return found;
  const inProse = isProseLine(path);
  const isDocumentation = trackDocumentation();
  let before = "";
  for (const [at, line] of text.split(/\r\n|\n|\r/).entries()) {
    const documents = isDocumentation(line) || inProse;
    const trimmed = line.trim();
    if (trimmed === "") continue;
    const mayOmit = trimmed.length <= 160 && hasHint(trimmed) && !(documents ? bareDots : exampleDots).test(trimmed);
    if (mayOmit && isPlaceholder(line, trimmed, before)) found.push({ line: at + 1, text: trimmed });
    before = line;
  }
  return found;
}

export const isProseLine = (path: string): boolean => /\.(?:mdx?|rst|txt|adoc|pod)$/i.test(path);

const bareDots = /^[#/]*\s*(?:\.{3,}|…)$/;
/** Dots indented after a comment mark belong to an example. */
const exampleDots = /^(?:#|\/\/)\s{2,}(?:\.{3,}|…)$/;

function trackDocumentation(): (line: string) => boolean {
  let quoted = false;
  let perl = false;
  return (line) => {
    const was = quoted || perl;
    if (/^=[a-z]/.test(line)) perl = !line.startsWith("=cut");
    if ((line.match(/"""|'''/g)?.length ?? 0) % 2 === 1) quoted = !quoted;
    return was;
  };
}

function isPlaceholder(line: string, trimmed: string, before: string): boolean {
  if (/^(?:\.{3,}|…)$/.test(trimmed)) return !isPythonBody(line, before);
  const whole = wholeComment.exec(trimmed)?.[1];
  if (whole !== undefined) return isOmission(whole, "comment");
  const bracketed = /^(?:\((.*)\)|\[(.*)\]|<(.*)>)$/.exec(trimmed);
  if (bracketed !== null) return isOmission(bracketed[1] ?? bracketed[2] ?? bracketed[3] ?? "", "prose");
  const comment = trailingComment.exec(trimmed);
  if (comment !== null) return isOmission(comment[1] ?? comment[2] ?? comment[3] ?? "", "trailing");
  return /^(?:\.{3,}|…)/.test(trimmed) && isOmission(trimmed, "prose");
}

/** `...` is a statement under a line that opens a block, and after a docstring. */
function isPythonBody(line: string, before: string): boolean {
  const indent = (text: string) => text.length - text.trimStart().length;
  if (/:\s*(?:#.*)?$/.test(before)) return indent(line) > indent(before);
  return /(?:"""|''')$/.test(before.trimEnd());
}

type Place = "comment" | "trailing" | "prose";

type Dots = { readonly opens: boolean; readonly closes: boolean };

function isOmission(comment: string, place: Place): boolean {
  if (/\.{9,}/.test(comment)) return false;
  const bare = comment.trim().replace(/^[-=*~\s([{<]+|[-=*~\s)\]}>]+$/g, "");
  const dots = { opens: /^(?:\.{2,}|…)/.test(bare), closes: /(?:\.{2,}|…)$/.test(bare) };
  const body = bare.replace(/\.{2,}|…/g, " ").trim();
  const dotted = dots.opens || dots.closes;
  if (body === "") return place === "comment" && dotted;
  if (wholePhrases.test(body)) return place !== "prose" || dotted;
  if (!/^(?:\p{L}|\p{M}|\p{N}|[_'’`\s,:;()&/—–.-])+$/u.test(body)) return false;
  const words = body.toLowerCase().match(/(?:\p{L}|\p{M}|\p{N}|_)+/gu) ?? [];
  if (words.length > 12 || (place === "prose" && words.length < 2)) return false;
  const foreign = words.filter((word) => !vocabulary.has(word)).length;
  return foreign > 0 ? beginsOmission(words, foreign, dots) : spellsOmission(words, place, dots);
}

/** For comments with words of omission only: an ellipsis, or two kinds of such words together, is proof. */
function spellsOmission(words: readonly string[], place: Place, dots: Dots): boolean {
  const says = (kind: ReadonlySet<string>) => words.some((word) => kind.has(word));
  if (dots.opens || dots.closes) {
    return says(rest) || says(other) || says(same) || (dots.opens && dots.closes && says(things));
  }
  if (says(rest)) return place === "prose" ? says(things) && says(same) : says(things) || says(same);
  return says(things) && says(same) && (says(other) || says(stays) || says(gone));
}

/** For comments with other words too (a class name): only with dots, and when it begins as an omission does. */
function beginsOmission(words: readonly string[], foreign: number, dots: Dots): boolean {
  const allowed = dots.opens && dots.closes ? 3 : dots.opens || dots.closes ? 1 : 0;
  if (foreign > allowed) return false;
  const first = words.find((word) => !glue.has(word)) ?? "";
  return (rest.has(first) || other.has(first)) && words.some((word) => things.has(word) || same.has(word));
}

const hints =
  /\.\.\.|…|\b(?:rest|remain\w*|existing|other|others|unchanged|same|omitted|elided|truncated|snip|snipped|skipped|kode|sisa|sisanya|bagian|lainnya)\b/i;

const hasHint = (text: string): boolean => hints.test(text);

/** A line that is one comment: the text inside it. `*` is left out: it begins list items too. */
const wholeComment =
  /^(?:\{?\/\*+|\/\/+[/!]?|#+(?![!\w])|--+\[*|<!--|;+|%+|"""|'''|\(\*|\{-|REM\b|'|<%--|@\*|\{#|\{\{!--)\s*(.*?)\s*(?:\*+\/\}?|-->|"""|'''|\*\)|-\}|--%>|\*@|#\}|--\}\}|\]\])?$/i;

const trailingComment = /\s\/\/\s*(.*)$|\s#\s+(.*)$|\/\*+\s*(.*?)\s*\*+\/[\s})\];,]*$/;

const wholePhrases = /^(?:snip(?:ped)?|code (?:snipped|goes here|continues))$/i;

const set = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));

const rest = set("rest remainder everything sisa sisanya selebihnya lainnya");
/** Code that already exists: weaker, since comments say it of real code, too. */
const other = set(
  "existing remaining other others previous original previously your more additional etc kode_lain lain sebelumnya semula ada dst seterusnya",
);
const things = set(
  `code codes file class function functions method methods implementation implementations logic content contents module
   component components script body program imports import definitions definition declarations handlers handler routes
   tests test cases fields properties styles rules html markup css template config configuration section sections
   settings document text block blocks items entries lines
   kode fungsi metode isi berkas bagian implementasi kelas skrip program`,
);
const stays = set("unchanged remains remain stays stay keep kept tetap");
const gone = set("omitted elided truncated skipped snipped removed brevity dihilangkan dipersingkat");
const same = set(
  `${[...stays].join(" ")} ${[...gone].join(" ")} same identical unmodified untouched here unaltered sama berubah diubah
   disini changes`,
);
const glue = set(
  `the of is are was as a an and with for all any to in this that it its be by no not above below before after goes go
   follows follow continues continue from exactly s else leave left intact still just will up
   yang sudah di sini ini dari seperti tidak tanpa perubahan dan untuk semua itu masih juga`,
);
const vocabulary = new Set([...rest, ...other, ...things, ...same, ...glue]);
