/** Highlights code. Loaded only for terminals with colour, after the first request has been sent. */

import * as languages from "@speed-highlight/core/languages";
import { type ShjLanguageData, type ShjToken, tokenizeWith } from "@speed-highlight/core/tokenize";
import { type CodeColour, paintCode } from "./style.ts";

export const markup: ShjLanguageData = [
  { type: "cmnt", match: /<!--[\s\S]*?(?:-->|$)/g },
  { match: /(?<=<script\b[^<>]*>)[\s\S]+?(?=<\/script|$)/gi, sub: "js" },
  { match: /(?<=<style\b[^<>]*>)[\s\S]+?(?=<\/style|$)/gi, sub: "css" },
  {
    match: /<[!?/]?[a-z](?:[^<>"']|"[^"]*"|'[^']*')*>/gi,
    sub: [
      { type: "str", match: /"[^"]*"|'[^']*'|(?<==)[^\s"'<>]+/g },
      { type: "class", match: /(?<=\s)[^\s"'<>=/?]+/g },
    ],
  },
  { type: "num", match: /&#?\w{1,31};/g },
];

/** Highlights a text line by line. Texts that end in a line feed may be successive pieces of one. */
export type Paint = (text: string) => string;

/** The painter for a language; null: unknown. `name` is a path, or the word of a fence. */
export type Highlight = (name: string) => Paint | null;

const { bash, c, css, csv, diff, docker, go, ini, java, js, json, lua, make, md, pl, py, rs, sql, toml, ts, yaml } =
  languages;
const known: Readonly<Record<string, object>> = {
  ...{ bash, sh: bash, zsh: bash, shell: bash, console: bash, c, h: c, cc: c, cpp: c, hpp: c, cs: java, kt: java },
  ...{ swift: java, java, scala: java, php: js, css, scss: css, less: css, csv, diff, patch: diff },
  ...{ dockerfile: docker, docker, go, html: markup, htm: markup, vue: markup, ini, cfg: ini, conf: ini, js },
  ...{ mjs: js, cjs: js, jsx: js, javascript: js, json, jsonc: json, jsonl: json, lua, makefile: make, make, md },
  ...{ markdown: md, pl, pm: pl, perl: pl, py, python: py, rb: py, ruby: py, rs, rust: rs, sql, toml, ts, tsx: ts },
  ...{ mts: ts, cts: ts, typescript: ts, xml: markup, svg: markup, svelte: markup, yaml, yml: yaml },
};

const colours: Readonly<Partial<Record<ShjToken, CodeColour>>> = {
  ...{ kwd: "magenta", str: "yellow", num: "cyan", bool: "cyan", cmnt: "dim", func: "blue", class: "blue" },
  ...{ type: "blue", section: "blue", insert: "green", deleted: "red" },
};

/** Characters highlighted in one text, to limit time; those that are read twice count twice. */
const maxRead = 400_000;
/** Characters highlighted at once, as some patterns take quadratic time. A longer line has no colours. */
const maxAtOnce = 1_000;
/** Characters of an open comment or string that are read again with the next piece; a longer one loses its colour. */
const maxOpen = 4_000;

function cutPieces(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; from += pieces.at(-1)?.length ?? 0) {
    const fits = text.length - from <= maxAtOnce ? text.length : text.lastIndexOf("\n", from + maxAtOnce - 1) + 1;
    const to = fits > from ? fits : text.indexOf("\n", from) + 1 || text.length;
    pieces.push(text.slice(from, to));
  }
  return pieces;
}

function paintToken(part: string, token: ShjToken | undefined): string {
  const colour = token === undefined ? undefined : colours[token];
  return colour === undefined ? part : part.replace(/[^\n]+/g, (line) => paintCode(colour, line));
}

export const highlight: Highlight = (name) => {
  const word = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf(".")) + 1).toLowerCase();
  const language = Object.hasOwn(known, word) ? known[word] : undefined;
  if (language === undefined) return null;
  /** An open comment or string at the end, already painted; it is read again with the next piece. */
  let open = "";
  let left = maxRead;
  const paintPiece = (text: string) => {
    const whole = open + text;
    open = "";
    left -= whole.length;
    if (text.length > maxAtOnce || left < 0) return text;
    let painted = "";
    let at = text.length - whole.length;
    let isOpen = false;
    const take = (part: string, token: ShjToken | undefined) => {
      painted += paintToken(at < 0 ? part.slice(-at) : part, token);
      at += part.length;
      if (part !== "") isOpen = token !== undefined;
    };
    tokenizeWith(whole, language as ShjLanguageData, take, { languages: known as Record<string, ShjLanguageData> });
    if (isOpen && whole.length <= maxOpen) open = whole;
    return painted;
  };
  return (text) => cutPieces(text).map(paintPiece).join("");
};
