/** Code in the colours of its language. Loaded only for terminals with colour, after the first request has left. */
import * as languages from "@speed-highlight/core/languages";
import { type ShjLanguageData, type ShjToken, tokenizeWith } from "@speed-highlight/core/tokenize";
import { type Code, codeColors } from "./style.ts";

/** The lines of a text, coloured; null: the language is not known. `name` is a path, or the word of a fence. */
export type Highlight = (text: string, name: string) => readonly string[] | null;

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

export const highlight: Highlight = (text, name) => {
  const word = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf(".")) + 1).toLowerCase();
  const language = Object.hasOwn(known, word) ? known[word] : undefined;
  if (language === undefined || text.length > mostCharacters) return null;
  let colored = "";
  tokenizeWith(
    text,
    language as ShjLanguageData,
    (part, token) => {
      const code = token === undefined ? undefined : codes[token];
      if (code === undefined) colored += part;
      else {
        const [on, off] = codeColors[code];
        colored += part.replace(/[^\n]+/g, (line) => on + line + off);
      }
    },
    { languages: known as Record<string, ShjLanguageData> },
  );
  return colored.split("\n");
};
