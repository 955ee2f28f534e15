/** Which files a request is about, by its words alone: no model, no index. Pure. */

const stopWords = new Set(
  (
    "the and for with from that this into add new make file files code please create show fix use all not are can you " +
    "yang dan untuk dengan dari ini itu buat tambah file ke di pada"
  ).split(" "),
);

/** Words of a text, camelCase and snake_case taken apart, lower case. */
function wordsOf(text: string): string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 2 && !stopWords.has(word));
}

export interface Ranked {
  readonly path: string;
  readonly score: number;
  /** The request names the file itself. */
  readonly named: boolean;
}

/** True when the request holds this text as a word of its own. */
function mentions(request: string, text: string, before = "(?<![\\p{L}\\p{N}_/.-])"): boolean {
  return new RegExp(`${before}${RegExp.escape(text)}(?![\\p{L}\\p{N}_-])`, "iu").test(request);
}

/** Paths that the request's words point at or that `context` (a traceback, a log) names, also by an absolute path; best first. */
export function rankPaths(request: string, paths: readonly string[], context: string): Ranked[] {
  const wanted = new Set(wordsOf(request));
  const lower = request.toLowerCase();
  const ranked = paths.map((path) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const named =
      (lower.includes(name.toLowerCase()) && (mentions(request, path) || mentions(request, name))) ||
      (context.includes(path) && (mentions(context, path) || mentions(context, `/${path}`, "")));
    const hits = new Set(wordsOf(path).filter((word) => wanted.has(word))).size;
    return { path, named, score: (named ? 10 : 0) + hits };
  });
  return ranked.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

/** Adds what the contents say: rare words of the request that stand in the file weigh more. */
export function rankContents(
  request: string,
  ranked: readonly Ranked[],
  contents: ReadonlyMap<string, string>,
): Ranked[] {
  const wanted = [...new Set(wordsOf(request))];
  const holding = new Map(wanted.map((word) => [word, 0]));
  const found = new Map<string, readonly string[]>();
  for (const [path, text] of contents) {
    const lower = text.toLowerCase();
    const words = wanted.filter((word) => lower.includes(word));
    found.set(path, words);
    for (const word of words) holding.set(word, (holding.get(word) ?? 0) + 1);
  }
  const weight = (word: string) => Math.log(1 + contents.size / Math.max(1, holding.get(word) ?? 0));
  const byPath = new Map(ranked.map((file) => [file.path, file]));
  for (const [path, words] of found) {
    const base = byPath.get(path) ?? { path, score: 0, named: false };
    const score = base.score + words.reduce((sum, word) => sum + weight(word), 0);
    if (score > 0) byPath.set(path, { ...base, score });
  }
  return [...byPath.values()].sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}
