/** Finds files called after a name in a request, as `sendf.c` for "sendf: close the pipe". Pure. */
import { type Kind, kindOf } from "./kind.ts";
import type { Signal } from "./signals.ts";

const weights = { several: 1, scope: 0.6, capital: 0.5 } as const;
/** A name that more files share refers to none of them. */
const maxNamesakes = 3;

interface Name {
  readonly text: string;
  readonly weight: number;
  /** Only a file spelled in the same case counts: the word is a common one. */
  readonly isExact: boolean;
}

const word = /(?:\p{L}|\p{N}|[_$])+/gu;
const severalWords = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}|\p{L}_\p{L}/u;
const capital = /^\p{Lu}\p{Ll}{2,}/u;
const beginning = /(?:^|[.!?:;]\s*|\n\s*|[-*(]\s*)$/;
/** The scope before the colon in a request: "parser: close the file", "net/http, tls: …". */
const scope = /^([\w/.-]+(?:\s*,\s*[\w/.-]+)*)\s*:\s/;

const isPath = /\.[A-Za-z]\w{0,5}$/;

function namesIn(request: string): Name[] {
  const text = request.slice(0, 8_000);
  const names = [...text.matchAll(word)].flatMap(({ 0: found, index }): Name[] => {
    if (severalWords.test(found)) return [{ text: found, weight: weights.several, isExact: false }];
    const isName = capital.test(found) && !beginning.test(text.slice(Math.max(0, index - 24), index));
    return isName ? [{ text: found, weight: weights.capital, isExact: true }] : [];
  });
  // A path is looked for as a whole; its folders are no names of files.
  const scopes = (scope.exec(text)?.[1]?.split(/\s*,\s*/) ?? []).flatMap((each) =>
    isPath.test(each) ? [] : each.split("/"),
  );
  const isPart = (part: string) => /^[\w-]{2,}$/.test(part);
  return [...names, ...scopes.filter(isPart).map((part) => ({ text: part, weight: weights.scope, isExact: false }))];
}

const plain = (text: string) => text.toLowerCase().replace(/[-_]/g, "");

/** Files that stand for their folder. */
const entries = ["index.", "mod.rs", "__init__.py"] as const;

function stemOf(path: string): string {
  const slash = path.lastIndexOf("/") + 1;
  if (slash > 0 && entries.some((entry) => path.startsWith(entry, slash)))
    return path.slice(path.lastIndexOf("/", slash - 2) + 1, slash - 1);
  const dot = path.indexOf(".", slash + 1);
  return path.slice(slash, dot < 0 ? undefined : dot);
}

/** Character codes of `-` and `_`, which are left out when names are compared. */
const signs = new Set([45, 95]);
const ascii = 128;

/** By name: the files with that name whose kind counts. */
function findCalled(
  named: ReadonlyMap<string, readonly Name[]>,
  paths: readonly string[],
  kinds: Readonly<Record<Kind, number>>,
): Map<string, string[]> {
  const names = [...named.keys()];
  const shortest = Math.min(...names.map((name) => name.length));
  const called = new Map<string, string[]>();
  // A project may have very many paths: only those whose name begins like a wanted one are taken apart.
  const firsts = new Set([...names, ...entries].map((name) => name.charCodeAt(0)));
  for (const path of paths) {
    const first = path.charCodeAt(path.lastIndexOf("/") + 1);
    if (first < ascii && !signs.has(first) && !firsts.has(first) && !firsts.has(first + 32)) continue;
    const stem = stemOf(path);
    const name = stem.length < shortest ? "" : plain(stem);
    if (!named.has(name)) continue;
    const kind = kindOf(path);
    if (kind === "code" || kinds[kind] >= 0.5) called.set(name, [...(called.get(name) ?? []), path]);
  }
  return called;
}

/** By path: a signal for each file that is called after a name in the request. `kinds`: the weight of each kind. */
export function findStems(
  request: string,
  paths: readonly string[],
  kinds: Readonly<Record<Kind, number>>,
): Map<string, Signal> {
  const named = new Map<string, Name[]>();
  for (const name of namesIn(request)) {
    const called = plain(name.text);
    named.set(called, [...(named.get(called) ?? []), name]);
  }
  const found = new Map<string, Signal>();
  if (named.size === 0) return found;
  for (const [name, own] of findCalled(named, paths, kinds)) {
    const isMeant = ({ text, isExact }: Name) => !isExact || own.some((path) => stemOf(path) === text);
    const [best] = (named.get(name) ?? []).filter(isMeant).toSorted((a, b) => b.weight - a.weight);
    if (best === undefined || own.length > maxNamesakes) continue;
    const signal: Signal = { weight: best.weight, lines: [], by: "request", symbols: [best.text] };
    for (const path of own) found.set(path, signal);
  }
  return found;
}
