/** Code in the colours of its language. Loaded only for terminals with colour, after the first request has left. */
import * as languages from "@speed-highlight/core/languages";
import { type ShjLanguageData, type ShjToken, tokenizeWith } from "@speed-highlight/core/tokenize";
import { type Code, codeColors } from "./style.ts";

/** Colours a text, each of its lines by itself. Texts that end in a line feed may be the pieces of one. */
export type Paint = (text: string) => string;

/** The colours of a language; null: it is not known. `name` is a path, or the word of a fence. */
export type Highlight = (name: string) => Paint | null;

const {
  bash,
  c,
  css,
  csv,
  docker,
  go,
  html,
  ini,
  java,
  js,
  json,
  lua,
  make,
  md,
  pl,
  py,
  rs,
  sql,
  toml,
  ts,
  xml,
  yaml,
} = languages;
const known: Readonly<Record<string, object>> = {
  ...{ bash, sh: bash, zsh: bash, shell: bash, console: bash },
  ...{ c, h: c, cc: c, cpp: c, hpp: c, cs: java, kt: java, swift: java, java, scala: java, php: js },
  ...{ css, scss: css, less: css, csv, dockerfile: docker, docker, go, html, htm: html, vue: html, svelte: html },
  ...{ ini, cfg: ini, conf: ini, js, mjs: js, cjs: js, jsx: js, javascript: js, json, jsonc: json, jsonl: json },
  ...{ lua, makefile: make, make, md, markdown: md, pl, pm: pl, perl: pl, py, python: py, rb: py, ruby: py },
  ...{ rs, rust: rs, sql, toml, ts, tsx: ts, mts: ts, cts: ts, typescript: ts, xml, svg: xml, yaml, yml: yaml },
};

const codes: Readonly<Partial<Record<ShjToken, Code>>> = {
  kwd: "keyword",
  str: "string",
  num: "number",
  bool: "number",
  cmnt: "comment",
  func: "name",
  class: "name",
  type: "name",
  section: "name",
};

/** Beyond this, colours are not worth their time. */
const mostCharacters = 200_000;
/** A comment or string that is longer than this is not followed from piece to piece. */
const mostOpen = 4_000;

function paintToken(part: string, token: ShjToken | undefined): string {
  const code = token === undefined ? undefined : codes[token];
  if (code === undefined || part === "") return part;
  const [on, off] = codeColors[code];
  return part.includes("\n") ? part.replace(/[^\n]+/g, (line) => on + line + off) : on + part + off;
}

export const highlight: Highlight = (name) => {
  const word = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf(".")) + 1).toLowerCase();
  const language = Object.hasOwn(known, word) ? known[word] : undefined;
  if (language === undefined) return null;
  /** What was painted already, and is read again as the next piece may be inside the same comment or string. */
  let open = "";
  return (text) => {
    if (text.length > mostCharacters) return text;
    const whole = open + text;
    let painted = "";
    let at = -open.length;
    let isOpen = false;
    const take = (part: string, token: ShjToken | undefined) => {
      painted += paintToken(at < 0 ? part.slice(-at) : part, token);
      at += part.length;
      if (part !== "") isOpen = token !== undefined;
    };
    tokenizeWith(whole, language as ShjLanguageData, take, { languages: known as Record<string, ShjLanguageData> });
    open = isOpen && whole.length <= mostOpen ? whole : "";
    return painted;
  };
};
