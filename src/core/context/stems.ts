/** Finds files called after a name in a request, as `sendf.c` for "sendf: close the pipe". Pure. */
import { nameOf } from "../path.ts";
import { type Kind, kindOf } from "./kind.ts";
import type { Signal } from "./signals.ts";
import { isCapitalWithin } from "./symbols.ts";
import { dottedIn, pairsIn, splitRequest } from "./words.ts";

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
/** The scope before the colon in a request: "parser: close the file", "net/http, tls: …". */
const scope = /^([\w/.-]+(?:\s*,\s*[\w/.-]+)*)\s*:\s/;

const isPath = /\.[A-Za-z]\w{0,5}$/;

function namesIn(text: string): Name[] {
  const names = [...text.matchAll(word)].flatMap(({ 0: found, index }): Name[] => {
    if (severalWords.test(found)) return [{ text: found, weight: weights.several, isExact: false }];
    const isName = isCapitalWithin(found, text.slice(Math.max(0, index - 24), index));
    return isName ? [{ text: found, weight: weights.capital, isExact: true }] : [];
  });
  // A path is looked for as a whole; its folders are no names of files.
  const scopes = (scope.exec(text)?.[1]?.split(/\s*,\s*/) ?? []).flatMap((each) =>
    isPath.test(each) ? [] : each.split("/"),
  );
  const isPart = (part: string) => /^[\w-]{2,}$/.test(part);
  const pairs = pairsIn(text).map((pair) => ({ text: pair.join("_"), weight: weights.scope, isExact: false }));
  return [
    ...names,
    ...pairs,
    ...scopes.filter(isPart).map((part) => ({ text: part, weight: weights.scope, isExact: false })),
  ];
}

const plain = (text: string) => text.toLowerCase().replace(/[-_]/g, "");

/** Files that stand for their folder. */
const entries = ["index.", "mod.rs", "__init__.py"] as const;

/** The path of a module without its ending; of a file that stands for its folder, the folder. */
function moduleOf(path: string): string {
  const slash = path.lastIndexOf("/") + 1;
  if (slash > 0 && entries.some((entry) => path.startsWith(entry, slash))) return path.slice(0, slash - 1);
  const dot = path.indexOf(".", slash + 1);
  return dot < 0 ? path : path.slice(0, dot);
}

const stemOf = (path: string): string => nameOf(moduleOf(path));

const moduleWeight = 2;
/** How many parts at the end of a dotted name may be a class and its member. */
const maxMembers = 2;

/** By path: a signal for each module that a dotted name in the request means, as `shop.cart.Cart` means `shop/cart.py`. */
function findModules(prose: string, paths: readonly string[]): Map<string, Signal> {
  const found = new Map<string, Signal>();
  const names = [...new Set(dottedIn(prose))].slice(0, 8);
  for (const name of names) {
    const parts = name.toLowerCase().split(".");
    for (let count = parts.length; count >= Math.max(2, parts.length - maxMembers); count -= 1) {
      const end = `/${parts.slice(0, count).join("/")}`;
      const meant = paths.filter((path) => `/${moduleOf(path)}`.toLowerCase().endsWith(end));
      if (meant.length === 0) continue;
      const signal: Signal = { weight: moduleWeight, lines: [], by: "request", symbols: [name] };
      if (meant.length <= maxNamesakes) for (const path of meant) found.set(path, signal);
      break;
    }
  }
  return found;
}

/** By path: a signal for each file that is called after a name in the request. `kinds`: the weight of each kind. */
export function findStems(
  request: string,
  paths: readonly string[],
  kinds: Readonly<Record<Kind, number>>,
): Map<string, Signal> {
  const { prose } = splitRequest(request.slice(0, 8_000));
  const named = Map.groupBy(namesIn(prose), ({ text }) => plain(text));
  const found = findModules(prose, paths);
  if (named.size === 0) return found;
  const isLikely = (kind: Kind) => kind === "code" || kinds[kind] >= 0.5;
  const likely = paths.filter((path) => named.has(plain(stemOf(path))) && isLikely(kindOf(path)));
  for (const [name, own] of Map.groupBy(likely, (path) => plain(stemOf(path)))) {
    const isMeant = ({ text, isExact }: Name) => !isExact || own.some((path) => stemOf(path) === text);
    const [best] = (named.get(name) ?? []).filter(isMeant).toSorted((a, b) => b.weight - a.weight);
    if (best === undefined || own.length > maxNamesakes) continue;
    const signal: Signal = { weight: best.weight, lines: [], by: "request", symbols: [best.text] };
    for (const path of own) if (!found.has(path)) found.set(path, signal);
  }
  return found;
}
