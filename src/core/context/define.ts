/** Finds the files that define the names in a request or an output. Pure, except that it reads files. */
import { openDefinitions } from "./blocks.ts";
import { isProse, type Kind } from "./kind.ts";
import type { CountedFile, Ranked } from "./rank.ts";
import type { Signal } from "./signals.ts";
import type { NamedSymbol } from "./symbols.ts";

/** A name that more files define points to none of them. */
const maxDefiners = 4;
/** How many of the likeliest files that hold a name are read. */
const maxRead = 40;

const inPart = /\p{L}|\p{N}|[_$]/u;
const constant =
  /^\s*(?:#\s*define\s+|(?:export\s+|pub\s+|static\s+|final\s+|public\s+|private\s+)*(?:var|const|let|val)\s+(?:mut\s+)?)((?:\p{L}|[_$])(?:\p{L}|\p{N}|[_$])*)/u;

/** Of a qualified name after one of these, only the last part is defined there: `defmodule Enum.Empty` is not Enum. */
const unit = /^\s*(?:\w+\s+)*(?:defmodule|module|class|namespace|package|interface|trait|struct|enum)\s/;
/** In these languages every file says its package, so that none defines it. */
const packaged = /\.(?:go|java|kt|kts|scala|groovy)$/;

function definedIn(line: string, path: string): string | null {
  if (packaged.test(path) && /^\s*package\s/.test(line)) return null;
  const [, value] = constant.exec(line) ?? [];
  if (value !== undefined) return value;
  return openDefinitions(path)(line);
}

function defines(line: string, path: string, name: string): boolean {
  const found = definedIn(line, path);
  if (found === null || found === name || isProse(path)) return found === name;
  const parts = found.split(/[.:#]+/).filter((part) => part !== "");
  return unit.test(line) ? parts.at(-1) === name : parts.includes(name);
}

/** The line, from 1, at which a source file defines a name; null: it does not, as far as pai can tell. */
export function lineDefining(path: string, text: string, name: string): number | null {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    if (inPart.test(text[at - 1] ?? " ") || inPart.test(text[at + name.length] ?? " ")) continue;
    const from = text.lastIndexOf("\n", at) + 1;
    const end = text.indexOf("\n", at);
    const line = text.slice(from, end < 0 ? undefined : end).replace(/\r$/, "");
    if (defines(line, path, name)) return text.slice(0, at).split("\n").length;
  }
  return null;
}

export interface DefineInput {
  readonly symbols: readonly NamedSymbol[];
  /** Those of the names that are more than a part of a file's name. */
  readonly meant: ReadonlySet<string>;
  /** How often each file holds each name: `counts[offset + at]` is for `symbols[at]`. */
  readonly found: readonly CountedFile[];
  readonly offset: number;
  readonly files: readonly Ranked[];
  readonly kinds: Readonly<Record<Kind, number>>;
  readonly read: (path: string) => Promise<string | null>;
}

/** By path: which names of the request and of the output the file defines, and in which lines. */
export async function findDefiners(input: DefineInput): Promise<Map<string, Signal>> {
  const { symbols, meant, found, offset, files, kinds, read } = input;
  const countsOf = new Map(found.map(({ path, counts }) => [path, counts]));
  const holds = (path: string, at: number) => (countsOf.get(path)?.[offset + at] ?? 0) > 0;
  const isWanted = ({ path, kind }: Ranked) =>
    (kind === "code" || kinds[kind] >= 0.5 || symbols[0]?.by === "output") && symbols.some((_, at) => holds(path, at));
  const texts = await Promise.all(
    files
      .filter(isWanted)
      .slice(0, maxRead)
      .map(async ({ path }) => [path, await read(path)] as const),
  );
  const signals = new Map<string, Signal>();
  for (const [at, { name, by, weight }] of symbols.entries()) {
    if (!meant.has(name)) continue;
    const definers = texts.flatMap(([path, text]) => {
      // An output complains of code, not of a heading that happens to have its name.
      const isAside = by === "output" && isProse(path);
      const line = text === null || isAside || !holds(path, at) ? null : lineDefining(path, text, name);
      return line === null ? [] : [{ path, line }];
    });
    if (definers.length === 0 || definers.length > maxDefiners) continue;
    const share = weight / Math.sqrt(definers.length);
    for (const { path, line } of definers) {
      const known = signals.get(path);
      signals.set(path, {
        weight: Math.max(known?.weight ?? 0, share),
        lines: [...new Set([...(known?.lines ?? []), line])],
        by: known?.by ?? by,
        symbols: [...(known?.symbols ?? []), name],
        definitions: [...(known?.definitions ?? []), { name, line }],
      });
    }
  }
  return signals;
}

function joinSignals(known: Signal | null, more: Signal): Signal {
  if (known === null) return more;
  const { weight, by, symbols } = known;
  const lines = [...new Set([...known.lines, ...more.lines])];
  const definitions = more.definitions ?? [];
  if (symbols === undefined) return { weight, by, lines, definitions };
  const all = [...new Set([...symbols, ...(more.symbols ?? [])])];
  return { weight: weight + more.weight, by, lines, symbols: all, definitions };
}

export function addDefiners(files: readonly Ranked[], definers: ReadonlyMap<string, Signal>): readonly Ranked[] {
  if (definers.size === 0) return files;
  const added = files.map((file): Ranked => {
    const more = definers.get(file.path);
    if (more === undefined) return file;
    const signal = joinSignals(file.signal, more);
    return { ...file, signal, score: file.score + signal.weight - (file.signal?.weight ?? 0) };
  });
  return added.sort((a, b) => b.score - a.score);
}
