/** The terms of a request: words and identifiers, split and stemmed, each with a weight; what in it is only an example. Pure. */

export interface Term {
  /** Spellings of this term, in lower case, the shortest first. */
  readonly spellings: readonly string[];
  /** Every text with one of the spellings also holds this. */
  readonly needs: string;
  readonly weight: number;
}

const stopWords = new Set(
  (
    "a about above across add added adding adds after again against all allow allows along already also although always am among an and another any anything " +
    "are around as ask at avoid away back be because been before being below best better between both bug but by call called calls can cannot cant " +
    "case cases cause causes change changed changes check code come correct correctly could create current currently did didn didnt different do does doesn doesnt doing don " +
    "done dont down due during each easy either else enable ensure ensured ensures error errors etc even ever every everything example existing " +
    "explain feature few file files find fix fixed fixes fixing follow following for from further get gets getting give given go good got had handle " +
    "handled handling happen has have having he help her here hers him his how however i if implement implemented implementation improve improved improvement in " +
    "inside instead into is isnt issue issues it its itself just keep know less let like line lines longer look looks lot made make makes " +
    "making many may maybe me mean means might more most move much must my need needed needs neither never new no nor not now of " +
    "off often ok old on once one only onto or other others our out over own per place please possible prevent previous previously problem " +
    "properly provide put rather really refactor remove removed removes removing rename result right same see seem seems set she should shouldnt show similar simple simplify since so " +
    "some something sometimes still such support supported supports sure take than that the their them then there these they thing this those though " +
    "through thus to together too try trying two under unless until up update updated updates upon us use used user using usually various very via want " +
    "wants was way we well were what when where whether which while who whole whose why will with within without wont work working works " +
    "would write wrong yet you your " +
    "ada adalah agar akan aku anda apa apakah atau bagaimana bagi bahwa baru baris beberapa belum berkas bisa buat buatkan bukan cara dalam dan dapat dari " +
    "dengan di dia fungsi ganti gunakan hanya harus hapus ini itu jadi jangan jika juga kalau kami kamu karena kasus ke kita kode " +
    "lagi lain lalu lebih lihat maka masalah masih melakukan memakai membuat mengapa menjadi mohon oleh pada paling perbaiki pakai perlu perubahan saat saja salah sama " +
    "sampai sangat saya sebagai sebuah sebelum secara sedang semua seperti serta setelah setiap sudah supaya tambah tambahkan tampilkan tanpa telah " +
    "tetapi tetap tidak tolong ubah untuk yang"
  ).split(" "),
);

const isVowel = (letter: string | undefined) => letter !== undefined && "aeiouy".includes(letter);

function withoutPlural(word: string): string {
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|sh|ch|x|z)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith("s") && !/(?:ss|us|is)$/.test(word) ? word.slice(0, -1) : word;
}

function withoutInflection(word: string): string {
  const rest = /^(.{3,})(?:ing|ed)$/.exec(word)?.[1] ?? "";
  if (!/[aeiouy]/.test(rest)) return word;
  return /([^aeioulszy])\1$/.test(rest) ? rest.slice(0, -1) : rest;
}

/** An English word without plural, -ing, -ed, a doubled consonant and a final e; never shorter than 3 letters. */
export function stem(word: string): string {
  if (!/^[a-z]{4,}$/.test(word)) return word;
  const bare = withoutInflection(withoutPlural(word));
  if (bare.length <= 4) return bare;
  if (bare.endsWith("e")) return bare.slice(0, -1);
  return bare.endsWith("y") && !isVowel(bare.at(-2)) ? bare.slice(0, -1) : bare;
}

/** Splits an identifier where its case changes, at underscores and dollar signs, and around digits; in lower case. */
function splitIdentifier(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .replace(/(\p{L})(\d)/gu, "$1 $2")
    .replace(/(\d)(\p{L})/gu, "$1 $2")
    .toLowerCase()
    .split(/[\s_$]+/)
    .filter((part) => part !== "");
}

const weights = { word: 1, code: 1.5, compound: 3, neighbours: 2 } as const;
/** Weight of everything after the first paragraph. */
const laterShare = 0.5;
/** Weight of a block of code and of texts in quotes: an example, not what is asked for. */
const exampleShare = 0.2;
const maxTerms = 60;
const maxIdentifier = 64;

const identifier = /(?:\p{L}|\p{N}|[_$])+/gu;

const isApart = (text: string) => text !== "" && !/^(?:\p{L}|\p{N})/u.test(text);

function tokensOf(text: string) {
  let end = -1;
  return [...text.matchAll(identifier)].map(({ 0: found, index }) => {
    const behind = text.slice(index + found.length, index + found.length + 3);
    const before = text[index - 1] ?? " ";
    const joins = end >= 0 && /^(?:[ \t]+|[-.]|\r?\n)$/.test(text.slice(end, index));
    end = index + found.length;
    const changesCase = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}|[_$]|\p{L}\d|\d\p{L}/u.test(found);
    const isCalled = /^(?:\(|::|\.\p{L})/u.test(behind);
    const isQuoted = /[`'"]/.test(before) && !/^['’](?:s|t|re|ll|ve)\b/.test(behind) && isApart(behind);
    return {
      text: found.slice(0, maxIdentifier),
      isCode: changesCase || isCalled || isQuoted || before === ".",
      /** Only spaces, a hyphen or a dot separate it from the previous word. */
      joins,
    };
  });
}

const isWord = (part: string) => part.length >= 2 && !/^\d+$/.test(part) && !stopWords.has(part);

/** Adds a term, unless it is there already with the same or a larger weight. */
function addTerm(found: Map<string, Term>, spellings: readonly string[], needs: string, weight: number): void {
  const [key = ""] = spellings;
  if ((found.get(key)?.weight ?? 0) < weight) found.set(key, { spellings: [...new Set(spellings)], needs, weight });
}

function addIdentifier(found: Map<string, Term>, parts: readonly string[], isCode: boolean, share: number): void {
  const joined = parts.join("");
  const [first = ""] = parts;
  if (parts.length > 1 && joined.length > 3) addTerm(found, [joined, parts.join("_")], first, share * weights.compound);
  else if (/^\p{L}.*\d/u.test(joined) && !parts.some(isWord)) addTerm(found, [joined], joined, share * weights.code);
  for (const part of parts)
    if (isWord(part)) addTerm(found, [stem(part)], stem(part), share * (isCode ? weights.code : weights.word));
}

const dotted = /(?<![\w./-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?![\w/-])/g;

/** The names with dots in a text, as they are written: `self.host`, `shop.cart.Cart`. */
export const dottedIn = (text: string): readonly string[] => text.match(dotted) ?? [];

/** Adds the terms of a text, also pairs of neighbouring words as one term, and names with dots as they are written. */
function addTerms(found: Map<string, Term>, text: string, share: number, codeOnly = false): void {
  for (const name of dottedIn(text))
    if (name.length > 3) addTerm(found, [name.toLowerCase()], name.toLowerCase(), share * weights.compound);
  let before: string | null = null;
  for (const { text: name, isCode, joins } of tokensOf(text)) {
    if (codeOnly && !isCode) continue;
    const parts = splitIdentifier(name);
    addIdentifier(found, parts, isCode, share);
    const [only = ""] = parts;
    const word = parts.length === 1 && isWord(only) ? only : null;
    if (joins && before !== null && word !== null)
      addTerm(found, [before + stem(word), `${before}_${stem(word)}`], before, share * weights.neighbours);
    before = word;
  }
}

const maxPairs = 6;

/** Neighbouring words of the sentences of a request that may be one name together: `float converter`. */
export function pairsIn(request: string): readonly (readonly [string, string])[] {
  const pairs: [string, string][] = [];
  let before: string | null = null;
  for (const { text, joins } of tokensOf(splitRequest(request).prose.slice(0, 2_000))) {
    const word = /^\p{L}\p{Ll}+$/u.test(text) && isWord(text.toLowerCase()) ? text.toLowerCase() : null;
    if (joins && before !== null && word !== null) pairs.push([before, word]);
    before = word;
  }
  return pairs.slice(0, maxPairs);
}

/** The terms of a request, the heaviest first, at most 60. Of `output`, text sent along, only identifiers count. */
export function termsOf(request: string, output = ""): Term[] {
  const found = new Map<string, Term>();
  const { prose, code } = splitRequest(request);
  const [first = "", ...rest] = prose.trim().split(/\r?\n\s*\r?\n/);
  addTerms(found, first, 1);
  addTerms(found, rest.join("\n\n").slice(0, 8_000), laterShare);
  addTerms(found, code.slice(0, 8_000), exampleShare);
  addTerms(found, output.slice(-4_000), laterShare, true);
  return [...found.values()].sort((a, b) => b.weight - a.weight).slice(0, maxTerms);
}

/** How rare a term is that `holding` of `all` texts hold. */
export const rarityOf = (holding: number, all: number): number => Math.log(1 + (all - holding + 0.5) / (holding + 0.5));

/** A short spelling counts only where a word begins, one that ends in a digit only where its number ends. */
function countsAt(lower: string, spelling: string, at: number): boolean {
  if (spelling.length > 3) return true;
  if (at > 0 && isLetter(lower.charCodeAt(at - 1))) return false;
  const end = at + spelling.length;
  return !(isDigit(lower.charCodeAt(end - 1)) && isDigit(lower.charCodeAt(end)));
}

/** Occurrences of a term in a lower-case text, at most `maxCount`, where `countsAt` accepts them. */
export function countTerm(lower: string, term: Term, maxCount = 50): number {
  let count = 0;
  for (const spelling of term.spellings) {
    let at = lower.indexOf(spelling);
    for (; at >= 0 && count < maxCount; at = lower.indexOf(spelling, at + spelling.length))
      if (countsAt(lower, spelling, at)) count += 1;
  }
  return count;
}

/** Counts all terms in a lower-case text; null: it holds none. Terms whose `needs` is missing are not searched. */
export function openCounter(terms: readonly Term[]): (lower: string) => Uint8Array | null {
  const byNeed = Map.groupBy(terms.entries(), ([, term]) => term.needs);
  return (lower) => {
    let counts: Uint8Array | null = null;
    for (const [needs, needing] of byNeed) {
      if (!lower.includes(needs)) continue;
      for (const [at, term] of needing) {
        const count = countTerm(lower, term);
        if (count === 0) continue;
        counts ??= new Uint8Array(terms.length);
        counts[at] = count;
      }
    }
    return counts;
  };
}

const isDigit = (code: number) => code >= 48 && code <= 57;

const isLetter = (code: number) => (code >= 97 && code <= 122) || isDigit(code);

const fenced = /^([ \t]*)(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:^[ \t]*\2[^\n]*$|$(?![\s\S]))/gm;
/** Lines with four spaces or a tab in front, behind an empty line. */
const indented = /(?<=\n[ \t]*\n|^)(?:(?: {4}|\t)[^\n]*(?:\n|$(?![\s\S])))+/g;
const stringInCode = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;
/** In a sentence, quotes around one identifier or path name it; around anything else they hold a text. */
const textInProse = /(?<![\p{L}\p{N}])(["'])(?!\1)((?:(?!\1)[^\n]){1,200})\1(?![\p{L}\p{N}])/gu;
const isName = (text: string) => /^[\p{L}\p{N}_$.:#/\\@()<>*-]+$/u.test(text);

const maxRequest = 16_000;

/** Splits the request. What looks like code beside its sentences is found by fences and by its indentation. */
export function splitRequest(whole: string) {
  const request = whole.slice(0, maxRequest);
  const blocks: string[] = [];
  const keep = (block: string): string => {
    blocks.push(block.replace(stringInCode, " "));
    return "\n";
  };
  const prose = request
    .replace(fenced, (_, __, ___, block: string) => keep(block))
    .replace(indented, keep)
    .replace(textInProse, (found, _, text: string) => (isName(text) ? found : " "));
  return {
    /** The sentences, without blocks of code and without texts in quotes. */
    prose: /\p{L}/u.test(prose) ? prose : request,
    /** The blocks of code, without the strings in them; "": there are none. */
    code: blocks.join("\n"),
  };
}
